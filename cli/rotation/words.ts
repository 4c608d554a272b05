import { clusterScopePrefix, fleetNames, hubSealingScope } from "../../lib/names.ts";
import { filesOf } from "../sealing/keys.ts";
import type { Step } from "./plan.ts";

/** What a person is told of a step: what it is, and what to do before the next. */

export interface Told {
  readonly scope: string;
  readonly stack: string;
  /** The checkout of gitops-system; undefined for the hub's key. */
  readonly system: string | undefined;
  readonly fleet: string;
  /** Generations of the scope that no state has. */
  readonly former: readonly string[];
}

const sequence = (names: readonly string[]): string => names.join(" and ");
const generations = (names: readonly string[]): string => `generation${names.length > 1 ? "s" : ""} ${sequence(names)}`;

const push = (system: string | undefined, message: string): string =>
  `in ${system}: git add --all . && git commit -m "${message}" && git push`;

const up = ({ stack }: Told): string => `pulumi up --stack ${stack}`;

/** How a person sees that every spoke of a scope has what Git says. */
function arrived({ scope }: Told, generation: string): string {
  const one = scope.startsWith(clusterScopePrefix);
  const name = one ? `sealing-key-${scope}-${generation}` : `sealing-key-${generation}`;
  return `wait until ${one ? "the Spoke is Ready and has" : "every Spoke of the environment is Ready, in every ring, and has"} it: kubectl --context <spoke> -n sealed-secrets get secret ${name}`;
}

/** The lists in a stack's file that have some generations. */
const listsOf = (names: readonly string[], former: readonly string[]): string =>
  sequence([
    ...(names.some((name) => !former.includes(name)) ? ["sealingKeys"] : []),
    ...(names.some((name) => former.includes(name)) ? ["formerSealingKeys"] : []),
  ]);

/** What a step is, in one line. */
export function headOf(step: Step, { scope, stack, former }: Told): string {
  switch (step.kind) {
    case "nothing":
      return `No rotation of ${scope} is under way: generation ${step.generation} is the only one, and seals. --new begins one.`;
    case "add":
      return `Step 1 of 6: generation ${step.generation} of ${scope} into sealingKeys of stack ${stack}. It does not seal yet.`;
    case "up":
      return `The stack ${stack} is not up to date: pulumi up ${step.differences.join(", ")} of ${scope}.`;
    case "bring":
      return `Step 2 of 6: the file that brings generation ${step.generation} of ${scope} to its clusters.`;
    case "activate":
      return `Step 3 of 6: generation ${step.generation} of ${scope} seals from now on; older ones still open.`;
    case "reseal":
      return `Step 4 of 6: what is sealed with an older key than generation ${step.generation} of ${scope} is sealed again.`;
    case "retire":
      return `Step 5 of 6: clusters no longer get ${generations(step.generations)} of ${scope}, with which nothing in the checkouts is sealed.`;
    case "forget":
      return `Step 6 of 6: ${generations(step.generations)} of ${scope} out of ${listsOf(step.generations, former)} of stack ${stack}.`;
  }
}

const count = (some: readonly unknown[], what: string): string =>
  `${some.length} SealedSecret${some.length === 1 ? "" : "s"} ${what}`;

/** What a person does after a step, each in one line. */
export function nextOf(step: Step, told: Told): string[] {
  const { scope, system, fleet, former } = told;
  switch (step.kind) {
    case "nothing":
    case "reseal":
      return [];
    case "add":
    case "up":
    case "activate":
      return [up(told)];
    case "bring":
      return [
        push(system, `Bring generation ${step.generation} of sealing key ${scope}`),
        arrived(told, step.generation),
      ];
    case "retire":
      return [
        push(system, `Retire ${generations(step.generations)} of sealing key ${scope}`),
        "wait until the Spokes are Ready",
        "kubectl --context <spoke> -n sealed-secrets rollout restart deployment/sealed-secrets-controller, on each: the controller keeps keys in memory that it once read",
      ];
    case "forget":
      return [
        step.generations.every((name) => former.includes(name))
          ? up(told)
          : `${up(told)}, which deletes the key in AWS: it can be restored for secretRecoveryWindowDays. With protect on Pulumi refuses until that is off`,
        ...step.generations
          .filter((name) => former.includes(name))
          .map((name) => {
            const secret = fleetNames(fleet).sealingKeySecret(scope, name);
            return `aws secretsmanager delete-secret --secret-id ${secret}: no state has this key, so pulumi up leaves it. It can be restored for 30 days`;
          }),
        ...(scope === hubSealingScope
          ? [
              "kubectl -n flux-system rollout restart deployment/sealed-secrets-controller: the controller keeps keys in memory that it once read",
            ]
          : []),
      ];
  }
}

/** What is left to be sealed again, and how. */
export function leftOf({ stale, unknown }: Extract<Step, { kind: "reseal" }>, { scope }: Told): string[] {
  return [
    ...(stale.length > 0
      ? [`${count(stale, "sealed with an older generation")}:`, ...filesOf(stale).map((file) => `  ${file}`)]
      : []),
    ...(unknown.length > 0
      ? [`${count(unknown, "without a note of the key")}:`, ...filesOf(unknown).map((file) => `  ${file}`)]
      : []),
    `A cluster's controller seals them again without showing what is in them: --context NAME, a cluster that reads the keys of ${scope}.`,
    "Without one: fleet rotate-deploy-key for deploy keys, fleet reseal for the fleet's and for tokens of Receivers, fleet seal for secrets whose plain text you have.",
    ...(unknown.length > 0
      ? ["Those that are certainly of another scope, or not sealed for this fleet, are left out with --ignore-unknown."]
      : []),
  ];
}
