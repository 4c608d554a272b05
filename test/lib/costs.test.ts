import { describe, expect, test } from "vitest";
import { type ClusterShape, clusterCost, type NodesShape } from "../../lib/costs/cluster.ts";
import table from "../../lib/costs/prices.json" with { type: "json" };
import { instanceHour, volumeMonth } from "../../lib/costs/prices.ts";
import { natGatewayHours } from "../../lib/costs/rates.ts";

const shape = (more: Partial<Omit<ClusterShape, "nodes">> = {}, ...nodes: Partial<NodesShape>[]) => ({
  region: "us-east-1",
  natGateways: 1,
  endpointZones: 0,
  keys: 1,
  secrets: 0,
  ...more,
  nodes: (nodes.length > 0 ? nodes : [{}]).map((group) => ({
    ...{ instanceTypes: ["m6i.large"], diskSize: 50, min: 2, desired: 2, max: 2, arePublic: false, ...group },
  })),
});

const usual = (...of: Parameters<typeof shape>) => clusterCost(shape(...of)).month.usual;

describe("what a cluster costs a month by list prices", () => {
  test("is what docs/reference/costs.md adds up by hand", () => {
    expect(usual()).toBeCloseTo(73 + 140.16 + 8 + 32.85 + 3.65 + 1);
    expect(usual({ natGateways: 3 }, { instanceTypes: ["m7g.xlarge"], diskSize: 100, desired: 3 })).toBeCloseTo(
      73 + 357.408 + 24 + 98.55 + 10.95 + 1,
    );
    expect(usual({ natGateways: 0 }, { instanceTypes: ["t3.large"], desired: 1, arePublic: true })).toBeCloseTo(
      73 + 60.736 + 4 + 3.65 + 1,
    );
    expect(usual({ keys: 2, secrets: 3 }, { instanceTypes: ["m7g.large"] })).toBeCloseTo(
      73 + 119.136 + 8 + 32.85 + 3.65 + 2 + 1.2,
    );
  });

  test("has interface endpoints by the hour in every zone, and says where their price is not known", () => {
    const { items } = clusterCost(shape({ endpointZones: 18 }));
    expect(items.endpoints?.usual).toBeCloseTo(18 * 7.3);
    expect(usual({ endpointZones: 18 })).toBeCloseTo(usual() + 131.4);
    expect(clusterCost(shape({ region: "cn-north-1", endpointZones: 2 })).unknown).toContain(
      "price unknown for interface endpoints in cn-north-1",
    );
    expect(clusterCost(shape({ region: "cn-north-1" })).unknown.join()).not.toContain("endpoints");
  });

  test("is a range with the number of nodes, and their volumes and public addresses with it", () => {
    const { month, items } = clusterCost(shape({ natGateways: 0 }, { min: 1, desired: 2, max: 4, arePublic: true }));
    expect(items.nodes).toEqual({ least: 70.08, usual: 140.16, most: 280.32 });
    expect(items.volumes).toEqual({ least: 4, usual: 8, most: 16 });
    expect(items.addresses?.most).toBeCloseTo(14.6);
    expect(items.natGateways).toEqual({ least: 0, usual: 0, most: 0 });
    expect(month.most - month.least).toBeCloseTo(3 * (70.08 + 4 + 3.65));
  });

  test("adds up several groups of nodes, and says what is not known of one beside what is known of the other", () => {
    const groups = [
      { min: 1, max: 4 },
      { instanceTypes: ["m9x.large"], diskSize: 100, min: 1, desired: 1, max: 1 },
    ];
    const { items, month, unknown } = clusterCost(shape({}, ...groups));
    expect(items.nodes).toEqual({ least: 70.08, usual: 140.16, most: 280.32 });
    expect(items.volumes).toEqual({ least: 12, usual: 16, most: 24 });
    expect(unknown).toEqual(["price unknown for m9x.large in us-east-1"]);
    expect(month.usual).toBeCloseTo(usual() + 8);
    const both = clusterCost(shape({ natGateways: 0 }, { arePublic: true }, { arePublic: true, desired: 3, max: 3 }));
    expect(both.items.addresses?.usual).toBeCloseTo(5 * 3.65);
    expect(both.items.nodes?.usual).toBeCloseTo(5 * 70.08);
  });

  test("counts the first of several instance types", () => {
    expect(usual({}, { instanceTypes: ["m6i.large", "m5.4xlarge"] })).toBe(usual());
  });

  test("names what is not known instead of guessing, and leaves it out of the sum", () => {
    const { month, unknown, items } = clusterCost(shape({}, { instanceTypes: ["m9x.large"] }));
    expect(unknown).toEqual(["price unknown for m9x.large in us-east-1"]);
    expect(items).not.toHaveProperty("nodes");
    expect(month.usual).toBeCloseTo(usual() - 140.16);
    expect(clusterCost(shape({ region: "xx-north-9" })).unknown).toEqual([
      "price unknown for m6i.large in xx-north-9",
      "price unknown for gp3 volumes in xx-north-9",
      "price unknown for NAT gateways in xx-north-9",
    ]);
    expect(clusterCost(shape({ region: "af-south-1" })).unknown).toEqual([
      "price unknown for NAT gateways in af-south-1",
    ]);
    expect(clusterCost(shape({ region: "af-south-1", natGateways: 0 })).unknown).toEqual([]);
  });

  test("has no price of other partitions that is known for commercial regions alone", () => {
    expect(clusterCost(shape({ region: "us-gov-west-1" })).unknown).toEqual([
      "price unknown for EKS control planes in us-gov-west-1",
      "price unknown for public IPv4 addresses in us-gov-west-1",
      "price unknown for KMS keys in us-gov-west-1",
    ]);
  });

  test("names the publications of its prices, the oldest first, and the prices worked out from another size", () => {
    const gp3 = { source: "jimgarrett123/rosa-calculator", date: "2023-02-20" };
    const pages = { source: "AWS's pages of prices", date: "2026-09-20" };
    const frankfurt = clusterCost(shape({ region: "eu-central-1" }, { instanceTypes: ["m7g.large"] }));
    expect(frankfurt).toMatchObject({ unknown: [], workedOut: ["m7g.large in eu-central-1"] });
    expect(frankfurt.items.nodes?.usual).toBeCloseTo(2 * 0.09775 * 730, 0);
    expect(frankfurt.sources).toEqual([
      { source: "pipetail/cloudlint", date: "2020-05-02" },
      gp3,
      { source: "skypilot-org/skypilot-catalog", date: "2025-10" },
      pages,
    ]);
    expect(clusterCost(shape({ natGateways: 0 }))).toMatchObject({
      workedOut: [],
      sources: [gp3, { source: "aws/karpenter-provider-aws", date: "2026-07-20" }, pages],
    });
    expect(clusterCost(shape({ region: "eu-west-1" })).workedOut).toEqual(["m6i.large in eu-west-1"]);
  });
});

