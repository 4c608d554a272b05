import { stringify } from "yaml";
import { sealingKeyOf } from "../../lib/names.ts";
import { nextGeneration } from "../rotation/plan.ts";
import { listedKey } from "../rotation/stack-file.ts";
import { byGeneration } from "../sealing/generations.ts";
import type { HubInAws } from "./locate.ts";
import type { Planned } from "./preview.ts";

/** Sealing keys whose private halves are in no state any more: `pulumi up` would put others in their place. */

interface Key {
  readonly scope: string;
  readonly generation: string;
}

/** A key that AWS has. */
interface FormerKey extends Key {
  readonly arn: string;
  readonly certificate: string;
}

/** The sealing keys that the stack would make, each with what AWS has under its name. */
function plannedKeys(planned: readonly Planned[], { named }: HubInAws, fleet: string) {
  return planned.flatMap(({ type, urn, inputs }) => {
    const name = String(inputs["name"]);
    const key = type === "aws:secretsmanager/secret:Secret" ? sealingKeyOf(fleet, name) : undefined;
    return key === undefined ? [] : [{ key, found: named.get(urn) }];
  });
}

export interface FormerKeys {
  readonly former: readonly FormerKey[];
  /** For each of their scopes, the generation that seals from now on. */
  readonly sealing: readonly Key[];
}

/** Sealing keys that are in Secrets Manager already, and what takes their place. */
export function formerKeys(planned: readonly Planned[], inAws: HubInAws, fleet: string): FormerKeys {
  const keys = plannedKeys(planned, inAws, fleet);
  const former = keys.flatMap(({ key, found }) =>
    found === undefined ? [] : [{ ...key, arn: found.id, certificate: found.certificate ?? "" }],
  );
  const sealing = [...new Set(former.map(({ scope }) => scope))].map((scope) => {
    const own = keys.filter(({ key }) => key.scope === scope);
    const newest = (those: typeof own) =>
      those
        .map(({ key }) => key.generation)
        .sort(byGeneration)
        .at(-1);
    // A person may have added one already.
    const added = newest(own.filter(({ found }) => found === undefined));
    return { scope, generation: added ?? nextGeneration(newest(own) ?? "") };
  });
  return { former, sealing };
}

const indented = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => `    ${line}`);

/** The lines for the stack's file. @param project Pulumi's name of it, before each key */
export const configLines = (project: string, { former, sealing }: FormerKeys): string[] => [
  `  ${project}:sealingKeys:          # in the place of those above; other scopes keep theirs`,
  ...sealing.map((key) => `    - ${listedKey({ ...key, active: true })}`),
  `  ${project}:formerSealingKeys:    # behind those that it has`,
  ...indented(stringify(former, { lineWidth: 0 })),
];
