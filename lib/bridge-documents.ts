import { bridgeKeys, identityKeys, type KeyContract } from "./bridge-keys.ts";
import { hubIdentities } from "./names.ts";
import { spokeIdentities } from "./spoke.ts";

/** docs/contract.md and its JSON schema, made from the contract's types. */

const row = (key: string, { meaning, form }: KeyContract): string => {
  const shown = form.example === "" ? "" : `\`${form.example}\``;
  return `| \`${key}\` | ${meaning} | ${form.is}${"numeric" in form ? " (1)" : ""} | ${shown} |`;
};

const identityRows = (prefix: string): string[] =>
  Object.entries(identityKeys).map(([suffix, contract]) => row(`${prefix}${suffix}`, contract));

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

/** The page for people. */
export function contractPage(): string {
  return `<!-- Generated from lib/bridge-keys.ts; npx vitest run test/lib/bridge-documents.test.ts --update rewrites it. -->
# The bridge contract

What infrastructure code tells Git about a cluster: the keys of its cluster secret (\`cluster-<name>\`, the hub's in
\`flux-system\`, a spoke's in \`spokes\`), and the same on a spoke in the ConfigMap \`cluster-info\`. A manifest uses a key as
\`\${key}\`; Flux replaces it. Every value is text; none is a secret: identity is an IAM role. The same as a JSON schema:
[contract.schema.json](contract.schema.json).

\`npx fleet check\` finds a variable that a cluster does not get.

## Keys of every cluster

| Key | Meaning | Values | Example |
| --- | --- | --- | --- |
${Object.entries(bridgeKeys)
  .map(([key, contract]) => row(key, contract))
  .join("\n")}

(1) Looks like a number. kustomize drops quotes around a variable before Flux puts in the value, so write
\`\${quote}\${aws_account_id}\${quote}\`.

## Keys of an add-on with an IAM role

| Key | Meaning | Values | Example |
| --- | --- | --- | --- |
${identityRows("<addon>").join("\n")}

The hub has them for ${code(hubIdentities.map((name) => name.replaceAll("-", "_")))}; a spoke for ${code(Object.keys(spokeIdentities))}.

## Labels

\`fleet.internal/cluster\`, \`fleet.internal/role\`, \`fleet.internal/environment\`, \`fleet.internal/tenant\`, and
\`enable_<addon>: "true"\` for each add-on: for people, selectors of Argo CD and admission policies.
`;
}

const property = ({ meaning, form }: KeyContract) => ({
  type: "string",
  description: meaning,
  pattern: form.pattern,
  examples: [form.example],
});

/** JSON schema (draft 2020-12) of the data of a cluster secret. */
export function contractSchema() {
  const keys = Object.entries(bridgeKeys);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Data of a cluster secret of the GitOps bridge",
    type: "object",
    properties: Object.fromEntries(keys.map(([key, contract]) => [key, property(contract)])),
    patternProperties: Object.fromEntries(
      Object.entries(identityKeys).map(([suffix, contract]) => [
        `^[a-z][a-z0-9]*(_[a-z0-9]+)*${suffix}$`,
        property(contract),
      ]),
    ),
    required: keys.map(([key]) => key),
    additionalProperties: false,
  };
}