describe("the table of list prices", () => {
  const rows = [table.gp3, ...Object.values(table.instances)];

  test("has a cell for each region in every row", () => {
    const regions = table.regions.split(" ");
    expect(rows.filter((row) => row.split(" ").length !== regions.length)).toEqual([]);
    expect(new Set(regions).size).toBe(regions.length);
    const cells = rows.flatMap((row) => row.split(" "));
    expect(cells.filter((cell) => !/^(-|~?(0\.\d+|[1-9]\d*(\.\d+)?)[abc])$/.test(cell))).toEqual([]);
    expect(Object.values(table.sources).every(({ date }) => /^\d{4}-\d{2}(-\d{2})?$/.test(date))).toBe(true);
  });

  test("has the instance types of the examples, and no price of what is no type", () => {
    const [generated, catalog, calculator] = [table.sources.a, table.sources.b, table.sources.c].map(
      ({ name: source, date }) => ({ source, date }),
    );
    expect(instanceHour("m7g.xlarge", "us-east-1")).toEqual({ usd: 0.1632, ...generated, isWorkedOut: false });
    expect(instanceHour("m7g.xlarge", "eu-central-1")).toEqual({ usd: 0.1955, ...catalog, isWorkedOut: false });
    expect(instanceHour("m6i.large", "eu-central-1")).toEqual({ usd: 0.115, ...calculator, isWorkedOut: true });
    expect(instanceHour("constructor", "us-east-1")).toBeUndefined();
    expect(volumeMonth("eu-west-1")?.usd).toBe(0.088);
    expect(Object.keys(natGatewayHours)).toEqual(expect.arrayContaining(["eu-west-1", "us-east-1"]));
  });
});
