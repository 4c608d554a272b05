import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { run } from "../../../cli/costs/command.ts";
import { costsOf, rowOf } from "../../../cli/costs/rows.ts";
import { hubShape, spokeShape } from "../../../cli/costs/shapes.ts";
import { tableOf } from "../../../cli/costs/table.ts";
import type { NatGateways } from "../../../functions/spoke/api.ts";
import type { Readable } from "../../../infra/settings.ts";
import { clusterCost } from "../../../lib/costs/cluster.ts";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";
import { rejectsLines } from "../support/wrong-lines.ts";

let at: SpokesCheckout;
beforeEach(() => {
  at = new SpokesCheckout();
});
afterEach(() => at.remove());

async function costs(...argv: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    expect(await run([...argv, "--repository", at.system])).toBe(0);
    return write.mock.calls.map(([part]) => String(part)).join("");
  } finally {
    write.mockRestore();
  }
}

const add = (name: string, more: string, fleet = "fleet") =>
  at.write(`spokes/${fleet}/${name}/spoke.yaml`, spokeText(name, more));

describe("fleet costs", () => {
  test("shows each spoke with the Spoke API's defaults, and sums by environment and tenant", async () => {
    add(
      "pink",
      "  network:\n    natGateways: none\n  nodes:\n    instanceTypes: [m5.xlarge]\n    min: 1\n    desired: 1\n    max: 3\n",
    );
    at.write("spokes/fleet/pink/spoke.yaml", at.read("spokes/fleet/pink/spoke.yaml").replace("payments", "shop"));
    expect(await costs()).toBe(`NAME  ENVIRONMENT  TENANT    REGION     NODES                 USD A MONTH  RANGE
blue  dev          payments  eu-west-1  2 (2 to 4) m6i.large  278          278 to 443
pink  dev          shop      eu-west-1  1 (1 to 3) m5.xlarge  238          238 to 567

ENVIRONMENT  CLUSTERS  USD A MONTH  RANGE
dev          2         516          516 to 1,010

TENANT    CLUSTERS  USD A MONTH  RANGE
payments  1         278          278 to 443
shop      1         238          238 to 567
total     2         516          516 to 1,010

worked out from the price of the family's xlarge: m6i.large in eu-west-1
list prices on demand, without traffic, logs and what applications order
prices as published by pipetail/cloudlint 2020-05-02, jimgarrett123/rosa-calculator 2023-02-20, AWS's pages of prices 2026-09-20
`);
  });

  test("counts every group of a spoke that has several, those of Bottlerocket with the volume of the system", async () => {
    add(
      "pink",
      "  nodeGroups:\n    - name: nodes\n    - name: batch\n      instanceTypes: [m5.xlarge]\n      amiFamily: Bottlerocket\n" +
        "      min: 1\n      desired: 1\n      max: 1\n",
    );
    expect(await costs()).toMatch(/^pink .* 2 \(2 to 4\) m6i\.large, 1 m5\.xlarge +\d+ +\d+ to \d+$/m);
    const { clusters } = JSON.parse(await costs("-o", "json"));
    const [blue, pink] = clusters;
    expect(pink).toMatchObject({
      nodes: { min: 3, desired: 3, max: 5 },
      nodeGroups: [{ instanceType: "m6i.large" }, { instanceType: "m5.xlarge", min: 1, desired: 1, max: 1 }],
    });
    expect(pink).not.toHaveProperty("instanceType");
    expect(blue).not.toHaveProperty("nodeGroups");
    expect(pink.items.volumes.usual - blue.items.volumes.usual).toBeCloseTo(54 * 0.088);
  });

  test("names the prices that it does not know, and says of sums without them what they are at least", async () => {
    add("pink", "  nodes:\n    instanceTypes: [m9x.large]\n");
    const said = await costs();
    expect(said).toMatch(/^pink .* ≥ 121 +-$/m);
    expect(said).toMatch(/^blue .* 278 +278 to 443$/m);
    expect(said).toMatch(/^total +2 +≥ 399 +-$/m);
    expect(said).toContain("\nfleet/pink: price unknown for m9x.large in eu-west-1\n");
    const { clusters, total } = JSON.parse(await costs("-o", "json"));
    expect(clusters).toMatchObject([
      { name: "blue", isComplete: true },
      { name: "pink", isComplete: false },
    ]);
    expect(total.isComplete).toBe(false);
  });

  test("counts the control plane alone of a cluster that Cluster API makes, whatever its Spoke says of nodes", async () => {
    at.write("clusters/capi/README.md", "");
    const more =
      "  nodes:\n    desired: 9\n    max: 9\n  network:\n    cidr: 10.64.0.0/18\n    natGateways: per-zone\n";
    add("green", `${more}  existing:\n    madeBy: ClusterAPI\n`, "capi");
    const said = await costs("--fleet", "capi");
    expect(said).toMatch(/^green +dev +payments +eu-west-1 +by Cluster API +≥ 73 +-$/m);
    expect(said).toContain("\ncapi/green: price unknown for nodes and network of its HelmRelease in eu-west-1\n");
    const [green] = JSON.parse(await costs("--fleet", "capi", "-o", "json")).clusters;
    expect(green).not.toHaveProperty("nodes");
    expect(Object.keys(green.items).sort()).toEqual(["controlPlane", "keys", "secrets"]);
    expect(green.items).toMatchObject({ controlPlane: { usual: 73 }, keys: { usual: 0 } });
  });

  test("writes the same for a program, to the cent, with what each cluster consists of", async () => {
    const found = JSON.parse(await costs("-o", "json"));
    expect(found.clusters).toMatchObject([
      {
        ...{ name: "blue", fleet: "fleet", environment: "dev", tenant: "payments", region: "eu-west-1" },
        ...{ instanceType: "m6i.large", nodes: { min: 2, desired: 2, max: 4 }, unknown: [] },
        items: { controlPlane: { usual: 73 }, nodes: { usual: 156.22 }, natGateways: { usual: 35.04 } },
      },
    ]);
    expect(found.total).toEqual({ name: "total", clusters: 1, month: found.clusters[0].month, isComplete: true });
  });

  test("shows one fleet alone, and fleets by name where there are several", async () => {
    at.write("clusters/other/README.md", "");
    add("red", "", "other");
    expect(await costs()).toMatch(/^other +red +dev /m);
    const one = await costs("--fleet", "other");
    expect(one).toMatch(/^red +dev /m);
    expect(one).not.toContain("blue");
  });

  test("adds the hub of a stack, by the stack's file", async () => {
    const said = await costs("--stack", "dev");
    expect(said).toMatch(/^fleet-dev +hub +dev +platform +eu-central-1 +2 \(2 to 3\) m7g\.large +\d/m);
    expect(said).not.toContain("price unknown for m7g.large");
    await expect(costs("--stack", "nowhere")).rejects.toThrow(
      /--stack: has no file in this checkout\n.*nowhere\n.*dev/,
    );
  });

  test("refuses the hub of another fleet than the chosen one, which its total would have", async () => {
    at.write("clusters/fleet-dev/README.md", "");
    await expect(costs("--fleet", "fleet", "--stack", "dev")).rejects.toThrow(
      /--stack: is the hub of another fleet\n.*got: +dev, whose fleet is fleet-dev\n.*allowed: a stack of fleet\n/,
    );
    expect(await costs("--fleet", "fleet-dev", "--stack", "dev")).toMatch(/^hub +dev +platform +eu-central-1 /m);
  });

  test("says that there are no spokes", async () => {
    at.write("clusters/empty/README.md", "");
    expect(await costs("--fleet", "empty")).toBe("no spokes\n");
  });

  test("refuses Spokes that are wrong, each at its file, and shows nothing", async () => {
    add("pink", "  nodes:\n    desired: many\n");
    at.write("spokes/fleet/plum/spoke.yaml", "kind: Spoke\nspec: {environment: dev}\n");
    const said = await costs().then(String, String);
    expect(said).toContain("spokes/fleet/pink/spoke.yaml, spec.nodes.desired: the Spoke API does not accept it");
    expect(said).toContain("spokes/fleet/plum/spoke.yaml, spec.region: is missing");
  });
});

