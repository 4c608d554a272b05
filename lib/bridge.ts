import { derivedKeys } from "./bridge-derived.ts";
import { type ClusterMetadata, clusterFacts, fleetFacts, identityFacts } from "./bridge-facts.ts";
import { fits } from "./bridge-forms.ts";
import { type BridgeKey, bridgeKeys, contractOf, isFact, type Table } from "./bridge-keys.ts";
import { labelKeys, watchLabel } from "./labels.ts";

export type { ClusterMetadata, OwnMetadata, WorkloadIdentity } from "./bridge-facts.ts";

/** `spec.provider` of a GitRepository. */
export type GitProvider = ClusterMetadata["gitProvider"];

/** A repository, and the branch that Flux follows there. */
export type GitSource = ClusterMetadata["repositories"]["gitopsSystem"];

type Data = Readonly<Record<string, string>>;

const facts: Table = { ...clusterFacts, ...fleetFacts };

const encode = (table: Table, values: object, prefix = ""): [key: string, text: string][] =>
  Object.entries(table).flatMap(([name, entry]): [string, string][] => {
    const value = values[name as keyof typeof values];
    return isFact(entry) ? [[`${prefix}${entry.key}`, entry.form.encode(value)]] : encode(entry, value);
  });

/** @param data has every key of `table` */
const decode = (table: Table, data: Data, prefix = ""): object =>
  Object.fromEntries(
    Object.entries(table).map(([name, entry]) => [
      name,
      isFact(entry) ? entry.form.decode(data[`${prefix}${entry.key}`] ?? "") : decode(entry, data),
    ]),
  );

const snakeCase = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/**
 * Facts come from AWS by way of objects that Crossplane's providers write, and Flux substitutes them as an administrator.
 * @throws RangeError for a value of another form than the contract's
 */
export function expectForms(data: Data): void {
  for (const [key, text] of Object.entries(data)) {
    const form = contractOf(key)?.form;
    if (form === undefined || !fits(form, text))
      throw new RangeError(
        `the fact ${key} can't be ${JSON.stringify(text)}, allowed: ${form?.is ?? "a key of the contract"}. Correct it where it comes from: the stack, the Spoke, or the status of the managed resource that reports it`,
      );
  }
}

/**
 * The flat map that Flux substitutes from: every key of {@link bridgeKeys}, and those of {@link identityFacts} for each identity.
 * @throws RangeError for an add-on that is not in snake_case
 */
export function bridgeData(metadata: ClusterMetadata): Record<BridgeKey, string> & Record<string, string> {
  const identities = Object.entries(metadata.identities).flatMap(([addon, identity]) => {
    if (!snakeCase.test(addon))
      throw new RangeError(`add-on ${JSON.stringify(addon)} is not in snake_case: Flux can't substitute its keys`);
    return encode(identityFacts, identity, addon);
  });
  const others = derivedKeys.map(({ key, from }) => [key, from(metadata)] as const);
  return Object.fromEntries([...identities, ...encode(facts, metadata), ...others]) as Record<BridgeKey, string>;
}

function readIdentities(data: Data): ClusterMetadata["identities"] {
  const suffix = identityFacts.roleArn.key;
  const addons = Object.keys(data)
    .filter((key) => key.endsWith(suffix))
    .map((key) => key.slice(0, -suffix.length));
  return Object.fromEntries(
    addons.map((addon) => [addon, decode(identityFacts, data, addon) as ClusterMetadata["identities"][string]]),
  );
}

/**
 * The metadata that {@link bridgeData} wrote.
 * @throws RangeError that names every missing key: the program that wrote the data is older than the contract.
 */
export function readBridgeData(data: Data): ClusterMetadata {
  const missing = Object.values(bridgeKeys)
    .filter(({ key }) => data[key] === undefined)
    .map(({ key }) => key);
  if (missing.length > 0) {
    throw new RangeError(`the cluster secret lacks ${missing.join(", ")}: run pulumi up with the current program`);
  }
  return { ...decode(facts, data), identities: readIdentities(data) } as ClusterMetadata;
}

/** A cluster of the examples in the contract, without identities: for a sample of a cluster that nobody runs. */
export const exampleMetadata: ClusterMetadata = readBridgeData(
  Object.fromEntries(Object.values(bridgeKeys).map(({ key, form }) => [key, form.example])),
);

/** Labels of a cluster secret: for people, Argo CD selectors and admission policies. */
export function bridgeLabels(metadata: Pick<ClusterMetadata, "name" | "role" | "environment" | "tenant" | "addons">) {
  return {
    [labelKeys.cluster]: metadata.name,
    [labelKeys.role]: metadata.role,
    [labelKeys.environment]: metadata.environment,
    [labelKeys.tenant]: metadata.tenant,
    ...Object.fromEntries(metadata.addons.map((addon) => [`enable_${addon}`, "true"])),
    ...watchLabel,
  };
}

/** Name of the cluster secret of the cluster `name`. */
export function clusterSecretName(name: string): string {
  return `cluster-${name}`;
}
