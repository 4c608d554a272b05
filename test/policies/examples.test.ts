import { describe, expect, test } from "vitest";
import { policies } from "../../policies/all.ts";
import { examples } from "./examples/index.ts";
import { evaluate } from "./support/evaluate.ts";

describe.each(policies.map((policy) => ({ id: policy.name, policy })))("$id", ({ id, policy }) => {
  const own = examples.filter((example) => example.policy === id);

  test.each(own)("$promise", ({ resources, config, violations }) => {
    expect(evaluate(policy, resources, config)).toEqual({ violations, putOff: undefined });
  });

  test("has an example that it stops and one that it lets through", () => {
    const stopped = own.filter(({ violations }) => violations.length > 0);
    expect(stopped.length).toBeGreaterThan(0);
    expect(own.length).toBeGreaterThan(stopped.length);
  });
});

test("every example is of a policy of the pack", () => {
  const ids = policies.map(({ name }) => name);
  expect(examples.map(({ policy }) => policy).filter((id) => !ids.includes(id))).toEqual([]);
});
