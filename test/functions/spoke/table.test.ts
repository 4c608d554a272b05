import { describe, expect, it } from "vitest";
import { Facts, fact } from "../../../functions/spoke/facts.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { Observed } from "../../../functions/spoke/observed.ts";
import { resources } from "../../../functions/spoke/resources.ts";

/** What tsc refuses: without an error on the next line it refuses the comment itself. */
describe("the table of composed resources", () => {
  const observed = new Observed(new Map());

  it("lets nothing be asked for by a key or in a group that no row has", () => {
    // @ts-expect-error a typo
    expect(observed.has({ group: "vpc", key: "vcp" })).toBe(false);
    // @ts-expect-error another row's group
    expect(observed.has({ group: "subnets", key: "vpc" })).toBe(false);
    // @ts-expect-error a side that there is not
    expect(observed.has(resources.subnet("pubic", 0))).toBe(false);
    // @ts-expect-error a role that there is not
    expect(observed.has(resources.role("nodes"))).toBe(false);
    // @ts-expect-error text instead of a row
    expect(observed.has("vpc")).toBe(false);
  });

  it("lets no fact come from a part that a spoke does not have", () => {
    // @ts-expect-error a typo
    expect(fact("netwrok", 1)).toEqual({ from: "netwrok", value: 1 });
  });
});

describe("a fact", () => {
  const object = (status: object): KubeObject => ({ apiVersion: "v1", kind: "X", metadata: { name: "x" }, status });
  const working = { conditions: [{ type: "Ready", status: "True" }] };
  const facts = (objects: Record<string, KubeObject>) => new Facts(new Observed(new Map(Object.entries(objects))));

  it("comes from the part that its resource belongs to, known or not", () => {
    const some = facts({ vpc: object({ atProvider: { id: "vpc-1" } }), "node-group": object(working) });
    expect(some.text(resources.vpc, "id")).toEqual({ from: "network", value: "vpc-1" });
    expect(some.text(resources.cluster, "arn")).toEqual({ from: "controlPlane", value: undefined });
    expect(some.present(resources.addon("vpc-cni"))).toEqual({ from: "addons", value: undefined });
    expect(some.ready(resources.nodeGroup())).toEqual({ from: "nodes", value: true });
  });

  it("of a role comes from the part that the role is for", () => {
    const from = (role: Parameters<typeof resources.role>[0]) => facts({}).text(resources.role(role), "arn").from;
    expect([from("cluster"), from("node"), from("crossplane")]).toEqual(["controlPlane", "nodes", "identities"]);
  });
});
