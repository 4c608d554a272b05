import { derivedKeys } from "./bridge-derived.ts";
import { type Contract, clusterFacts, fleetFacts, identityFacts } from "./bridge-facts.ts";
import { bridgeKeys, contracts } from "./bridge-keys.ts";
import { filled } from "./generated-part.ts";
import { markdownTable } from "./markdown.ts";
import { hubIdentities } from "./names.ts";
import { spokeIdentities } from "./spoke.ts";

/** What `npm run generate` makes of the bridge's table: docs/reference/contract.md, its JSON schema, and the lists of keys in Git. */

const keys = Object.keys(bridgeKeys);
const identityKeys = Object.values(identityFacts);

const row = ({ key, meaning, form, forHub }: Contract): string[] => {
  const shown = form.example === "" ? "" : `\`${form.example}\``;
  return [`\`${key}\``, `${meaning}${forHub ? " (2)" : ""}`, `${form.is}${form.numeric ? " (1)" : ""}`, shown];
};

const table = (rows: readonly Contract[]): string[] => [
  "",
  ...markdownTable(["Key", "Meaning", "Values", "Example"], rows.map(row)),
  "",
];

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

/** The page for people. */
export function contractPage(current: string): string {
  const endings = identityKeys.map((contract) => ({ ...contract, key: `<addon>${contract.key}` }));
  const hub = hubIdentities.map((name) => name.replaceAll("-", "_"));
  const holders = `The hub has them for ${code(hub)}, for \`prometheus\` where the stack has \`metrics: amp\`, for \`cluster_api\` where it has \`clusterApi\`, for \`argocd\` where it has \`argocdSpokes\`, and for \`argocd_secrets\` where it has \`argocdRoleArn\` besides; a spoke for ${code(Object.keys(spokeIdentities))}.`;
  const parts = {
    cluster: table(contracts(clusterFacts)),
    fleet: table(contracts(fleetFacts)),
    derived: table(derivedKeys),
    identities: [...table(endings), holders, ""],
  };
  return Object.entries(parts).reduce((text, [name, lines]) => filled(text, name, lines), current);
}

const property = ({ form }: Contract) => ({ type: "string", pattern: form.pattern });

/** JSON schema (draft 2020-12) of the data of a cluster secret. */
export function contractSchema() {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Data of a cluster secret of the GitOps bridge",
    description: "docs/reference/contract.md has the meaning of each key and an example.",
    type: "object",
    properties: Object.fromEntries(Object.values(bridgeKeys).map((contract) => [contract.key, property(contract)])),
    patternProperties: Object.fromEntries(
      identityKeys.map((contract) => [`^[a-z][a-z0-9]*(_[a-z0-9]+)*${contract.key}$`, property(contract)]),
    ),
    required: keys,
    additionalProperties: false,
  };
}

/** The admission policy of cluster secrets: the keys that it lets through. */
export function clusterSecretPolicy(current: string): string {
  const list = keys.toSorted().map((key) => `'${key}'`);
  return filled(current, "keys", [
    ...["    - name: contract", "      expression: >-"],
    `        [${list.join(",\n        ")}]`,
  ]);
}

/** The ConfigMap by which a spoke's own Flux knows what the cluster secret on the hub says. */
export function clusterInfo(current: string): string {
  const identities = Object.keys(spokeIdentities).flatMap((addon) => identityKeys.map(({ key }) => `${addon}${key}`));
  const value = (key: string, form?: Contract["form"]): string => {
    if (key === "quote") return `'"'`;
    // A JSON list has quotation marks of its own; Flux ignores the line break when it substitutes.
    return form?.json ? `|\n    $\{${key}}` : `$\{quote}$\{${key}}$\{quote}`;
  };
  const all: Readonly<Record<string, Contract>> = bridgeKeys;
  const ofSpokes = keys.filter((key) => !all[key]?.forHub);
  const lines = [...ofSpokes, ...identities].toSorted().map((key) => `  ${key}: ${value(key, all[key]?.form)}`);
  return filled(current, "keys", lines);
}
