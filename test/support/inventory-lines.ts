/** The lines of an inventory: `<kind> <name>`. */

/** What an inventory looks for, in the order in which people may remove it: what holds something else comes before it. */
export const kinds = [
  ...(["instance", "cluster", "launch template", "volume", "network interface", "security group"] as const),
  ...(["flow log", "NAT gateway", "address", "VPC endpoint", "internet gateway"] as const),
  ...(["transit gateway attachment", "subnet"] as const),
  ...(["route table", "VPC"] as const),
  ...(["OIDC provider", "role", "policy", "secret", "alias", "key", "log group", "table", "queue"] as const),
] as const;
export type Kind = (typeof kinds)[number];

/** Kinds of what a spoke has in AWS at the least. */
export const spokeKinds: readonly Kind[] = [
  ...(["cluster", "VPC", "subnet", "internet gateway", "NAT gateway", "route table", "address"] as const),
  ...([
    ...["launch template", "VPC endpoint", "security group", "role", "OIDC provider", "key", "alias", "log group"],
  ] as const),
];

/** Kinds of what a hub has in AWS at the least. */
export const hubKinds: readonly Kind[] = [
  ...(["cluster", "VPC", "NAT gateway", "role", "OIDC provider", "key", "secret", "security group"] as const),
];

/** Kind and name of a line of an inventory; a kind's name may begin with another's. */
export function partsOf(line: string): { readonly kind: Kind; readonly name: string } {
  const fitting = kinds.filter((kind) => line.startsWith(`${kind} `));
  const kind = fitting.sort((a, b) => b.length - a.length)[0];
  if (kind === undefined) throw new Error(`not a line of an inventory: ${line}`);
  return { kind, name: line.slice(kind.length + 1) };
}

/** Names of what an inventory has of a kind. */
export const namesOf = (inventory: readonly string[], wanted: Kind): string[] =>
  inventory.map(partsOf).flatMap(({ kind, name }) => (kind === wanted ? [name] : []));

/** Kinds of which an inventory has nothing. */
export const missingKinds = (inventory: readonly string[], wanted: readonly Kind[]): Kind[] =>
  wanted.filter((kind) => namesOf(inventory, kind).length === 0);
