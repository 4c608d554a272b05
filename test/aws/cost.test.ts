import { describe, expect, test } from "vitest";
import { type Billed, estimate } from "./cost.ts";
import { report } from "./report.ts";

const nothing: Billed = { clusters: 0, natGateways: 0, addresses: 0, nodes: [], gib: 0, keys: 0, secrets: 0 };

describe("the estimate of what the proof costs", () => {
  test("is what docs/reference/costs.md says of a month: a spoke of default size", () => {
    const spoke = {
      ...nothing,
      clusters: 1,
      nodes: ["m6i.large", "m6i.large"],
      gib: 100,
      natGateways: 1,
      addresses: 1,
      keys: 1,
    };
    expect(Math.round(estimate([{ what: "spoke", hours: 730, billed: spoke }]).total)).toBe(259);
  });

  test("is what docs/reference/costs.md says of a month: the stack dev", () => {
    const billed = {
      ...nothing,
      clusters: 1,
      nodes: ["m7g.large", "m7g.large"],
      gib: 100,
      natGateways: 1,
      addresses: 1,
      keys: 2,
      secrets: 3,
    };
    expect(Math.round(estimate([{ what: "hub", hours: 730, billed }]).total)).toBe(240);
  });

  test("counts each for its own time, and leaves out what there is none of", () => {
    const { lines, total } = estimate([
      { what: "hub", hours: 2, billed: { ...nothing, clusters: 1 } },
      { what: "spoke", hours: 1, billed: { ...nothing, clusters: 1, addresses: 2 } },
    ]);
    expect(lines.map(({ what, count, hours }) => [what, count, hours])).toEqual([
      ["hub: EKS control plane", 1, 2],
      ["spoke: EKS control plane", 1, 1],
      ["spoke: public IPv4 address", 2, 1],
    ]);
    expect(total).toBeCloseTo(0.31, 10);
  });

  test("names the instance types that it has no price for, and does not take them for free of charge", () => {
    const uses = [{ what: "hub", hours: 1, billed: { ...nothing, nodes: ["x9.huge", "t3.large"] } }];
    expect(estimate(uses)).toMatchObject({ unpriced: ["hub: node x9.huge"], total: 0.0832 });
    expect(report([], uses)).toContain("Not in the sum, as lib/costs has no price: hub: node x9.huge.");
  });
});

describe("the report of the proof", () => {
  const tried = [
    { name: "comes up", took: 75_000, passed: true },
    { name: "goes", took: 5_000, passed: false },
  ];

  test("says how long each step took and which failed, and the inputs of the estimate", () => {
    const text = report(tried, [{ what: "hub", hours: 0.5, billed: { ...nothing, clusters: 1 } }]);
    expect(text).toContain(
      "| comes up | 1 min 15 s | passed |\n| goes | 5 s | **failed** |\n| **Together** | 1 min 20 s |",
    );
    expect(text).toContain("| hub: EKS control plane | 1 | 0.50 | 0.10000 | 0.0500 |");
    expect(text).toContain("| **Estimate** |  |  |  | **0.0500** |");
  });
});
