import { expect, test } from "vitest";
import { policies } from "../../policies/all.ts";
import { examples } from "./examples/index.ts";
import { evaluate, type Policy, type Resource, unknown } from "./support/evaluate.ts";
import type { Example } from "./support/example.ts";

/** Every value of an object or list that `replace` has put something else into, one place at a time. */
function* replaced(value: unknown, replacement: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield value.with(index, replacement);
      for (const inner of replaced(item, replacement)) yield value.with(index, inner);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield { ...value, [key]: replacement };
      for (const inner of replaced(item, replacement)) yield { ...value, [key]: inner };
    }
  }
}

/** The resources of an example with one input replaced, at every place in turn. */
function variants({ resources }: Example, replacement: unknown): Resource[][] {
  return resources.flatMap((resource, index) =>
    [...replaced(resource.props, replacement)].map((props) =>
      resources.with(index, { ...resource, props: props as Resource["props"] }),
    ),
  );
}

const cases = examples.map((example) => ({
  ...example,
  example,
  rule: policies.find(({ name }) => name === example.policy) as Policy,
}));

test.each(cases)(
  "$policy, $promise: an unknown value stops nothing, and is decided at the update",
  ({ rule, example }) => {
    const verdicts = variants(example, unknown).map((resources) => ({
      resources,
      ...evaluate(rule, resources, example.config),
    }));
    const isInvented = (violation: string) => !example.violations.includes(violation);
    expect(verdicts.filter(({ violations }) => violations.some(isInvented))).toEqual([]);
    // What is not said now is put off, not forgotten. A policy of a whole stack is asked again in any case.
    const silent = verdicts.filter(
      ({ violations }) => violations.length < example.violations.length && "validateResource" in rule,
    );
    const isPutOff = (reason = "") => /^decided at the update: .* can't be known during preview$/.test(reason);
    expect(silent.filter(({ putOff }) => !isPutOff(putOff))).toEqual([]);
  },
);

const strange = [null, "", "strange", 7, true, [], {}, [[]], [null], { a: { b: null } }];

test.each(cases)("$policy, $promise: a value of another form crashes nothing", ({ rule, example }) => {
  for (const value of strange)
    for (const resources of variants(example, value))
      expect(() => evaluate(rule, resources, example.config)).not.toThrow();
});
