import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";

/** ExternalSecrets, with durations and defaults as the operator writes them back, so that a refresh finds no difference. */

interface ExternalSecretArgs {
  /** Name and namespace of the ExternalSecret, which are also those of the Secret that it makes. */
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly annotations?: Readonly<Record<string, string>>;
  /** Name of the SecretStore that reads, in the same namespace. */
  readonly storeName: pulumi.Input<string>;
  /** What the Secret has besides its data. */
  readonly template?: object;
  /** Members of Secrets Manager's JSON objects, by key of the Secret. */
  readonly data?: readonly object[];
  /** JSON objects in Secrets Manager, of which the Secret gets all members. */
  readonly dataFrom?: readonly object[];
}

/** Where a value is in Secrets Manager: the name of a secret, and a member of its JSON object or else all of it. */
export const remoteRef = (key: pulumi.Input<string>, property?: string) => ({
  key,
  ...(property === undefined ? {} : { property }),
  conversionStrategy: "Default",
  decodingStrategy: "None",
  metadataPolicy: "None",
});

/** A Secret that External Secrets keeps as it is in Secrets Manager; known when it is there. */
export function externalSecret(
  name: string,
  { metadata, annotations, storeName, template, ...data }: ExternalSecretArgs,
  opts: pulumi.CustomResourceOptions,
): kubernetes.apiextensions.CustomResource {
  return new kubernetes.apiextensions.CustomResource(
    name,
    {
      apiVersion: "external-secrets.io/v1",
      kind: "ExternalSecret",
      metadata: { ...metadata, annotations: { "pulumi.com/waitFor": "condition=Ready", ...annotations } },
      spec: {
        refreshInterval: "1h0m0s",
        secretStoreRef: { kind: "SecretStore", name: storeName },
        target: {
          name: metadata.name,
          creationPolicy: "Owner",
          deletionPolicy: "Retain",
          ...(template && { template }),
        },
        ...data,
      },
    },
    opts,
  );
}
