/** The CustomResourceDefinitions that the packages bring. */
import { API_SUFFIX, apiGroup, type Kind, pluralOf, VERSION } from "./kind.ts";
import { conditions, managedSchema, object, objectMeta, type Schema } from "./schema.ts";

export interface Crd {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly categories: readonly string[];
    };
    readonly scope: "Namespaced" | "Cluster";
    readonly versions: readonly [
      {
        readonly name: string;
        readonly served: true;
        readonly storage: true;
        readonly schema: { readonly openAPIV3Schema: Schema };
        readonly subresources?: { readonly status: object };
        readonly additionalPrinterColumns?: readonly object[];
      },
    ];
  };
}

interface CrdOptions {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly category: "managed" | "providerconfig";
  readonly schema: Schema;
  readonly columns: readonly object[];
  /** Default: true. */
  readonly status?: boolean;
}

function crd(options: CrdOptions): Crd {
  const { group, kind, plural, scope, schema, status = true } = options;
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
        categories: ["crossplane", options.category, "aws"],
      },
      scope,
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...(status && { subresources: { status: {} } }),
          additionalPrinterColumns: options.columns,
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
    source: { type: "string", enum: ["IRSA", "Secret"] },
    secretRef: secretReference,
  },
  { required: ["source"] },
);

const assumeRoleChain: Schema = { type: "array", items: object({ roleARN: text }) };

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
    ...{ group: API_SUFFIX, kind: "ProviderConfigUsage", plural: "providerconfigusages", scope: "Namespaced" },
    ...{ category: "providerconfig", schema: usageSchema, columns: [age], status: false },
  }),
];
