import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { clusterTags, tagLimits, tagPatterns, tagProblems } from "../../lib/company-tags.ts";

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, "x"]));

describe("a company's tags", () => {
  it.each([
    { "cost-center": "4711" },
    { "Cost Center": "Platform & more".replace(" &", "") },
    { "acme:team": "arn:aws:iam::111122223333:role/platform" },
    { GuardDutyManaged: "false" },
    { empty: "" },
    { ["k".repeat(tagLimits.key)]: "v".repeat(tagLimits.value) },
    many(tagLimits.count),
  ])("are accepted: %o", (tags) => expect(tagProblems(tags)).toEqual([]));

  it.each([
    ["environment", "has a key of the fleet"],
    ["Environment", "has a key of the fleet"],
    ["Name", "has a key of the fleet"],
    ["fleet.internal/fleet", "has a key of the fleet"],
    ["eks-cluster-name", "has a key of the fleet"],
    ["kubernetes-namespace", "has a key of the fleet"],
    ["AWS:owner", "has a key of the fleet"],
    ["eks:cluster-name", "has a key of the fleet"],
    ["kubernetes.io/cluster/other", "has a key of the fleet"],
    ["elbv2.k8s.aws/cluster", "has a key of the fleet"],
    ["ebs.csi.aws.com/cluster", "has a key of the fleet"],
    ["karpenter.sh/nodepool", "has a key of the fleet"],
    ["a=b", "has a key that not every"],
    [" team", "has a key that not every"],
    ["team ", "has a key that not every"],
    ["team:", "has a key that not every"],
    ["Büro", "has a key that not every"],
    ["", "has a key that not every"],
    ["k".repeat(tagLimits.key + 1), "has a key that not every"],
  ])("can't have the key %s", (key, what) => {
    expect(tagProblems({ [key]: "x" })).toEqual([
      expect.objectContaining({ tag: key, what: expect.stringContaining(what) }),
    ]);
  });

  it.each(["a: b", "team:", "x ", "a,b", "$" + "{fleet}", "Büro", "v".repeat(tagLimits.value + 1)])(
    "can't have the value %s",
    (value) => expect(tagProblems({ team: value })).toEqual([expect.objectContaining({ tag: "team", got: value })]),
  );

  it("can't mark resources as created by GuardDuty, which the fleet may delete", () => {
    expect(tagProblems({ guarddutymanaged: "true" })).toMatchObject([{ got: "true", allowed: /^false/ }]);
  });

  it("can't be more than AWS has room for, nor differ in case only", () => {
    expect(tagProblems(many(tagLimits.count + 1))).toEqual([expect.objectContaining({ what: "has too many tags" })]);
    expect(tagProblems({ Team: "a", team: "b" })).toEqual([expect.objectContaining({ got: "Team, team" })]);
  });

  it("don't override the fleet's own", () => {
    const tags = { environment: "theirs", "fleet.internal/fleet": "theirs", team: "a" };
    expect(
      clusterTags({ tags, fleet: "fleet", cluster: "blue", eksCluster: "fleet-spoke-blue", environment: "dev" }),
    ).toEqual({
      team: "a",
      "fleet.internal/fleet": "fleet",
      "fleet.internal/cluster": "blue",
      "eks-cluster-name": "fleet-spoke-blue",
      environment: "dev",
    });
  });

  it("follow the same patterns in the Spoke's definition", () => {
    const file = join(import.meta.dirname, "..", "..", "repos", "gitops-system", "platform", "api", "definition.yaml");
    const { tags } = parse(readFileSync(file, "utf8")).spec.versions[0].schema.openAPIV3Schema.properties.spec
      .properties;
    const rules = tags["x-kubernetes-validations"].map(({ rule }: { rule: string }) => rule).join("\n");
    const inCel = (pattern: string) => pattern.replaceAll("\\/", "/");
    expect(tags).toMatchObject({
      maxProperties: tagLimits.count,
      additionalProperties: { maxLength: tagLimits.value, pattern: inCel(tagPatterns.value) },
    });
    expect(rules).toContain(`key.size() <= ${tagLimits.key}`);
    expect(rules).toContain(`key.matches('${inCel(tagPatterns.key)}')`);
    expect(rules).toContain(`key.lowerAscii().matches('${inCel(tagPatterns.reserved)}')`);
  });
});
