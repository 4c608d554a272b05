import { argocdIdentity, argocdSecretsIdentity } from "../../lib/argocd.ts";
import { arns } from "../../lib/iam/policy.ts";
import { fleetNames } from "../../lib/names.ts";
import type { SpokeSpec } from "./api.ts";
import type { Hub } from "./hub.ts";
import type { SpokeProblem } from "./problems.ts";
import type { Settings } from "./settings.ts";

/** Argo CD as the bridge of a hub has it. */
export interface ArgocdOfHub {
  /** Whether it is in another cluster than the hub. */
  readonly elsewhere: boolean;
  /** Of its cluster secrets on the hub. */
  readonly namespace: string;
  /** As whom it acts on spokes. */
  readonly roleArn: string;
}

/** Undefined where the stack gives no Argo CD a role for spokes. */
export function argocdOf(hub: Pick<Hub, "aws" | "fleet" | "identities">): ArgocdOfHub | undefined {
  const identity = hub.identities[argocdIdentity];
  if (identity === undefined) return undefined;
  const elsewhere = hub.identities[argocdSecretsIdentity] !== undefined;
  const roleArn = elsewhere ? identity.roleArn : arns(hub.aws).role(fleetNames(hub.fleet).argocdSpokesRole);
  return { elsewhere, namespace: identity.namespace, roleArn };
}

/** Where a Spoke gives this principal an access of its own, from the top of its `spec`; empty where it gives none. */
export function placesOf(
  { admins, teams }: Pick<SpokeSpec, "admins" | "teams">,
  arn: string,
): readonly (readonly (string | number)[])[] {
  const inTeams = teams.flatMap(({ members }, team) =>
    members.flatMap(({ role }, member) => (role === arn ? [["teams", team, "members", member, "role"]] : [])),
  );
  return [...admins.flatMap((admin, index) => (admin === arn ? [["admins", index]] : [])), ...inTeams];
}

/** What is wrong with a place of {@link placesOf}, and what to do. */
export const problemAt = (
  arn: string,
  [field]: readonly (string | number)[],
): readonly [problem: string, remedy: string] => [
  `${arn} in spec.${field} is the role of Argo CD, whose only access entry on the spoke has the edit policy in its namespaces`,
  "take it out there, or give an Argo CD elsewhere a role that nobody else has (argocdRoleArn of the stack, then pulumi up)",
];

/** EKS has one access entry for a principal, so two of the Spoke's would undo each other. */
export function argocdProblems({
  spoke,
  hub,
  settings,
}: {
  readonly spoke: { readonly spec: Pick<SpokeSpec, "admins" | "teams"> };
  readonly hub: Parameters<typeof argocdOf>[0];
  readonly settings: Pick<Settings, "argocd">;
}): SpokeProblem[] {
  const argocd = settings.argocd && argocdOf(hub);
  if (argocd === undefined) return [];
  const [place] = placesOf(spoke.spec, argocd.roleArn);
  if (place === undefined) return [];
  const message = problemAt(argocd.roleArn, place).join(": ");
  return [{ reason: "RoleOfArgocd", message }];
}
