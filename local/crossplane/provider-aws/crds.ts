/** The CustomResourceDefinitions that the packages bring. */
import { API_SUFFIX, apiGroup, type Kind, pluralOf, VERSION } from "./kind.ts";
import { conditions, managedSchema, object, objectMeta, type Schema } from "./schema.ts";

interface CrdOptions {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly category: "managed" | "providerconfig";
  readonly schema: Schema;
  readonly columns: readonly object[];
}

export type Crd = ReturnType<typeof crd>;

function crd({ group, kind, plural, scope, category, schema, columns }: CrdOptions) {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        categories: ["crossplane", category, "aws"],
      },
      scope,
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...(schema.properties?.["status"] && { subresources: { status: {} } }),
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}

const age = { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" };

const conditionColumn = (type: string) => ({
  name: type.toUpperCase(),
  type: "string",
  jsonPath: `.status.conditions[?(@.type=='${type}')].status`,
});

const managedColumns = [
  conditionColumn("Synced"),
  conditionColumn("Ready"),
  { name: "EXTERNAL-NAME", type: "string", jsonPath: ".metadata.annotations.crossplane\\.io/external-name" },
  age,
];

/** The CRD of a kind of managed resource. */
export function managedCrd(kind: Kind): Crd {
  const names = { group: apiGroup(kind.group), kind: kind.kind, plural: pluralOf(kind.kind) };
  const schema = managedSchema(kind);
  return crd({ ...names, scope: "Namespaced", category: "managed", schema, columns: managedColumns });
}

const text: Schema = { type: "string" };

const secretReference = object({ key: text, name: text, namespace: text }, { required: ["key", "name", "namespace"] });

/** Where an identity comes from. Keys in a Secret are refused by the fleet's admission policies, which must get to see them. */
const credentials = object(
  {
    source: { type: "string", enum: ["IRSA", "PodIdentity", "Secret"] },
    secretRef: secretReference,
  },
  { required: ["source"] },
);

const assumeRoleChain: Schema = {
  type: "array",
  items: object({
    externalID: text,
    roleARN: text,
    tags: { type: "array", items: object({ key: text, value: text }, { required: ["key", "value"] }) },
    transitiveTagKeys: { type: "array", items: text },
  }),
};

const configSchema = object(
  {
    ...objectMeta,
    spec: object({ assumeRoleChain, credentials }, { required: ["credentials"] }),
    status: object({ conditions, users: { type: "integer", format: "int64" } }),
  },
  { required: ["spec"] },
);

const configReference = object({ kind: text, name: text }, { required: ["kind", "name"] });

const usageSchema = object(
  {
    ...objectMeta,
    providerConfigRef: configReference,
    resourceRef: object(
      { apiVersion: text, kind: text, name: text, uid: text },
      { required: ["apiVersion", "kind", "name"] },
    ),
  },
  { required: ["providerConfigRef", "resourceRef"] },
);

const config = (kind: string, plural: string, scope: "Namespaced" | "Cluster"): Crd =>
  crd({ group: API_SUFFIX, kind, plural, scope, category: "providerconfig", schema: configSchema, columns: [age] });

/** The CRDs of the family's own package: how its members reach AWS. */
export const familyCrds: readonly Crd[] = [
  config("ProviderConfig", "providerconfigs", "Namespaced"),
  config("ClusterProviderConfig", "clusterproviderconfigs", "Cluster"),
  crd({
    group: API_SUFFIX,
    kind: "ProviderConfigUsage",
    plural: "providerconfigusages",
    scope: "Namespaced",
    category: "providerconfig",
    schema: usageSchema,
    columns: [age],
  }),
];
