import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtHelm } from "@eks-gitops-fleet/local/toolchain";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { helmProgram } from "../../cli/diff/charts.ts";
import { eksAddons } from "../../functions/spoke/api.ts";
import { at } from "../../functions/spoke/kube.ts";
import { clusterApiMaker, madeByTag } from "../../lib/labels.ts";
import { spokeNames } from "../../lib/spoke.ts";
import { hub, settings, spoke } from "../functions/spoke/support/fixtures.ts";
import { settled } from "../functions/spoke/support/world.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { hasDefinitions, violations } from "./support/cluster-api.ts";
import type { Manifest } from "./support/kustomize.ts";
import { system } from "./support/spoke.ts";

/** charts/eks-cluster as helm renders it, beside what the Composition makes of a Spoke. */

const versions = join(system, "charts/eks-cluster");
const charts = readdirSync(versions, { withFileTypes: true }).filter((entry) => entry.isDirectory());

const { helm = await builtHelm() } = helmProgram();

const scratch = temporaryFolder("fleet-eks-cluster");
const { accountId, partition, region } = hub.aws;
const names = spokeNames(hub.spokePrefix, "blue", true);
const network = { cidr: "10.64.0.0/18" };
const values = {
  cluster: { fleet: hub.fleet, name: "blue", environment: "dev", accountId, partition },
  region,
  network,
  endpoint: { publicAccessCidrs: hub.hubEgressCidrs },
  encryptionKeyArn: `arn:aws:kms:${region}:${accountId}:key/0f0e0d0c-1111-2222-3333-444455556666`,
  controllerRoleArn: `arn:aws:iam::${accountId}:role/fleet-hub-cluster-api`,
  permissionsBoundaryArn: hub.permissionsBoundaryArn,
};

function template(version: string, change: object = {}): { readonly objects: Manifest[]; readonly stderr: string } {
  const file = join(scratch, "values.yaml");
  writeFileSync(file, stringify({ ...values, ...change }));
  const args = ["template", "blue", join(versions, version), "--namespace", "cluster-api-clusters", "--values", file];
  const { stdout, stderr, status } = spawnSync(helm ?? "helm", args, { encoding: "utf8" });
  const documents = status === 0 ? parseAllDocuments(stdout).map((document) => document.toJS()) : [];
  return { objects: documents.filter((object) => object !== null), stderr };
}

/** The specification of the only object of a kind, or of the one with this name. */
function specOf(objects: readonly Manifest[], kind: string, name = names.cluster) {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  expect(found, `${kind} ${name}`).toHaveLength(1);
  return found[0]?.spec;
}

/** What Crossplane requests of AWS for a resource of the same cluster. */
const world = settled(spoke({ network }), { settings: settings() });
const requested = (resource: string) => at(world.object(resource).spec, "forProvider") as Record<string, unknown>;
const tagsOf = (resource: string) => requested(resource)["tags"] as Record<string, string>;

test.each(charts)("version $name of the chart has the number of its folder", ({ name }) => {
  expect(parse(readFileSync(join(versions, name, "Chart.yaml"), "utf8")).version).toBe(name);
});

test.each(charts)(
  "version $name has the add-ons of a Spoke, for a Kubernetes version of the Composition",
  ({ name }) => {
    const { kubernetesVersion, addons } = parse(readFileSync(join(versions, name, "values.yaml"), "utf8"));
    expect(Object.keys(settings().kubernetesVersions)).toContain(kubernetesVersion);
    expect(addons.map((addon: { name: string }) => addon.name)).toEqual(eksAddons);
  },
);

