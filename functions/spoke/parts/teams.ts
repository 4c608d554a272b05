import type { Context } from "../context.ts";
import { resources } from "../resources.ts";
import { type Grant, grantsByRole, teamAccessPolicies } from "../teams.ts";
import { argocdPrincipal, composeEntry, composeGrant, digest } from "./access.ts";

const grant = (context: Context, arn: string, { access, namespaces }: Grant): void =>
  composeGrant(context, {
    entry: resources.adminEntry(digest(arn)),
    arn,
    resource: resources.teamPolicy(access, digest(arn)),
    policy: teamAccessPolicies[access],
    namespaces,
  });

/** Who of the teams may do what in the teams' namespaces. Administrators have more than that already, and Argo CD's role an entry of its own. */
export function composeTeams(context: Context): void {
  const { admins, teams } = context.spoke.spec;
  for (const [arn, grants] of grantsByRole(teams)) {
    if (admins.includes(arn) || arn === argocdPrincipal(context.observed)) continue;
    composeEntry(context, { entry: resources.adminEntry(digest(arn)), arn });
    for (const each of grants) grant(context, arn, each);
  }
}
