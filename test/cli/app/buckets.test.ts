import { describe, expect, test } from "vitest";
import { bucketProblems } from "../../../cli/app/buckets.ts";
import { request } from "../support/apps.ts";

const asked = { ...request, awsKinds: ["sqs.Queue", "s3.Bucket"] };
const cluster = "fleet-spoke-blue";
const facts = (...addons: string[]) => ({ sealing: "environment", addons, path: "spoke.yaml" }) as const;
const problems = (change: Partial<typeof asked> = {}, name = cluster, spoke = facts("s3_buckets")) =>
  bucketProblems({ ...asked, ...change }, name, spoke);

describe("an application that may order buckets", () => {
  test("needs the add-on of its Spoke, where that is known", () => {
    expect(problems()).toEqual([]);
    expect(bucketProblems(asked, cluster, undefined)).toEqual([]);
    expect(problems({}, cluster, facts("metrics_server"))).toEqual([
      {
        key: "--aws-kind",
        what: "s3.Bucket needs the add-on s3_buckets on the spoke blue",
        got: "spec.addons: [metrics_server] in spoke.yaml",
        allowed: "a Spoke with s3_buckets in spec.addons",
        remedy: "add it there and push, or leave s3.Bucket out",
      },
    ]);
  });

  test("leaves room for names of buckets", () => {
    // 63 characters, without the account, the hyphens and a name of one.
    const longest = "a".repeat(63 - cluster.length - "----x-".length - 12);
    expect(problems({ app: longest })).toEqual([]);
    expect(problems({ app: `${longest}aa` })).toMatchObject([
      { allowed: "at most 63 characters", remedy: expect.stringContaining("by at least 2 characters") },
    ]);
  });

  test("has no two hyphens in a row in its name or the cluster's, which end there in names of buckets", () => {
    expect(problems({ app: "pay--ment" })).toMatchObject([{ got: "pay--ment" }]);
    expect(problems({}, "fleet-spoke-blue--eu")).toMatchObject([{ got: "fleet-spoke-blue--eu" }]);
  });

  test("asks for nothing of it without the kind", () => {
    const change = { awsKinds: ["sqs.Queue"], app: "pay--ment" };
    expect(problems(change, "fleet-spoke-blue--eu", facts())).toEqual([]);
    expect(problems({ ...change, awsKinds: undefined as never }, cluster, facts())).toEqual([]);
  });
});
