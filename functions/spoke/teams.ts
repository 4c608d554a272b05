/** The access policy of each kind of access that a team's member can have (EKS User Guide, "Review access policy permissions"). */
export const teamAccessPolicies = {
  view: "AmazonEKSViewPolicy",
  edit: "AmazonEKSEditPolicy",
  admin: "AmazonEKSAdminPolicy",
} as const;

export type TeamAccess = keyof typeof teamAccessPolicies;

/** Who of a team may do what in which namespaces; the definition keeps namespaces of two teams apart. */
export interface Team {
  readonly name: string;
  readonly namespaces: readonly string[];
  readonly members: readonly { readonly role: string; readonly access: TeamAccess }[];
}

/** One association: EKS has one for each role and access policy. */
export interface Grant {
  readonly access: TeamAccess;
  /** Sorted. */
  readonly namespaces: readonly string[];
}

/** What the teams give each role, by its ARN. A role of several teams has one access entry, so their namespaces are taken together. */
export function grantsByRole(teams: readonly Team[]): ReadonlyMap<string, readonly Grant[]> {
  const all = teams.flatMap(({ members, namespaces }) => members.map((member) => ({ ...member, namespaces })));
  const byRole = Map.groupBy(all, ({ role }) => role);
  return new Map(
    [...byRole].map(([role, given]) => [
      role,
      [...Map.groupBy(given, ({ access }) => access)].map(([access, same]) => ({
        access,
        namespaces: [...new Set(same.flatMap(({ namespaces }) => namespaces))].sort(),
      })),
    ]),
  );
}