// Skipped without a helm on PATH or in the toolchain's cache.
describe.skipIf(helm === undefined).each(charts)("a cluster of version $name", ({ name: version }) => {
  test.skipIf(!hasDefinitions)(
    "is what Cluster API 1.12.0 and its AWS provider 2.11.1 accept (skipped without their sources)",
    () => {
      const { objects, stderr } = template(version, {
        accessEntries: [
          { principalArn: `arn:aws:iam::${accountId}:role/ops`, policies: ["AmazonEKSViewPolicy"] },
          { principalArn: `arn:aws:iam::${accountId}:role/dev`, kubernetesGroups: ["developers"] },
        ],
        machinePools: { nodes: {}, batch: { capacityType: "spot", min: 1, desired: 1, max: 9 } },
      });
      expect(stderr).toBe("");
      expect(objects.map(({ kind }) => kind).sort()).toEqual([
        ...["AWSManagedCluster", "AWSManagedControlPlane", "AWSManagedMachinePool"],
        ...["AWSManagedMachinePool", "Cluster", "MachinePool", "MachinePool"],
      ]);
      expect(violations(objects)).toEqual([]);
      const [broken] = objects.map((object) => ({ ...object, spec: { ...object.spec, regoin: region } }));
      expect(violations(broken ? [broken] : [])).not.toEqual([]);
    },
    // Compiles large schemas.
    60_000,
  );

  test("has the names by which its Spoke, its boundaries and its roles know it", () => {
    const { objects } = template(version);
    const controlPlane = specOf(objects, "AWSManagedControlPlane");
    expect(controlPlane).toMatchObject({ eksClusterName: names.cluster, roleName: names.clusterRole });
    expect(specOf(objects, "AWSManagedMachinePool", names.nodeGroup)).toMatchObject({
      eksNodegroupName: names.nodeGroup,
      roleName: names.nodeRole,
    });
    const [driver] = controlPlane.addons.filter(({ name }: { name: string }) => name === "aws-ebs-csi-driver");
    expect(driver.serviceAccountRoleARN).toBe(
      `arn:aws:iam::${accountId}:role/${names.identityRole("aws_ebs_csi_driver")}`,
    );
  });

  test("gives its roles a path, and knows the Spoke's by it", () => {
    const { objects, stderr } = template(version, { rolePath: "/company/teams/" });
    expect(stderr).toBe("");
    const controlPlane = specOf(objects, "AWSManagedControlPlane");
    for (const spec of [controlPlane, specOf(objects, "AWSManagedMachinePool", names.nodeGroup)])
      expect(spec.rolePath).toBe("/company/teams/");
    expect(controlPlane.addons.map((addon: object) => Object(addon).serviceAccountRoleARN).filter(Boolean)).toEqual([
      `arn:aws:iam::${accountId}:role/company/teams/${names.identityRole("aws_ebs_csi_driver")}`,
    ]);
    for (const { spec } of template(version).objects) expect(spec).not.toHaveProperty("rolePath");
  });

  test("has the baseline of a cluster that Crossplane makes", () => {
    const controlPlane = specOf(template(version).objects, "AWSManagedControlPlane");
    const cluster = requested("cluster");
    expect(controlPlane.accessConfig).toEqual({
      authenticationMode: String(at(cluster["accessConfig"], "authenticationMode")).toLowerCase(),
      bootstrapClusterCreatorAdminPermissions: at(cluster["accessConfig"], "bootstrapClusterCreatorAdminPermissions"),
    });
    expect(controlPlane.bootstrapSelfManagedAddons).toBe(cluster["bootstrapSelfManagedAddons"]);
    expect(controlPlane.upgradePolicy).toBe(String(at(cluster["upgradePolicy"], "supportType")).toLowerCase());
    expect(controlPlane.encryptionConfig.resources).toEqual(at(cluster["encryptionConfig"], "resources"));
    expect(controlPlane.endpointAccess).toEqual({
      private: at(cluster["vpcConfig"], "endpointPrivateAccess"),
      public: at(cluster["vpcConfig"], "endpointPublicAccess"),
      publicCIDRs: at(cluster["vpcConfig"], "publicAccessCidrs"),
    });
    // What the provider calls the log of the API server is called api by EKS.
    const logs = Object.entries(controlPlane.logging).flatMap(([name, on]) => (on ? [name] : []));
    expect(logs.sort()).toEqual([...(cluster["enabledClusterLogTypes"] as string[])].sort());
    // What the add-ons create has the tag without which the boundary of its nodes denies them everything of the fleet.
    const withMaker = (json: string) =>
      json.replaceAll(/(\\?")fleet\.internal\/fleet\\?":/g, `$1fleet.internal/made-by$1:$1${clusterApiMaker}$1,$&`);
    for (const { name, configuration } of controlPlane.addons) {
      const { configurationValues: own } = requested(`addon-${name}`);
      expect(configuration, name).toBe(sorted(typeof own === "string" ? withMaker(own) : own));
    }
  });

  test("lets in Cluster API's AWS provider as an administrator, and whom the values name", () => {
    const principalArn = `arn:aws:iam::${accountId}:role/ops`;
    const { objects } = template(version, { accessEntries: [{ principalArn, policies: ["AmazonEKSViewPolicy"] }] });
    const policy = (name: string) => ({
      policyARN: `arn:aws:eks::aws:cluster-access-policy/${name}`,
      accessScope: { type: "cluster" },
    });
    expect(specOf(objects, "AWSManagedControlPlane").accessEntries).toEqual([
      { principalARN: values.controllerRoleArn, accessPolicies: [policy("AmazonEKSClusterAdminPolicy")] },
      { principalARN: principalArn, accessPolicies: [policy("AmazonEKSViewPolicy")] },
    ]);
  });

  test("carries the fleet's tags, and those by which the boundary and the provider's own rights know it", () => {
    const { objects } = template(version, { tags: { team: "platform" } });
    expect(specOf(objects, "AWSManagedControlPlane").additionalTags).toEqual({
      ...tagsOf("cluster"),
      team: "platform",
      "fleet.internal/identity": tagsOf("role-cluster")["fleet.internal/identity"],
      [madeByTag]: clusterApiMaker,
    });
    expect(specOf(objects, "AWSManagedMachinePool", names.nodeGroup).additionalTags).toEqual({
      ...tagsOf("cluster"),
      team: "platform",
      "fleet.internal/identity": tagsOf("role-node")["fleet.internal/identity"],
      [madeByTag]: clusterApiMaker,
    });
  });

  test("admits the networks that the bridge names, with commas between them", () => {
    const publicAccessCidrs = "198.51.100.7/32,203.0.113.0/24";
    const { objects, stderr } = template(version, { endpoint: { publicAccessCidrs } });
    expect(stderr).toBe("");
    expect(specOf(objects, "AWSManagedControlPlane").endpointAccess.publicCIDRs).toEqual(publicAccessCidrs.split(","));
  });

  test("runs one Kubernetes version in control plane and nodes", () => {
    const { objects } = template(version, { kubernetesVersion: "1.35" });
    expect(specOf(objects, "AWSManagedControlPlane").version).toBe("v1.35.0");
    expect(specOf(objects, "MachinePool", names.nodeGroup).template.spec.version).toBe("v1.35.0");
  });

  test.each([
    ["an endpoint that is open to nobody", { endpoint: { publicAccessCidrs: [] } }, /minItems|publicAccessCidrs/],
    ["an endpoint that is open to everybody", { endpoint: { publicAccessCidrs: ["0.0.0.0/0"] } }, /publicAccessCidrs/],
    ["a bridge without addresses of the hub", { endpoint: { publicAccessCidrs: "" } }, /publicAccessCidrs/],
    ["everybody beside the hub", { endpoint: { publicAccessCidrs: "203.0.113.0/24,0.0.0.0/0" } }, /publicAccessCidrs/],
    ["no encryption", { encryptionKeyArn: null }, /encryptionKeyArn/],
    ["roles without a boundary", { permissionsBoundaryArn: null }, /permissionsBoundaryArn/],
    [
      "more nodes than it may have",
      { machinePools: { nodes: { desired: 9 } } },
      /min <= desired <= max; got 2, 9 and 4/,
    ],
    ["a tag of the fleet", { tags: { "fleet.internal/fleet": "other" } }, /fleet\.internal\/fleet/],
    [
      "a name too long for its roles",
      { cluster: { ...values.cluster, name: "b".repeat(40) } },
      /at most 38 characters/,
    ],
    [
      "a partition for which the provider has no policies of nodes",
      { cluster: { ...values.cluster, partition: "aws-cn" } },
      /partition/,
    ],
    ["a misspelled value", { machinePool: {} }, /machinePool/],
  ])("is refused with %s", (_, change, message) => {
    const { objects, stderr } = template(version, change);
    expect(objects).toEqual([]);
    expect(stderr).toMatch(message);
  });
});

/** JSON with its members in helm's order, which is the alphabet's; text that is JSON itself included. */
function sorted(json: unknown): string | undefined {
  if (typeof json !== "string") return undefined;
  const inOrder = (_: string, value: unknown): unknown => {
    if (typeof value === "string" && value.startsWith("{")) return sorted(value);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return JSON.stringify(JSON.parse(json), inOrder);
}
