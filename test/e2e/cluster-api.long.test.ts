import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { machineCidr, prepareAddons, rootAws } from "@eks-gitops-fleet/local/cli";
import {
  bareRepository,
  GIT_HOST,
  GIT_SSH_PORT,
  git as onBare,
  publish,
  registerDeployKeys,
} from "@eks-gitops-fleet/local/git";
import { clusterApiManifests } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { filesBelow } from "../../cli/render/files.ts";
import { fleetNames } from "../../lib/names.ts";
import { fillTemplate } from "../../lib/template.ts";
import { withSpec } from "../support/checkout.ts";
import { isMissing, isReady } from "../support/cluster.ts";
import {
  aws,
  eventually,
  execute,
  get,
  hub,
  instance,
  kubectl,
  outputs,
  pulumi,
  scratch,
  upWith,
} from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  BOOTSTRAP_SECONDS,
  clusterOf,
  fleet,
  getOnSpoke,
  REMOVAL_SECONDS,
  spoke,
  system,
  UPGRADE_SECONDS,
  untilGone,
  untilReady,
} from "./support/spokes.ts";

/**
 * Cluster API on the hub makes a cluster from charts/eks-cluster (docs/guides/cluster-api.md), and a Spoke joins it: upstream's controllers
 * in their pods, from upstream's manifests, with their own role.
 */

const NAME = "coral";
const cidr = "10.90.0.0/18";
const cluster = clusterOf(NAME);
const region = "us-east-1";
const group = `${cluster}-nodes`;
const folder = `spokes/fleet/${NAME}`;
const inClusters = ["--namespace", "cluster-api-clusters"];
const physical = fleetNames("fleet");
const charts = "charts/eks-cluster";
const sources = "platform/hub/cluster-api/sources.yaml";
const versions = "platform/hub/cluster-api/clusters/versions.yaml";

let repository: Checkout;

const documents = (path: string) =>
  parseAllDocuments(readFileSync(join(repository.folder, path), "utf8")).map((document) => document.toJS());

/** Puts upstream's manifests on the Git server under the tags that Git names, where Flux on the hub may read them. */
async function serveUpstream(): Promise<void> {
  const { deployPublicKeys } = await outputs();
  const found = documents(sources);
  for (const source of found) {
    const { name } = source.metadata;
    const copy = join(scratch, name);
    mkdirSync(copy);
    cpSync(clusterApiManifests()[name] ?? "", join(copy, "config"), { recursive: true });
    const bare = bareRepository(instance, name);
    publish(bare, copy, `config of ${name} ${source.spec.ref.tag}`);
    onBare(bare, ["tag", "--force", source.spec.ref.tag, "main"]);
    await registerDeployKeys(instance, [
      { repository: name, publicKey: deployPublicKeys["gitops-system"], access: "read" },
    ]);
    source.spec.url = `ssh://git@${GIT_HOST}:${GIT_SSH_PORT}/${name}.git`;
    source.spec.secretRef = { name: "gitops-system" };
    // Git names upstream's commit, which the copy has not.
    source.spec.ref.commit = onBare(bare, ["rev-parse", `${source.spec.ref.tag}^{commit}`]);
  }
  await repository.write(sources, ...found);
}

/** Lets the key go, as the guide says, and has the stack without Cluster API. */
async function withoutClusterApi(): Promise<void> {
  const { deployment } = JSON.parse(await pulumi(["stack", "export"]));
  const found = deployment.resources.filter(({ urn }: { urn: string }) => urn.endsWith("::cluster-api-key"));
  for (const { urn } of found) await pulumi(["state", "unprotect", "--yes", urn]);
  await pulumi(["up", "--yes", "--skip-preview", "--suppress-outputs"]);
}

/** As the guide says. */
async function addCluster(): Promise<void> {
  const options = ["--cidr", cidr, "--public-access-cidr", machineCidr];
  await addSpoke(repository, NAME, "dev", withSpec({ existing: { madeBy: "ClusterAPI" } }), options);
  const template = join(repository.folder, "templates", "cluster-api");
  const values = { name: NAME, fleet: "fleet", region, environment: "dev", cidr };
  for (const file of filesBelow(template)) {
    const target = file.replace(template, join(repository.folder, folder));
    mkdirSync(join(target, ".."), { recursive: true });
    writeFileSync(target, fillTemplate(readFileSync(file, "utf8"), values));
  }
  await setNodes({ min: 1, desired: 1, max: 3 });
}

