import { existsSync } from "node:fs";
import { join } from "node:path";
import { DescribeNetworkInterfacesCommand, DescribeSecurityGroupsCommand, EC2Client } from "@aws-sdk/client-ec2";
import {
  DescribeLoadBalancersCommand,
  DescribeTargetGroupsCommand,
  DescribeTargetHealthCommand,
  ElasticLoadBalancingV2Client,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { doorsOf, prepareAddons } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withSpec } from "../support/checkout.ts";
import { isReady } from "../support/cluster.ts";
import { APP, appFolder, fetchNow, manifests, onboard, untilHealthy } from "./support/apps.ts";
import { account, eventually, instance } from "./support/fleet.ts";
import { type HostedZone, hostedZone } from "./support/hosted-zone.ts";
import { spokeInventory } from "./support/inventory.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  clusterOf,
  getOnSpoke,
  onSpoke,
  removeSpoke,
  system,
  tryOnSpoke,
  untilReady,
  workloads,
} from "./support/spokes.ts";

/** A way in from the internet (docs/guides/networks.md#load-balancers): the real controller in its pods, with its chart and role, makes it. */

const name = "coral"; // environment dev
const CLUSTER = clusterOf(name);
const addons = ["aws_load_balancer_controller", "external_dns"] as const;
const domain = "coral.example.com";
const host = `payments.${domain}`;
const config = { region: "us-east-1", endpoint: instance.awsEndpoint, credentials: account.sts.config.credentials };
const ec2 = new EC2Client(config);
const elb = new ElasticLoadBalancingV2Client(config);

let repository: Checkout;
let team: Checkout;
let zone: HostedZone;

const door = async () => (await doorsOf(instance)).find((each) => each.cluster === CLUSTER);
/** The status and the answer to GET /api/info by the load balancer. */
async function ask(): Promise<{ status: number; message?: string }> {
  const found = await door();
  if (found === undefined) return { status: 0 };
  const answer = await fetch(`${found.url}/api/info`, { signal: AbortSignal.timeout(30_000) });
  return { status: answer.status, ...(answer.ok ? ((await answer.json()) as { message: string }) : {}) };
}
const balancers = async () => (await elb.send(new DescribeLoadBalancersCommand({}))).LoadBalancers ?? [];
const targetGroups = async () => (await elb.send(new DescribeTargetGroupsCommand({}))).TargetGroups ?? [];
const health = async () => {
  const [{ TargetGroupArn } = { TargetGroupArn: "" }] = await targetGroups();
  const found = await elb.send(new DescribeTargetHealthCommand({ TargetGroupArn }));
  return (found.TargetHealthDescriptions ?? []).map(({ TargetHealth }) => TargetHealth?.State);
};
const groupsOfController = async () => {
  const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({}));
  return SecurityGroups.filter(({ Tags = [] }) =>
    Tags.some(({ Key, Value }) => Key === "elbv2.k8s.aws/cluster" && Value === CLUSTER),
  );
};
const inFlux = (step: string) => ["kustomizations.kustomize.toolkit.fluxcd.io", step, "--namespace", "flux-system"];

beforeAll(async () => {
  await prepareAddons(instance, addons);
  zone = await hostedZone(domain);
  repository = await system();
  await addSpoke(repository, name, "dev", withSpec({ addons: [...addons] }));
  await repository.push(`Add spoke ${name} with a load balancer controller`);
  await untilReady(name, 900);
  await eventually(300, async () => {
    for (const addon of addons) {
      const step = addon.replaceAll("_", "-");
      expect(isReady(await getOnSpoke(name, inFlux(step))), step).toBe(true);
    }
  });
  team = await manifests();
  await onboard(name, "dev", ["--path", "./overlays/dev-door"]);
  await untilHealthy(name);
});
afterAll(async () => {
  const governance = await workloads();
  if (existsSync(join(governance.folder, appFolder(name)))) {
    await governance.remove(appFolder(name));
    await governance.push(`Remove ${APP} from ${name}`);
  }
  if (existsSync(join(repository.folder, `spokes/fleet/${name}`))) {
    await removeSpoke(repository, name);
  }
  await team.restore();
  await zone.remove();
});

