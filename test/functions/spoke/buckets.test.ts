import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import type { Statement } from "../../../lib/iam/policy.ts";
import { spoke } from "./support/fixtures.ts";
import { World } from "./support/world.ts";

const addons = ["s3_buckets"];

/** What the role of the spoke's Crossplane may do with S3. */
const onBuckets = (world: World): Statement[] =>
  JSON.parse(String(at(world.forProvider("policy-crossplane"), "policy"))).Statement.filter(
    ({ Effect, Action }: Statement) => Effect === "Allow" && Action.some((action) => action.startsWith("s3:")),
  );

describe("a Spoke with backups", () => {
  const named = (name: string) => {
    const made = spoke({ addons: ["s3_buckets", "velero"] });
    return new World({ ...made, metadata: { ...made.metadata, name } });
  };
  const longest = "b".repeat(33 - "fleet-spoke-".length);

  it("has a name with which the bucket's is not longer than S3 takes", () => {
    const good = named(longest);
    expect(good.settle().ready).toBe(true);
    expect(good.condition("SpecAccepted")).toMatchObject({ status: "True" });
    const refused = named(`${longest}b`);
    refused.settle();
    expect(refused.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "AddonsNotPermitted" });
    expect(refused.condition("SpecAccepted")?.message).toMatch(
      /spec.addons velero: .* 64 characters, of which S3 takes 63\. .* shorter by 1$/,
    );
  });
});

describe("a Spoke whose applications order buckets", () => {
  it("gives its own Crossplane the right to make them under the cluster's name, and takes it back", () => {
    const world = new World(spoke({ addons }));
    expect(world.settle().ready).toBe(true);
    expect(onBuckets(world).map(({ Resource }) => Resource)).toEqual([["arn:aws:s3:::fleet-spoke-blue--*"]]);
    world.change({ addons: [] });
    expect(world.settle().ready).toBe(true);
    expect(onBuckets(world)).toEqual([]);
  });

  it("has a name that ends where names of its buckets go on", () => {
    const named = (name: string, wanted: readonly string[]) => {
      const made = spoke({ addons: wanted });
      return new World({ ...made, metadata: { ...made.metadata, name } });
    };
    const refused = named("blue--eu", addons);
    refused.settle();
    expect(refused.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "AddonsNotPermitted" });
    expect(refused.condition("SpecAccepted")?.message).toMatch(
      /spec.addons s3_buckets: .* a cluster called fleet-spoke-blue--eu can have none\. Take the add-on out/,
    );
    const other = named("blue--eu", []);
    expect(other.settle().ready).toBe(true);
    // A Spoke that runs keeps running, and gets no right.
    other.change({ addons });
    other.settle();
    expect(other.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "AddonsNotPermitted" });
    expect(onBuckets(other)).toEqual([]);
  });
});