const setNodes = (nodes: object) =>
  repository.edit(`${folder}/cluster/release.yaml`, (release) => {
    release.spec.values.machinePools.nodes = nodes;
    return release;
  });

const inEks = async (...args: string[]) =>
  JSON.parse(await aws(["eks", ...args, "--region", region, "--output", "json"]));
const nodegroup = async () =>
  (await inEks("describe-nodegroup", "--cluster-name", cluster, "--nodegroup-name", group)).nodegroup;

/** Tags of an Auto Scaling group, as root: the deployer may not look at them. */
async function scalingTags(name: string): Promise<object> {
  const { accessKeyId, secretAccessKey } = await (await rootAws(instance)).eks.config.credentials();
  const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  const args = ["autoscaling", "describe-auto-scaling-groups", "--auto-scaling-group-names", name, "--region", region];
  const program = join(instance.paths.bin, "aws");
  const { code, stdout, stderr } = await execute(program, [...args, "--output", "json"], { env });
  expect(code, stderr).toBe(0);
  const tags: { Key: string; Value: string }[] = JSON.parse(stdout).AutoScalingGroups[0].Tags;
  return Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]));
}

beforeAll(async () => {
  await prepareAddons(instance, ["cert_manager", "cluster_api"]);
  await upWith((config) => ({ ...config, clusterApi: true }));
  repository = await system();
  await serveUpstream();
  await repository.edit("clusters/fleet/kustomization.yaml", ({ resources, ...manifest }) => ({
    ...manifest,
    resources: [...resources, "../../platform/hub/cluster-api"],
  }));
  await repository.push("Let Cluster API make clusters");
  const step = ["kustomization", "cluster-api-clusters", "--namespace", "flux-system"];
  await eventually(BOOTSTRAP_SECONDS, async () => expect(isReady(await get(step))).toBe(true));
});
afterAll(async () => {
  if (repository !== undefined && existsSync(join(repository.folder, folder))) {
    await repository.remove(folder);
    await repository.push(`Remove spoke ${NAME}`);
    await untilGone(NAME, 2 * REMOVAL_SECONDS);
  }
  await repository?.restore();
  const first = ["kustomization", "cluster-api-cert-manager", "--namespace", "flux-system"];
  await eventually(2 * REMOVAL_SECONDS, async () => expect(await isMissing(hub, first)).toBe(true));
  await withoutClusterApi();
});

