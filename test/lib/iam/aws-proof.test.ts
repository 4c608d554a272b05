import { describe, expect, test } from "vitest";
import { awsProofPolicy } from "../../../lib/iam/aws-proof.ts";

describe("the policy of the proof on AWS", () => {
  test("lets nothing be changed", () => {
    for (const action of awsProofPolicy().Statement.flatMap(({ Action = [] }) => Action))
      expect(action).toMatch(/^\w+:(Describe|Get|List)/);
  });
});
