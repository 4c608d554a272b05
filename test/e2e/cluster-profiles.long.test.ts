import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { deployerArn, GO_ENVIRONMENT, machineCidr } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { withSpec } from "../support/checkout.ts";
import { isMissing } from "../support/cluster.ts";
import { succeed } from "../support/process.ts";
import { eventually, execute, get, hub, instance, root, scratch, secretData, tryKubectl } from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import {
  addSpoke,
  clusterOf,
  getOnSpoke,
  spoke,
  system,
  untilGone,
  untilReady,
  untilVersion,
} from "./support/spokes.ts";

/** ClusterProfiles of the hub and a spoke, kept by the program in its pod (docs/guides/cluster-api.md#clusterprofiles). */

const name = "teal"; // environment dev
const namespace = "cluster-inventory";
const inInventory = ["--namespace", namespace];
const hubFile = join("clusters", "fleet", "kustomization.yaml");
const spokeFile = `spokes/fleet/${name}/spoke.yaml`;
const folder = "../../platform/hub/cluster-inventory";
const account = `system:serviceaccount:${namespace}:${namespace}`;
const [before, after] = ["1.35", "1.36"] as const;
/** Seconds until a commit has reached a profile, on a machine that is busy. */
const SECONDS = 300;
/** Longer than the program takes from one look to the next. */
const LOOK_MS = 70_000;

let repository: Checkout;
let consumer = "";

const profile = (of: string): Promise<Editable> => get(["clusterprofile", of, ...inInventory]);
const conditionsOf = ({ status }: Editable): Record<string, string> =>
  Object.fromEntries((status?.conditions ?? []).map((each: Editable) => [each.type, each.status]));
const propertiesOf = ({ status }: Editable): Record<string, string> =>
  Object.fromEntries((status?.properties ?? []).map((each: Editable) => [each.name, each.value]));
const editSpec = (change: object) => repository.edit(spokeFile, withSpec(change));

const setResources = (change: (resources: readonly string[]) => readonly string[]) =>
  repository.edit(hubFile, (object) => ({ ...object, resources: change(object.resources) }));

/** The consumer that upstream has as an example. */
async function buildConsumer(): Promise<string> {
  const program = join(scratch, "consumer");
  const source = "sigs.k8s.io/cluster-inventory-api/examples/controller-example";
  await succeed("go", ["build", "-o", program, source], {
    cwd: join(root, "test", "e2e", "support", "inventory-consumer"),
    env: GO_ENVIRONMENT,
  });
  return program;
}

/** The file of the guide that tells a consumer how to make a token. */
function providerFile(): string {
  const guide = readFileSync(join(root, "docs", "guides", "cluster-api.md"), "utf8");
  const [, text = ""] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
  const file = join(scratch, "providers.json");
  writeFileSync(file, JSON.stringify(JSON.parse(text)));
  return file;
}

beforeAll(async () => {
  consumer = await buildConsumer();
  repository = await system();
  await setResources((resources) => [...resources, folder]);
  const older = (object: Editable) => ({ ...object, spec: { ...object.spec, kubernetesVersion: before } });
  await addSpoke(repository, name, "dev", older, ["--admin", deployerArn, "--public-access-cidr", machineCidr]);
  await repository.push(`Turn on the cluster inventory, and add spoke ${name}`);
});
afterAll(async () => {
  await repository?.restore();
  await untilGone(name);
  await eventually(SECONDS, async () => expect(await isMissing(hub, ["namespace", namespace])).toBe(true));
});