describe("what is counted of a cluster", () => {
  const nodes = { instanceTypes: ["m6i.large"], diskSize: 50, min: 1, desired: 2, max: 3 } as never;
  const compute = "node-groups";
  const network = (natGateways: NatGateways) => ({ zones: 3, natGateways });

  test("of a spoke: NAT gateways by zones, or else a public address for each node", () => {
    const of = (choice: Parameters<typeof network>[0]) =>
      spokeShape({ region: "eu-west-1", network: network(choice), nodes, compute });
    expect(of("single")).toMatchObject({ natGateways: 1, nodes: [{ arePublic: false }] });
    expect(of("per-zone")).toMatchObject({ natGateways: 3, nodes: [{ arePublic: false }] });
    expect(of("none")).toMatchObject({ natGateways: 0, nodes: [{ arePublic: true }] });
    expect(of("isolated")).toMatchObject({ natGateways: 0, nodes: [{ arePublic: false }] });
  });

  test("of a spoke: its interface endpoints in every zone, and none of those that are routes", () => {
    const endpoints = ["dynamodb", "sts", "ec2"] as const;
    const shape = spokeShape({ region: "eu-west-1", network: { ...network("single"), endpoints }, nodes, compute });
    expect(shape).toMatchObject({ endpointZones: 6 });
    expect(spokeShape({ region: "eu-west-1", network: network("single"), nodes, compute })).toMatchObject({
      endpointZones: 0,
    });
  });

  test("of a spoke in a network that is somebody else's: no NAT gateway, and its nodes by group", () => {
    const existing = { vpcId: "vpc-1", privateSubnetIds: ["subnet-1", "subnet-2"] };
    const group = { ...(nodes as object), name: "nodes", amiFamily: "Bottlerocket" } as never;
    const shape = spokeShape({
      region: "eu-west-1",
      network: { ...network("single"), existing },
      ...{ nodes, compute },
      nodeGroups: [group, group],
    });
    expect(shape).toMatchObject({ natGateways: 0, nodes: [{ arePublic: false }, { arePublic: false }] });
  });

  test("of a spoke with EKS Auto Mode: no node, which nobody can count, and says so", () => {
    const shape = spokeShape({ region: "eu-west-1", network: network("single"), nodes, compute: "auto" });
    expect(shape).toMatchObject({ natGateways: 1, nodes: [], isAuto: true });
    const { items, unknown } = clusterCost(shape);
    expect(unknown).toEqual(["price unknown for nodes of EKS Auto Mode in eu-west-1"]);
    expect(items.nodes).toBeUndefined();
    expect(items.controlPlane?.usual).toBeGreaterThan(0);
  });

  test("of a hub: its own network only, a secret for each sealing key and repository, and the key of Cluster API's clusters", () => {
    const settings: Readable = {
      ...{ nodeInstanceTypes: ["m7g.large"], nodeDiskSize: 50, nodeMin: 2, nodeDesired: 2, nodeMax: 3 },
      ...{ natGateways: "per-zone", zones: 3, sealingKeys: [{ scope: "dev", generation: "1", active: true }] },
    };
    expect(hubShape(settings, "us-east-1")).toMatchObject({ natGateways: 3, keys: 2, secrets: 3 });
    expect(hubShape({ ...settings, natGateways: "none", vpcId: "vpc-0123456789abcdef0" }, "us-east-1")).toMatchObject({
      natGateways: 0,
      nodes: [{ arePublic: false }],
    });
    const formerSealingKeys = [{ scope: "dev", generation: "0", arn: "", certificate: "" }];
    expect(hubShape({ ...settings, formerSealingKeys }, "us-east-1")).toMatchObject({ secrets: 4 });
    expect(hubShape({ ...settings, clusterApi: true }, "us-east-1")).toMatchObject({ keys: 3 });
    expect(hubShape(settings, undefined)).toBeUndefined();
    const { nodeMax: _, ...incomplete } = settings;
    expect(hubShape(incomplete, "us-east-1")).toBeUndefined();
  });

  test("makes no control characters of what a file says", () => {
    const shape = spokeShape({ region: "eu-west-1", network: network("single"), nodes, compute });
    const row = rowOf({ name: "blue\u001b[2J", fleet: "fleet", environment: "dev", tenant: "shop" }, shape);
    expect(tableOf(costsOf([row]))).not.toContain("\u001b");
  });
});

rejectsLines("fleet costs", {
  "--fleet prod --repository {system}": "--fleet: has no folder clusters/prod | prod | fleet | name one of them",
  "--fleet fleet --repository {system}":
    "taken: has no Spoke in its file | spokes/fleet/taken/spoke.yaml | a manifest of the kind Spoke | correct the file first",
});
