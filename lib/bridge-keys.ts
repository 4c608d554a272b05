import { derivedKeys } from "./bridge-derived.ts";
import { type Contract, clusterFacts, type Fact, fleetFacts, identityFacts } from "./bridge-facts.ts";

/** A table of facts, or a part of one. */
export interface Table {
  readonly [name: string]: Fact | Table;
}

export const isFact = (entry: Fact | Table): entry is Fact => "form" in entry;

export const contracts = (table: Table): Contract[] =>
  Object.values(table).flatMap((entry): Contract[] => (isFact(entry) ? [entry] : contracts(entry)));

type KeysOf<Facts> = {
  [Name in keyof Facts]: Facts[Name] extends Contract<infer Key> ? Key : KeysOf<Facts[Name]>;
}[keyof Facts];

export type BridgeKey = KeysOf<typeof clusterFacts & typeof fleetFacts> | (typeof derivedKeys)[number]["key"];

/** The contract between this code and the manifests in Git: the keys that every cluster emits. */
export const bridgeKeys = Object.fromEntries(
  [...contracts(clusterFacts), ...contracts(fleetFacts), ...derivedKeys].map((contract) => [contract.key, contract]),
) as Readonly<Record<BridgeKey, Contract>>;

/** What the contract says of a key; undefined for a key that it does not know. */
export function contractOf(key: string): Contract | undefined {
  if (Object.hasOwn(bridgeKeys, key)) return bridgeKeys[key as BridgeKey];
  return Object.values(identityFacts).find(({ key: ending }) => key.endsWith(ending) && key !== ending);
}
