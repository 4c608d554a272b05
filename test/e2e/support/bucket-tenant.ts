import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { parseAllDocuments } from "yaml";
import { bucketName } from "../../../lib/iam/tenants.ts";
import { awsKindsAnnotation, labelKeys } from "../../../lib/labels.ts";
import { fillTemplate } from "../../../lib/template.ts";
import type { Checkout } from "./repository.ts";
import { clusterOf } from "./spokes.ts";

/** An application that orders buckets, without pods: its namespace, its role from the template of applications, its buckets. */

interface BucketOrder {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managementPolicies?: readonly string[];
}

export const bucketOf = (spoke: string, namespace: string, name: string): string =>
  bucketName(clusterOf(spoke), namespace, name, "000000000000");

const order = (kind: string, metadata: object, spec: object) => ({
  apiVersion: "s3.aws.m.upbound.io/v1beta1",
  kind,
  metadata,
  spec: { ...spec, providerConfigRef: { kind: "ProviderConfig", name: "aws" } },
});
const region = "us-east-1";

/** A bucket that outlives its object, unless `more` says otherwise. */
export function bucketObject(spoke: string, namespace: string, name: string, more: BucketOrder = {}): object {
  const { annotations, managementPolicies = ["Observe", "Create", "Update", "LateInitialize"] } = more;
  const external = { "crossplane.io/external-name": bucketOf(spoke, namespace, name) };
  const forProvider = { region, tags: { [labelKeys.cluster]: spoke } };
  return order(
    "Bucket",
    { name, namespace, annotations: { ...external, ...annotations } },
    { managementPolicies, forProvider },
  );
}

/** Versions of the objects in a bucket of the same name. */
export const versioningObject = (namespace: string, name: string): object =>
  order(
    "BucketVersioning",
    { name, namespace },
    { forProvider: { region, bucketRef: { name }, versioningConfiguration: { status: "Enabled" } } },
  );

/** What the governance team has in gitops-workloads for an application that may order these kinds only. */
export function tenantObjects(repository: Checkout, namespace: string, kinds = "s3.Bucket"): object[] {
  const template = readFileSync(join(repository.folder, "templates", "app", "aws.yaml"), "utf8");
  return [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: namespace,
        labels: { [labelKeys.tenant]: "payments", "pod-security.kubernetes.io/enforce": "baseline" },
        annotations: { [awsKindsAnnotation]: kinds },
      },
    },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: namespace, namespace } },
    ...parseAllDocuments(fillTemplate(template, { app: namespace, tenant: "payments" })).map((each) => each.toJS()),
  ];
}

export const put = (s3: S3Client, Bucket: string, Key: string): Promise<unknown> =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body: "an invoice" }));

export async function read(s3: S3Client, Bucket: string, Key: string): Promise<string | undefined> {
  return (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
}

/** Empties and removes a bucket, as a person does with one that was retained. */
export async function removeBucket(s3: S3Client, Bucket: string): Promise<void> {
  const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }));
  for (const { Key, VersionId } of [...Versions, ...DeleteMarkers])
    await s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
  await s3.send(new DeleteBucketCommand({ Bucket }));
}
