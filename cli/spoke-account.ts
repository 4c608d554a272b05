import { at, type KubeObject } from "../functions/spoke/kube.ts";
import { fleetTag } from "../lib/labels.ts";
import { UsageError } from "./usage.ts";

/** Commands that compare what the hub makes a spoke of with what AWS has. */

/** Their options. */
export const spokeAccountOptions = {
  yes: { type: "boolean", default: false },
  profile: { type: "string" },
  context: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** What `--help` says of these. */
export const spokeAccountHelp = `  --yes                  do it
  --profile NAME         profile of the AWS CLI for the spoke's account; default: the credentials of the environment
  --context NAME         the hub's context in the kubeconfig; default: the current one`;

/** The fleet that a spoke's resources belong to, as their tags say. @throws UsageError while there are none */
export function fleetOf(objects: readonly KubeObject[], spoke: string): string {
  const [fleet] = objects.flatMap(
    ({ spec }) => (at(spec, "forProvider", "tags", fleetTag) as string | undefined) ?? [],
  );
  if (fleet !== undefined) return fleet;
  throw new UsageError(`the hub makes nothing of spoke ${spoke} in AWS yet: fleet why ${spoke} says what it waits for`);
}

/** @throws UsageError where the credentials are not of the account in which a spoke is known to be */
export function refuseOtherAccount(spoke: string, account: string | undefined, of: string): void {
  if (account !== undefined && account !== of)
    throw new UsageError(
      `spoke ${spoke} is in account ${account}, and the credentials are of ${of}: name others with --profile`,
    );
}
