import { describe, expect, test } from "vitest";
import { databaseProblems } from "../../../cli/app/databases.ts";
import { request } from "../support/apps.ts";

const asked = { ...request, awsKinds: ["sqs.Queue", "rds.Instance"] };
const facts = (...addons: string[]) => ({ sealing: "environment", addons, path: "spoke.yaml" }) as const;
const problems = (change: Partial<typeof asked> = {}, spoke = facts("rds_instances")) =>
  databaseProblems({ ...asked, ...change }, "fleet-spoke-", spoke);

describe("an application that may order databases", () => {
  test("needs the add-on of its Spoke, where that is known", () => {
    expect(problems()).toEqual([]);
    expect(databaseProblems(asked, "fleet-spoke-", undefined)).toEqual([]);
    expect(problems({}, facts("metrics_server"))).toEqual([
      {
        key: "--aws-kind",
        what: "rds.Instance needs the add-on rds_instances on the spoke blue",
        got: "spec.addons: [metrics_server] in spoke.yaml",
        allowed: "a Spoke with rds_instances in spec.addons",
        remedy: "add it there and push, or leave rds.Instance out",
      },
    ]);
  });

  test("leaves room for names of databases", () => {
    // 63 characters, without the 19 of the cluster, two hyphens and a name of one.
    expect(problems({ app: "a".repeat(41) })).toEqual([]);
    expect(problems({ app: "a".repeat(43) })).toMatchObject([
      { allowed: "at most 63 characters", remedy: expect.stringContaining("by at least 2 characters") },
    ]);
  });

  test("has no two hyphens in a row in its name, which RDS does not take", () => {
    expect(problems({ app: "pay--ment" })).toMatchObject([{ got: "pay--ment" }]);
  });

  test("asks for nothing of it without the kind", () => {
    const change = { awsKinds: ["sqs.Queue"], app: "pay--ment" };
    expect(problems(change, facts())).toEqual([]);
    expect(problems({ ...change, awsKinds: undefined as never }, facts())).toEqual([]);
  });
});