// Each wait has a limit of its own.
describe("the cluster inventory", { timeout: 2_400_000 }, () => {
  test("has the hub, with the facts of its bridge", async () => {
    await eventually(SECONDS, async () => {
      expect(conditionsOf(await profile("hub"))).toEqual({ ControlPlaneHealthy: "True", Joined: "True" });
    });
    const found = await profile("hub");
    const bridge = await secretData("flux-system", "cluster-hub");
    expect(found.metadata.labels).toMatchObject({ "fleet.internal/role": "hub" });
    expect(found.status.version).toEqual({ kubernetes: bridge["kubernetes_version"] });
    expect(propertiesOf(found)).toMatchObject({
      location: bridge["aws_region"],
      "fleet.internal/cluster_arn": bridge["cluster_arn"],
    });
    const config = parse(readFileSync(instance.paths.kubeconfig, "utf8"));
    const current = config.contexts.find(({ name: each }: Editable) => each === config["current-context"]);
    const known = config.clusters.find(({ name: each }: Editable) => each === current.context.cluster);
    const [{ cluster }] = found.status.accessProviders;
    expect(atob(cluster["certificate-authority-data"]).trim()).toBe(
      atob(known.cluster["certificate-authority-data"]).trim(),
    );
  });

  test("has a spoke before it works, and says so", async () => {
    await eventually(SECONDS, async () => {
      expect((await profile(name)).metadata.labels).toMatchObject({ "fleet.internal/tenant": "payments" });
    });
    await untilReady(name);
    await eventually(SECONDS, async () => {
      expect(conditionsOf(await profile(name))).toEqual({ ControlPlaneHealthy: "True", Joined: "True" });
    });
    const found = await profile(name);
    const bridge = await secretData("spokes", `cluster-${name}`);
    expect(found.spec.clusterManager).toEqual({ name: "eks-gitops-fleet-fleet" });
    expect(found.status.version).toEqual({ kubernetes: before });
    for (const [property, value] of Object.entries(propertiesOf(found)))
      expect(value, property).toBe(bridge[property === "location" ? "aws_region" : property.replace(/.*\//, "")]);
    const { status } = await spoke(name);
    expect(found.status.accessProviders).toMatchObject([{ name: "eks", cluster: { server: status.cluster.endpoint } }]);
    expect(JSON.stringify(found)).not.toMatch(/eyJ[\w-]+\.eyJ|k8s-aws-v1\.|PRIVATE KEY/);
  });

  test("lets upstream's consumer reach the spoke, with a token that the AWS CLI makes", async () => {
    const args = ["-namespace", namespace, "-clusterprofile", name, "-clusterprofile-provider-file", providerFile()];
    const env = {
      KUBECONFIG: instance.paths.kubeconfig,
      PATH: [instance.paths.bin, process.env["PATH"]].join(delimiter),
    };
    const { code, stdout, stderr } = await execute(consumer, args, { env });
    expect(code, stdout + stderr).toBe(0);
    const { items } = await getOnSpoke(name, ["pods", "--namespace", "flux-system"]);
    expect(items.length).toBeGreaterThan(0);
    for (const { metadata } of items) expect(stdout + stderr).toContain(`pod: flux-system/${metadata.name}`);
  });

  test("is not written while nothing changes", async () => {
    const versions = async () => {
      const { items } = await get(["clusterprofiles", ...inInventory]);
      return items.map(({ metadata }: Editable) => [metadata.name, metadata.resourceVersion]);
    };
    const first = await versions();
    await sleep(LOOK_MS);
    expect(await versions()).toEqual(first);
  });

  test("is written by a program that may do nothing else", async () => {
    const may = async (...question: string[]) =>
      (await tryKubectl(["auth", "can-i", ...question, "--as", account])).stdout.trim();
    expect(await may("list", "spokes.fleet.internal", "--namespace", "spokes")).toBe("yes");
    expect(await may("patch", "clusterprofiles.multicluster.x-k8s.io", "--subresource=status", ...inInventory)).toBe(
      "yes",
    );
    for (const question of [
      ["patch", "spokes.fleet.internal", "--namespace", "spokes"],
      ["get", "secrets", "--namespace", "spokes"],
      ["get", "configmaps", "--namespace", "spokes"],
      ["get", "secrets", ...inInventory],
      ["create", "pods", ...inInventory],
      ["patch", "clusterprofiles.multicluster.x-k8s.io", "--namespace", "spokes"],
      ["list", "clusterprofiles.multicluster.x-k8s.io", "--all-namespaces"],
      ["*", "*", "--all-namespaces"],
    ])
      expect(await may(...question), question.join(" ")).toBe("no");
  });

  test("follows another team and an upgrade of the spoke", async () => {
    await editSpec({ tenant: "search" });
    await repository.push(`Give ${name} to another team`);
    await eventually(SECONDS, async () => {
      expect((await profile(name)).metadata.labels).toMatchObject({ "fleet.internal/tenant": "search" });
    });
    await editSpec({ kubernetesVersion: after });
    await repository.push(`Upgrade ${name} to ${after}`);
    await untilVersion(name, after);
    await eventually(SECONDS, async () => {
      const found = await profile(name);
      expect(found.status.version).toEqual({ kubernetes: after });
      expect(conditionsOf(found)).toEqual({ ControlPlaneHealthy: "True", Joined: "True" });
    });
  });

  test("says of a spoke that it is being removed, and has it no more when it is gone", async () => {
    await repository.remove(`spokes/fleet/${name}`);
    await repository.push(`Remove spoke ${name}`);
    await eventually(SECONDS, async () => expect(conditionsOf(await profile(name))).toMatchObject({ Joined: "False" }));
    await untilGone(name);
    await eventually(SECONDS, async () => {
      const { items } = await get(["clusterprofiles", ...inInventory]);
      expect(items.map(({ metadata }: Editable) => metadata.name)).not.toContain(name);
      expect(items.map(({ metadata }: Editable) => metadata.name)).toContain("hub");
    });
    expect(propertiesOf(await profile("hub"))["fleet.internal/aws_cluster_name"]).not.toBe(clusterOf(name));
  });

  test("leaves nothing when it is turned off", async () => {
    await setResources((resources) => resources.filter((each) => each !== folder));
    await repository.push("Turn off the cluster inventory");
    const inFlux = ["--namespace", "flux-system"];
    await eventually(SECONDS, async () => {
      for (const left of [
        ["kustomization", namespace, ...inFlux],
        ["artifactgenerator", "hub-cluster-inventory", ...inFlux],
        ["externalartifact", "hub-cluster-inventory", ...inFlux],
        ["namespace", namespace],
        ["role", namespace, "--namespace", "spokes"],
        ["rolebinding", namespace, "--namespace", "spokes"],
        ["crd", "clusterprofiles.multicluster.x-k8s.io"],
        ["clusterprofiles.multicluster.x-k8s.io", "--all-namespaces"],
      ])
        expect(await isMissing(hub, left), left.join(" ")).toBe(true);
    });
  });
});
