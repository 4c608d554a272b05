import { describe, expect, test } from "vitest";
import { doctorPolicy } from "../../../lib/iam/doctor.ts";

describe("the policy of fleet doctor", () => {
  test("lets nothing be changed", () => {
    for (const action of doctorPolicy().Statement.flatMap(({ Action = [] }) => Action))
      expect(action).toMatch(/^\w+:(Describe|Get|List)/);
  });
});
