import { describe, expect, it } from "vitest";
import { untagged } from "./cases/tags.ts";
import { caseNames, casesOf, withCases } from "./cases.ts";

describe("the cases that only AWS can show", () => {
  it("are none by default, some by name, or all", () => {
    expect(casesOf(undefined)).toEqual([]);
    expect(casesOf("tags,access")).toEqual(["access", "tags"]);
    expect(casesOf("all")).toEqual(caseNames);
  });

  it("change the specification of the spoke where they need it", () => {
    const spec = { addons: ["external_dns"], network: { zones: 2 } };
    expect(withCases(spec, ["access", "guardduty", "role-path", "rollback", "secrets"], "key")).toEqual(spec);
    expect(withCases(spec, casesOf("all"), "key")).toEqual({
      addons: ["external_dns", "aws_load_balancer_controller"],
      network: { zones: 2, serviceIpv4Cidr: "172.21.0.0/16" },
      sessionManager: true,
      tags: { "cost-center": "fleet-proof" },
      volumeKey: "key",
    });
  });

  it("report what lacks a tag or has another value", () => {
    const found = [
      { id: "i-1", tags: [{ Key: "cost-center", Value: "proof" }] },
      { id: "vol-1", tags: [{ Key: "cost-center", Value: "other" }] },
      { id: "eni-1", tags: undefined },
    ];
    expect(untagged(found, { "cost-center": "proof" })).toEqual(["vol-1: cost-center=other", "eni-1: no tags"]);
  });
});
