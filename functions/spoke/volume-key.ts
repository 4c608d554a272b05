import { fromBase64 } from "../../lib/base64.ts";
import { clusterFacts } from "../../lib/bridge-facts.ts";
import { keyRegion } from "../../lib/iam/volume-key.ts";
import type { Spoke } from "./api.ts";
import type { Hub } from "./hub.ts";
import type { Observed } from "./observed.ts";
import { isElsewhere, placeOf } from "./places.ts";
import type { SpokeProblem } from "./problems.ts";
import { resources } from "./resources.ts";

/** A company's key for the volumes of a spoke: `spec.volumeKey`, one of those that the stack names for its account. */

interface Question {
  readonly spoke: Pick<Spoke, "spec">;
  readonly hub: Hub;
}

/**
 * Keys that volumes of the spoke may have. Roles may use all of them, not only the Spoke's own: volumes keep the key with which they were
 * created, and attaching one needs it again.
 */
export const volumeKeysOf = ({ spoke, hub }: Question): readonly string[] =>
  (placeOf(spoke, hub)?.volumeKeys ?? []).filter((key) => keyRegion(key) === spoke.spec.region);

/** Why a spoke can't use the key: the boundaries of its roles don't name it. */
export function volumeKeyProblems(question: Question): SpokeProblem[] {
  const { spoke, hub } = question;
  const { region, volumeKey } = spoke.spec;
  const keys = volumeKeysOf(question);
  if (volumeKey === undefined || keys.includes(volumeKey)) return [];
  const where = isElsewhere(spoke, hub)
    ? `volumeKeys of account ${spoke.spec.account?.id} in accounts of the hub's stack, and to volumeKeys of the stack in infra/account`
    : "volumeKeys of the hub's stack";
  const message =
    `spec.volumeKey ${volumeKey} is none of the keys that the fleet's IAM policies allow in ${region}: ${keys.join(", ") || "there are none"}. ` +
    `Add it to ${where}, and run pulumi up; or name one of these, or none for the account's default key`;
  return [{ reason: "VolumeKeyNotAllowed", message }];
}

/** The key of new volumes. While the Spoke's own is rejected, that of before. */
export function volumeKeyOf(question: Question & { readonly observed: Observed }): string | undefined {
  if (volumeKeyProblems(question).length === 0) return question.spoke.spec.volumeKey;
  const told = fromBase64(question.observed.get(resources.clusterSecret)?.data ?? {});
  return told[clusterFacts.volumeKey.key] || undefined;
}
