import { describe, expect, test } from "vitest";
import { type CostChange, costChange, costLines } from "../../../cli/diff/costs.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";

const spoke = (nodes: object = {}, region = "us-east-1") =>
  ({
    spec: {
      region,
      network: { zones: 2, natGateways: "single" },
      nodes: { instanceTypes: ["m6i.large"], diskSize: 50, min: 2, desired: 2, max: 4, ...nodes },
    },
  }) as unknown as Spoke;

describe("what a change does to the list price of a spoke", () => {
  test("is the difference of a new size, of a new spoke, and of one that goes", () => {
    expect(costChange(spoke(), spoke({ desired: 4 }))).toEqual({
      before: { month: 258.66, unknown: [] },
      after: { month: 406.82, unknown: [] },
    });
    expect(costChange(undefined, spoke())?.before).toEqual({ month: 0, unknown: [] });
    expect(costChange(spoke(), undefined)?.after).toEqual({ month: 0, unknown: [] });
  });

  test("is nothing where only limits change, or nothing", () => {
    expect(costChange(spoke(), spoke())).toBeUndefined();
    expect(costChange(spoke(), spoke({ max: 9 }))).toBeUndefined();
    expect(costChange(undefined, undefined)).toBeUndefined();
  });

  test("is nothing where fields have not the types of the Spoke API, which fleet check finds", () => {
    for (const nodes of [{ instanceTypes: "m6i.large" }, { desired: "many" }, { diskSize: {} }])
      expect(costChange(spoke(), spoke(nodes)), JSON.stringify(nodes)).toBeUndefined();
    const { spec } = spoke();
    for (const more of [{ network: 5 }, { network: { zones: 2, natGateways: "some" } }, { nodes: [] }])
      expect(costChange({ spec: { ...spec, ...more } } as never, spoke()), JSON.stringify(more)).toBeUndefined();
  });

  test("is told where a price becomes unknown", () => {
    expect(costChange(spoke(), spoke({ instanceTypes: ["m9x.large"] }))?.after).toEqual({
      month: 118.5,
      unknown: ["price unknown for m9x.large in us-east-1"],
    });
    expect(costChange(spoke({ instanceTypes: ["m9x.large"] }), spoke({ instanceTypes: ["m9y.large"] }))).toBeDefined();
  });

  test("is told where none of the prices that change is known, and not where only limits do", () => {
    const unknown = (nodes: object) => spoke({ instanceTypes: ["m9x.large"], ...nodes }, "xx-north-9");
    expect(costChange(unknown({ desired: 2 }), unknown({ desired: 10 }))).toBeDefined();
    expect(costChange(unknown({ max: 4 }), unknown({ max: 9 }))).toBeUndefined();
  });
});

describe("what it does to that of a cluster which Cluster API makes", () => {
  const elsewhere = (nodes: object = {}) => {
    const { spec } = spoke(nodes);
    return { spec: { ...spec, existing: { madeBy: "ClusterAPI" } } } as unknown as Spoke;
  };

  test("is nothing by fields that have no effect there, and not known of a new one", () => {
    expect(costChange(elsewhere(), elsewhere({ desired: 9, instanceTypes: ["m5.4xlarge"] }))).toBeUndefined();
    expect(costChange(undefined, elsewhere())?.after).toEqual({
      month: 73,
      unknown: ["price unknown for nodes and network of its HelmRelease in us-east-1"],
    });
  });
});

describe("the words for it", () => {
  const line = (before: Spoke | undefined, after: Spoke | undefined) =>
    costLines([{ title: "green", cost: costChange(before, after) as CostChange }]);
  const green = (nodes: object) => spoke(nodes, "eu-central-1");

  test("compare no amount that lacks a price, which would make a saving of an increase", () => {
    const said = ["list price of green: can't be compared: price unknown for m8g.large in eu-central-1"];
    const type = { instanceTypes: ["m8g.large"] };
    expect(line(green({}), green(type))).toEqual(said);
    expect(line(green(type), green({}))).toEqual(said);
    expect(line(green({ ...type, desired: 2 }), green({ ...type, desired: 10 }))).toEqual(said);
    expect(line(undefined, green(type))).toEqual(said);
    expect(line(undefined, green({}))).toEqual(["list price of green: 0 → 293 USD a month"]);
  });
});