describe("an Ingress of an application", () => {
  test("is a load balancer in the spoke's public subnets, whose URL answers with the application", async () => {
    await eventually(300, async () => expect(await ask()).toMatchObject({ status: 200 }));
    expect((await ask()).message).toContain(`payments on ${name} (dev)`);
    const [balancer, ...others] = await balancers();
    expect(others).toEqual([]);
    const { status } = await getOnSpoke(name, ["ingress", APP, "--namespace", APP]);
    expect(status.loadBalancer.ingress).toMatchObject([{ hostname: balancer?.DNSName }]);
    expect(await health()).toEqual(["healthy"]);
  });

  test("is admitted by the application's NetworkPolicy for those subnets, and by no other", async () => {
    const { data } = await getOnSpoke(name, ["configmap", "cluster-info", "--namespace", "flux-system"]);
    const { NetworkInterfaces = [] } = await ec2.send(new DescribeNetworkInterfacesCommand({}));
    const own = NetworkInterfaces.filter(({ RequesterId }) => RequesterId === "amazon-elb");
    expect(own).toHaveLength(data.load_balancer_cidrs.split(",").length);
    const policy = await getOnSpoke(name, ["networkpolicy", "allow-load-balancers", "--namespace", APP]);
    const cidrs = policy.spec.ingress[0].from.map(({ ipBlock }: { ipBlock: { cidr: string } }) => ipBlock.cidr);
    expect(cidrs.join(",")).toBe(data.load_balancer_cidrs);
    // Flux puts it back at its next look, which is minutes away.
    await onSpoke(name, ["delete", "networkpolicy", "allow-load-balancers", "--namespace", APP]);
    await eventually(120, async () => expect(await ask()).toEqual({ status: 504 }));
    await eventually(120, async () => expect(await health()).toEqual(["unhealthy"]));
    await fetchNow(name, "gitops-workloads", "flux-system");
    await onSpoke(name, [
      "annotate",
      ...inFlux("workloads"),
      "--overwrite",
      `reconcile.fluxcd.io/requestedAt=${Date.now()}`,
    ]);
    await eventually(300, async () => expect(await ask()).toMatchObject({ status: 200 }));
  });

  test("gets the name that its team gives it, answers under that name alone, and gives it back", async () => {
    await team.edit("door/ingress.yaml", ({ spec, ...ingress }) => ({
      ...ingress,
      spec: { ...spec, rules: [{ host, ...spec.rules[0] }] },
    }));
    await team.push(`Call the application ${host}`);
    await fetchNow(name);
    await eventually(300, async () => expect(await zone.records()).toContain(`${host}. A`));
    await eventually(120, async () => expect(await ask()).toEqual({ status: 404 }));
    await team.restore();
    await fetchNow(name);
    await eventually(300, async () => expect(await zone.records()).toEqual([]));
    await eventually(120, async () => expect(await ask()).toMatchObject({ status: 200 }));
  });

  test("may not join another's load balancer", async () => {
    const patch = { metadata: { annotations: { "alb.ingress.kubernetes.io/group.name": "shared" } } };
    const args = ["patch", "ingress", APP, "--namespace", APP, "--type=merge", "--patch", JSON.stringify(patch)];
    const { code, stderr } = await tryOnSpoke(name, args);
    expect(code).not.toBe(0);
    expect(stderr).toContain("may not have the annotation alb.ingress.kubernetes.io/group.name");
  });
});

describe("the end", () => {
  test("of the spoke takes the load balancer and its security groups along, before the network", async () => {
    expect(await groupsOfController()).not.toEqual([]);
    await removeSpoke(repository, name);
    expect([await balancers(), await targetGroups(), await groupsOfController()]).toEqual([[], [], []]);
    expect(await doorsOf(instance)).toEqual([]);
    expect(await spokeInventory("fleet", name)).toEqual([]);
  }, 1_800_000);
});
