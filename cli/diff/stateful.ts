import { isDeepStrictEqual } from "node:util";
import type { Spoke } from "../../functions/spoke/api.ts";
import { isOrphan } from "../../functions/spoke/orphan.ts";
import { crossplaneAnnotations } from "../../lib/labels.ts";
import { groupOf, type Manifest } from "../render/files.ts";
import { isSpoke } from "../render/fleet.ts";

/** Which kinds keep data, and which fields can only be changed by a replacement. */

/** Kinds of Kubernetes and of this project, as `group/Kind`, whose deletion loses data or everything that depends on the object. */
const statefulKinds = new Set([
  "/PersistentVolumeClaim",
  "/PersistentVolume",
  "/Namespace",
  "apps/StatefulSet",
  "apiextensions.k8s.io/CustomResourceDefinition",
  "apiextensions.crossplane.io/CompositeResourceDefinition",
  "fleet.internal/Spoke",
]);

/** Services of Crossplane's AWS provider of which every kind keeps data. */
const statefulServices = new Set([
  "backup",
  "docdb",
  "dynamodb",
  "ebs",
  "efs",
  "elasticache",
  "fsx",
  "kafka",
  "kinesis",
  "memorydb",
  "neptune",
  "opensearch",
  "rds",
  "redshift",
  "s3",
  "sqs",
]);

const statefulAws = new Set([
  "cloudwatchlogs/Group",
  "ec2/EBSSnapshot",
  "ec2/EBSVolume",
  "ec2/VPC",
  "eks/Cluster",
  "kms/Key",
  "secretsmanager/Secret",
  "secretsmanager/SecretVersion",
]);

/** `eks` of `eks.aws.m.upbound.io`; undefined for what is not an AWS resource. */
function awsService(manifest: Manifest): string | undefined {
  return /^([a-z0-9]+)\.aws(?:\.m)?\.upbound\.io$/.exec(groupOf(manifest))?.[1];
}

export const isInAws = (manifest: Manifest): boolean => awsService(manifest) !== undefined;

export function isStateful(manifest: Manifest): boolean {
  // Of what is let go nothing is lost.
  if (isSpoke(manifest) && isOrphan(manifest as unknown as Spoke)) return false;
  const service = awsService(manifest);
  if (service === undefined) return statefulKinds.has(`${groupOf(manifest)}/${manifest.kind}`);
  return statefulServices.has(service) || statefulAws.has(`${service}/${manifest.kind}`);
}

/** Fields below `spec` that Kubernetes refuses to change. */
const fixed: Readonly<Record<string, readonly string[]>> = {
  "/PersistentVolumeClaim": ["accessModes", "selector", "storageClassName", "volumeMode", "volumeName"],
  "apps/DaemonSet": ["selector"],
  "apps/Deployment": ["selector"],
  "apps/StatefulSet": ["podManagementPolicy", "selector", "serviceName", "volumeClaimTemplates"],
  "batch/Job": ["completionMode", "selector", "template"],
};

/**
 * Fields below `spec.forProvider` that AWS can't change of a resource that exists ("Forces new resource" in the documentation of
 * the Terraform provider, on which Crossplane's is built). Crossplane's provider refuses such a change until the resource is deleted.
 */
const fixedAws: Readonly<Record<string, readonly string[]>> = {
  "dynamodb/Table": ["hashKey", "localSecondaryIndex", "rangeKey"],
  "ec2/EBSVolume": ["availabilityZone", "encrypted", "kmsKeyId", "snapshotId"],
  "ec2/NATGateway": ["allocationId", "connectivityType", "subnetId"],
  "ec2/RouteTable": ["vpcId"],
  "ec2/Subnet": ["availabilityZone", "availabilityZoneId", "cidrBlock", "vpcId"],
  "ec2/VPC": ["cidrBlock", "instanceTenancy"],
  "ec2/VPCEndpoint": ["serviceName", "vpcEndpointType", "vpcId"],
  "efs/FileSystem": ["availabilityZoneName", "creationToken", "encrypted", "kmsKeyId", "performanceMode"],
  "eks/AccessEntry": ["clusterName", "principalArn", "type"],
  "eks/Cluster": ["encryptionConfig", "kubernetesNetworkConfig", "outpostConfig", "roleArn"],
  "eks/NodeGroup": ["amiType", "capacityType", "clusterName", "diskSize", "instanceTypes", "nodeRoleArn", "subnetIds"],
  "iam/OpenIDConnectProvider": ["url"],
  "iam/Role": ["path"],
  "kms/Key": ["customerMasterKeySpec", "keyUsage", "multiRegion"],
  "rds/Cluster": ["availabilityZones", "databaseName", "kmsKeyId", "masterUsername", "storageEncrypted"],
  "rds/Instance": ["characterSetName", "dbName", "kmsKeyId", "storageEncrypted", "username"],
  "s3/Bucket": ["objectLockEnabled"],
  "s3/BucketVersioning": ["bucket"],
  "sqs/Queue": ["fifoQueue"],
};

const { externalName } = crossplaneAnnotations;

interface Fixed {
  /** As it is shown. */
  readonly field: string;
  readonly of: (manifest: Manifest) => unknown;
}

function fixedFields(manifest: Manifest): Fixed[] {
  const service = awsService(manifest);
  const inSpec = (field: string, read: (spec: Manifest["spec"]) => unknown): Fixed => ({
    field,
    of: ({ spec }) => read(spec),
  });
  if (service === undefined)
    return (fixed[`${groupOf(manifest)}/${manifest.kind}`] ?? []).map((name) =>
      inSpec(`spec.${name}`, (spec) => spec?.[name]),
    );
  return [
    { field: externalName, of: ({ metadata }) => metadata.annotations?.[externalName] },
    // Another account.
    inSpec("spec.providerConfigRef", (spec) => spec?.providerConfigRef),
    ...["region", ...(fixedAws[`${service}/${manifest.kind}`] ?? [])].map((name) =>
      inSpec(`spec.forProvider.${name}`, (spec) => spec?.forProvider?.[name]),
    ),
  ];
}

/** The fields that make a change from `before` to `after` a replacement. */
export const replacedBy = (before: Manifest, after: Manifest): string[] =>
  fixedFields(before)
    // A field that is no longer set stays as it is in AWS.
    .filter(
      ({ of }) => of(before) !== undefined && of(after) !== undefined && !isDeepStrictEqual(of(before), of(after)),
    )
    .map(({ field }) => field);
