import { expect, test } from "vitest";
import { dnsSuffix, partitionOf } from "../../../lib/iam/policy.ts";

test.each([
  ["us-east-1", "aws", "amazonaws.com"],
  ["eu-central-1", "aws", "amazonaws.com"],
  ["cn-north-1", "aws-cn", "amazonaws.com.cn"],
  ["us-gov-west-1", "aws-us-gov", "amazonaws.com"],
])("region %s is in the partition %s, whose services end in %s", (region, partition, suffix) => {
  expect(partitionOf(region)).toBe(partition);
  expect(dnsSuffix(partition)).toBe(suffix);
});