describe("a cluster that Cluster API makes", { timeout: 1_800_000 }, () => {
  test("comes up from a HelmRelease, and its Spoke is Ready as any other", async () => {
    await addCluster();
    await repository.push(`Add ${NAME} by Cluster API`);
    await untilReady(NAME, 3 * BOOTSTRAP_SECONDS);
    const made = (await inEks("describe-cluster", "--name", cluster)).cluster;
    expect(made).toMatchObject({
      status: "ACTIVE",
      accessConfig: { authenticationMode: "API" },
      tags: { "fleet.internal/fleet": "fleet", "fleet.internal/cluster": NAME },
    });
    expect(made.encryptionConfig[0].resources).toEqual(["secrets"]);
    const [scaling] = (await nodegroup()).resources.autoScalingGroups;
    // Cluster API's AWS provider gives it the chart's tags beside EKS's own.
    expect(await scalingTags(scaling.name)).toMatchObject({
      "eks:cluster-name": cluster,
      "fleet.internal/cluster": NAME,
      "fleet.internal/made-by": "cluster-api",
    });
    const { stdout } = await fleet(["list"]);
    expect(stdout).toContain(NAME);
  });

  test("stays while its Spoke is there: the hub refuses to delete its HelmRelease and its Cluster", async () => {
    for (const [kind, name, namespace] of [
      ["helmrelease", `cluster-${NAME}`, "flux-system"],
      ["clusters.cluster.x-k8s.io", cluster, "cluster-api-clusters"],
    ] as const)
      await expect(kubectl(["delete", kind, name, "--namespace", namespace, "--wait=false"])).rejects.toThrow(
        `belongs to the cluster of Spoke ${NAME}`,
      );
  });

  test("is changed by nobody but Cluster API: Crossplane only looks at it", async () => {
    const { items } = await get(["clusters.eks.aws.m.upbound.io,vpcs.ec2.aws.m.upbound.io", "--namespace", "spokes"]);
    const own = items.filter(({ metadata }: { metadata: { name: string } }) => metadata.name.startsWith(`${NAME}-`));
    expect(own).toHaveLength(2);
    for (const { spec } of own) expect(spec.managementPolicies).toEqual(["Observe"]);
  });

  test("has the number of nodes that its values say", async () => {
    await setNodes({ min: 1, desired: 2, max: 3 });
    await repository.push(`Give ${NAME} two nodes`);
    await eventually(BOOTSTRAP_SECONDS, async () => {
      expect((await nodegroup()).scalingConfig.desiredSize).toBe(2);
      expect((await getOnSpoke(NAME, ["nodes"])).items).toHaveLength(2);
    });
  });

  test("is upgraded by a version of the chart in dev, control plane and nodes; prod keeps the former", async () => {
    const [former, next] = ["1.0.0", "1.1.0"].map((version) => join(repository.folder, charts, version)) as [
      string,
      string,
    ];
    cpSync(former, next, { recursive: true });
    await repository.edit(`${charts}/1.1.0/Chart.yaml`, (chart) => ({ ...chart, version: "1.1.0" }));
    await repository.edit(`${charts}/1.1.0/values.yaml`, (values) => ({ ...values, kubernetesVersion: "1.36" }));
    const [dev, prod] = documents(versions);
    await repository.write(versions, { ...dev, data: { eks_cluster_version: "1.1.0" } }, prod);
    await repository.push("Raise the version of clusters in dev");
    await eventually(UPGRADE_SECONDS, async () =>
      expect((await spoke(NAME)).status).toMatchObject({ kubernetesVersion: "1.36", nodesKubernetesVersion: "1.36" }),
    );
    await untilReady(NAME);
    const map = ["configmap", "eks-cluster-prod", "--namespace", "flux-system"];
    expect((await get(map)).data).toEqual({ eks_cluster_version: "1.0.0" });
  });

  test("goes after its Spoke, and leaves nothing in AWS or on the hub", async () => {
    await repository.remove(folder);
    await repository.push(`Remove spoke ${NAME}`);
    await untilGone(NAME);
    await eventually(2 * REMOVAL_SECONDS, async () => {
      for (const suffix of ["", "-logs"])
        expect(await isMissing(hub, ["kustomization", `cluster-${NAME}${suffix}`, "--namespace", "flux-system"])).toBe(
          true,
        );
    });
    const kinds = [
      "clusters.cluster.x-k8s.io",
      "awsmanagedcontrolplanes",
      "machinepools.cluster.x-k8s.io",
      "awsmanagedmachinepools",
    ];
    expect((await get([kinds.join(","), ...inClusters])).items).toEqual([]);
    expect((await inEks("list-clusters")).clusters).not.toContain(cluster);
    const tagged = [
      "--region",
      region,
      "--output",
      "json",
      "--filters",
      `Name=tag:fleet.internal/cluster,Values=${NAME}`,
    ];
    for (const [call, member] of [
      ["describe-vpcs", "Vpcs"],
      ["describe-security-groups", "SecurityGroups"],
      ["describe-addresses", "Addresses"],
    ] as const)
      expect(JSON.parse(await aws(["ec2", call, ...tagged]))[member], call).toEqual([]);
    const { Roles: roles } = JSON.parse(await aws(["iam", "list-roles", "--output", "json"]));
    const names = roles.map(({ RoleName }: { RoleName: string }) => RoleName);
    expect(names.filter((name: string) => name.startsWith(`${cluster}-`))).toEqual([]);
    expect(names).toContain(physical.clusterApiRole);
  });

  test("leaves nothing when it is turned off", async () => {
    await repository.restore();
    const first = ["kustomization", "cluster-api-cert-manager", "--namespace", "flux-system"];
    await eventually(2 * REMOVAL_SECONDS, async () => expect(await isMissing(hub, first)).toBe(true));
    const crds = await kubectl(["get", "crds", "--output", "name"]);
    expect(crds).not.toMatch(/cluster\.x-k8s\.io|cert-manager\.io/);
    for (const namespace of ["capi-system", "capa-system", "cert-manager", "cluster-api-clusters"])
      expect(await isMissing(hub, ["namespace", namespace]), namespace).toBe(true);
    await withoutClusterApi();
    const { Roles: roles } = JSON.parse(await aws(["iam", "list-roles", "--output", "json"]));
    expect(roles.map(({ RoleName }: { RoleName: string }) => RoleName)).not.toContain(physical.clusterApiRole);
  });
});
