import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { quotaProblems, withQuota } from "../../../cli/app/quota.ts";

const workloads = join(import.meta.dirname, "../../../repos/gitops-workloads");
const template = readFileSync(join(workloads, "templates/app/namespace.yaml"), "utf8");
const written = (quota?: readonly string[]) => withQuota({ "namespace.yaml": template }, quota)["namespace.yaml"] ?? "";
const hardIn = (text: string) =>
  parseAllDocuments(text)
    .map((each) => each.toJS())
    .find(({ kind }) => kind === "ResourceQuota").spec.hard;

describe("the quota of an application", () => {
  test("is the template's where nobody asks for another", () => {
    expect(quotaProblems(workloads)).toEqual([]);
    expect(written()).toBe(template);
  });

  test("has the limits that are asked for, and the template's others with its comments", () => {
    const quota = ["limits.memory=8Gi", "pods=40", "services.loadbalancers=1"];
    expect(quotaProblems(workloads, quota)).toEqual([]);
    expect(hardIn(written(quota))).toEqual({
      ...hardIn(template),
      ...{ "limits.memory": "8Gi", pods: "40", "services.loadbalancers": "1" },
    });
    expect(written(quota).split("\n")).toHaveLength(template.split("\n").length);
  });

  test.each(["0", "4", "500m", "1.5", "8Gi", "2k", "1e3"])("takes the quantity %s", (quantity) =>
    expect(quotaProblems(workloads, [`requests.cpu=${quantity}`])).toEqual([]),
  );

  test.each([
    ["limits.memory=8GB", "is not a quantity of Kubernetes"],
    ["limits.memory=-1", "is not a quantity of Kubernetes"],
    ["limits.memory=", "is not a quantity of Kubernetes"],
    ["memory=8Gi", "is not one of the limits in the template's ResourceQuota"],
    ["limits.memory", "is not one of the limits in the template's ResourceQuota"],
  ])("is not %s, which %s", (quota, what) =>
    expect(quotaProblems(workloads, ["pods=40", quota])).toMatchObject([{ key: "--quota", what, got: quota }]),
  );

  test("has each limit once", () =>
    expect(quotaProblems(workloads, ["pods=40", "pods=50"])).toMatchObject([
      { got: "pods=50", what: "is given twice" },
    ]));
});
