import type { Context } from "../context.ts";
import { fact } from "../facts.ts";
import { at } from "../kube.ts";
import { resources } from "../resources.ts";
import { type Grant, grantsByRole, teamAccessPolicies } from "../teams.ts";
import { composeAssociation, composeEntry, digest } from "./access.ts";

const sameNames = (one: unknown, other: readonly string[]) =>
  Array.isArray(one) && one.toSorted().join(" ") === other.join(" ");

/**
 * One access in its namespaces. The scope of an association can't be changed in place (Terraform's aws_eks_access_policy_association
 * replaces it), so one with other namespaces is removed and made again under its name: there is none beside it that its removal
 * would take away.
 */
function grant(context: Context, arn: string, { access, namespaces }: Grant): void {
  const resource = resources.teamPolicy(access, digest(arn));
  const existing = context.observed.get(resource);
  if (existing && !sameNames(at(existing.spec, "forProvider", "accessScope", "namespaces"), namespaces)) {
    context.composer.waitFor(resource, fact("identities", undefined));
    return;
  }
  composeAssociation(context, {
    entry: resources.adminEntry(digest(arn)),
    arn,
    resource,
    policy: teamAccessPolicies[access],
    accessScope: { type: "namespace", namespaces },
  });
}

/** Who of the teams may do what in the teams' namespaces. Administrators have more than that already. */
export function composeTeams(context: Context): void {
  const { admins, teams = [] } = context.spoke.spec;
  for (const [arn, grants] of grantsByRole(teams)) {
    if (admins.includes(arn)) continue;
    composeEntry(context, { entry: resources.adminEntry(digest(arn)), arn });
    for (const each of grants) grant(context, arn, each);
  }
}
