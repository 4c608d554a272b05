import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../../lib/base64.ts";
import { spoke } from "./support/fixtures.ts";
import { running } from "./support/world.ts";

/** Facts that Crossplane's providers report, and Flux on the spoke substitutes as an administrator. */

const hostile = 'vpc-1"\rdata: {"images_prefix": "evil.example/"}\rmetadata:\r  a: "';

describe("what the status of a managed resource reports", () => {
  it("reaches Git in the form of the contract only; anything else leaves everything as it is, and says what", () => {
    const world = running(spoke());
    const before = world.object("cluster-secret").data;
    world.reports.set("vpc", (status) => ({
      ...status,
      atProvider: { ...(status["atProvider"] as object), id: hostile },
    }));
    expect(() => world.settle()).toThrow(
      `the fact aws_vpc_id can't be ${JSON.stringify(hostile)}, allowed: ID of a VPC`,
    );
    expect(world.object("cluster-secret").data).toEqual(before);
    expect(fromBase64(before ?? {})["images_prefix"]).not.toContain("evil");
  });
});
