import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { bucketName } from "../../lib/iam/tenants.ts";
import { isPlatformNamespace, platformNamespaces } from "../../lib/names.ts";
import { arn, rightsOf } from "./support/addon-role.ts";
import type { Manifest } from "./support/kustomize.ts";
import { app, render, withAddons } from "./support/spoke.ts";

const rendered = render(withAddons("minimal", ["s3_buckets", "velero"]));
const named = (step: string, wanted: string, name: string): Manifest => {
  const found = rendered.by(step).find(({ kind, metadata }) => kind === wanted && metadata.name === name);
  if (found === undefined) throw new Error(`${step} makes no ${wanted} ${name}`);
  return found;
};
const values = parse(named("velero", "ConfigMap", "velero-values")["data"]["values.yaml"]);
const bucket = bucketName("fleet-spoke-blue", "velero", "backups", "000000000000");
const account = { "s3:ResourceAccount": "000000000000" };

describe("the bucket of a spoke's backups", () => {
  const made = named("velero-bucket", "Bucket", "backups");
  const versioning = named("velero-bucket", "BucketVersioning", "backups");

  test("outlives add-on and spoke, and keeps versions", () => {
    expect(made.metadata["annotations"]).toMatchObject({ "crossplane.io/external-name": bucket });
    for (const { spec } of [made, versioning])
      expect(spec.managementPolicies).toEqual(["Observe", "Create", "Update", "LateInitialize"]);
    expect(versioning.spec.forProvider.versioningConfiguration).toEqual({ status: "Enabled" });
  });

  test("is in the spoke's region, by the role of the spoke's Crossplane, before Velero is there", () => {
    const [location] = values.configuration.backupStorageLocation;
    expect(location).toMatchObject({ bucket, provider: "aws", config: { region: made.spec.forProvider.region } });
    expect(made.spec.providerConfigRef).toEqual({ kind: "ProviderConfig", name: "velero" });
    const dependsOn = (name: string) => named("tools", "Kustomization", name).spec.dependsOn;
    expect(dependsOn("velero")).toEqual([{ name: "velero-bucket" }]);
    expect(dependsOn("velero-bucket")).toEqual([{ name: "s3-buckets" }]);
  });

  test("is asked for in a namespace that stays, because Restores in it wait for a Velero that runs", () => {
    const { annotations } = named("velero-bucket", "Namespace", "velero").metadata as { annotations?: object };
    expect(annotations).toEqual({ "kustomize.toolkit.fluxcd.io/prune": "disabled" });
  });
});

describe("what Velero backs up every night", () => {
  const { template } = values.schedules.applications;

  test("is of the namespaces that are not the platform's, whatever their names", () => {
    const system = ["kube-node-lease", "kube-public", "kube-system"];
    expect(template.includedNamespaces).toEqual(["*"]);
    expect(template.excludedNamespaces).toEqual([...new Set([...platformNamespaces, ...system])].sort());
    expect(isPlatformNamespace(app.app)).toBe(false);
  });

  test.for(["secrets", "roles.rbac.authorization.k8s.io", "kustomizations.kustomize.toolkit.fluxcd.io", "jobs.batch"])(
    "has no %s",
    (kind) => expect(template.excludedNamespaceScopedResources).toContain(kind),
  );

  test("has claims of volumes, whose snapshots hang on them, and no definitions of kinds", () => {
    expect(template.excludedNamespaceScopedResources).not.toContain("persistentvolumeclaims");
    expect(template.excludedClusterScopedResources).not.toContain("persistentvolumes");
    expect(template.excludedClusterScopedResources).toContain("customresourcedefinitions.apiextensions.k8s.io");
    expect(values.configuration.defaultVolumeSnapshotLocations).toBe("aws:default");
  });
});

describe("Velero's pod", () => {
  test("has a user by number, as its namespace asks for, and no keys of AWS", () => {
    expect(values.podSecurityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532 });
    expect(values.credentials).toEqual({ useSecret: false });
    const [plugin] = values.initContainers;
    for (const context of [values.containerSecurityContext, plugin.securityContext])
      expect(context).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } });
  });
});

describe("Velero's role", () => {
  const may = rightsOf("velero");
  const object = (name: string) => `arn:aws:s3:::${name}/backups/nightly/velero-backup.json`;
  const ofCluster = (cluster: string, by: "Request" | "Resource") => ({ [`aws:${by}Tag/eks-cluster-name`]: cluster });
  const [own, other] = ["fleet-spoke-blue", "fleet-spoke-green"];
  const volume = arn("ec2", "volume/vol-1");
  const snapshot = "arn:aws:ec2:us-east-1::snapshot/snap-1";

  test.for([
    ...["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
    "s3:ListMultipartUploadParts",
  ])("may %s in the spoke's own bucket, and in no other", (action) => {
    expect(may(action, object(bucket), account)).toBe(true);
    expect(may(action, object(bucket), { "s3:ResourceAccount": "999999999999" })).toBe(false);
    expect(may(action, object(bucketName(other, "velero", "backups", "000000000000")), account)).toBe(false);
    expect(may(action, object(bucketName(own, "shop", "files", "000000000000")), account)).toBe(false);
  });

  test("may not delete versions, remove the bucket or share it", () => {
    for (const action of ["s3:DeleteObjectVersion", "s3:PutObjectAcl"])
      expect(may(action, object(bucket), account), action).toBe(false);
    for (const action of ["s3:DeleteBucket", "s3:PutBucketPolicy", "s3:PutLifecycleConfiguration"])
      expect(may(action, `arn:aws:s3:::${bucket}`, account), action).toBe(false);
    expect(may("s3:ListBucket", `arn:aws:s3:::${bucket}`, account)).toBe(true);
  });

  test("makes snapshots of the cluster's volumes, and volumes of its snapshots, and deletes no volume", () => {
    for (const [cluster, wanted] of [[own, true] as const, [other, false] as const]) {
      expect(may("ec2:CreateSnapshot", volume, ofCluster(cluster, "Resource"))).toBe(wanted);
      expect(may("ec2:CreateSnapshot", snapshot, ofCluster(cluster, "Request"))).toBe(wanted);
      expect(may("ec2:CreateVolume", snapshot, ofCluster(cluster, "Resource"))).toBe(wanted);
      expect(may("ec2:CreateVolume", volume, ofCluster(cluster, "Request"))).toBe(wanted);
      expect(may("ec2:DeleteSnapshot", snapshot, ofCluster(cluster, "Resource"))).toBe(wanted);
      expect(may("ec2:DeleteVolume", volume, ofCluster(cluster, "Resource"))).toBe(false);
    }
    expect(may("ec2:CreateTags", snapshot, { "ec2:CreateAction": "CreateSnapshot" })).toBe(true);
    expect(may("ec2:CreateTags", snapshot)).toBe(false);
    expect(may("ec2:ModifySnapshotAttribute", snapshot, ofCluster(own, "Resource"))).toBe(false);
  });
});
