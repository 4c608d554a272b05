import { describe, expect, test } from "vitest";
import whole from "../../vitest.config.ts";
import { patience } from "../support/patience.ts";
import { celMutants } from "./cel.ts";
import { changed } from "./documents.ts";
import { mutationsOf } from "./manifests.ts";
import { isMessage } from "./messages.ts";
import { bindingMutants } from "./rules.ts";
import { scoreOf, summary, survivors } from "./score.ts";
import mutation from "./vitest.config.ts";

describe("the mutants of a CEL expression", () => {
  const texts = (expression: string) => celMutants(expression).map(({ text }) => text);

  test.each([
    ["a == 'x'", ["true", "false", 'a != "x"', 'a == ""']],
    ["a > 1", ["true", "false", "a >= 1", "a <= 1", "a > 2", "a > 0"]],
    ["!has(a.b)", ["true", "false", "has(a.b)", "!true", "!false"]],
    ["a ? b : c", ["true ? b : c", "false ? b : c"]],
    ["a.filter(x, x)", ["a"]],
    ["[a, b]", ["[b]", "[a]"]],
    ["a.?b.orValue(true)", ["a.?b.orValue(false)"]],
  ])("of %s are what its author could have written by mistake", (expression, mutants) => {
    expect(texts(expression)).toEqual(mutants);
  });

  test("keep the parentheses that they need", () => {
    expect(texts("(a || b) && c")).toEqual(["true", "false", "a || b || c", "true && c", "false && c", "a && b && c"]);
  });
});

describe("the mutants of a manifest", () => {
  const whats = (object: object) =>
    mutationsOf({ apiVersion: "v1", kind: "Any", metadata: { name: "it" }, ...object }).map(({ what }) => what);

  test("are every member and item left out, and every switch the other way", () => {
    expect(whats({ spec: { hard: { pods: "20" }, on: false, ports: [1] } })).toEqual([
      ...['without hard: {"pods":"20"}', "without pods: 20", "without on: false"],
      ...["on: false -> true", "without ports: [1]", "without ports: 1"],
    ]);
  });

  test("of a role have one right more", () => {
    expect(whats({ kind: "Role", rules: [] })).toEqual(["rules: with create on pods/exec"]);
  });

  test("of an admission policy and a definition are those of their expressions, not of their words", () => {
    const spec = { failurePolicy: "Fail", validations: [{ expression: "a", messageExpression: "'b'" }] };
    expect(whats({ kind: "ValidatingAdmissionPolicy", spec })).toEqual(["failurePolicy: Fail -> Ignore"]);
    const openAPIV3Schema = { properties: { spec: { "x-kubernetes-validations": [{ rule: "!self", message: "b" }] } } };
    const definition = { kind: "CompositeResourceDefinition", spec: { versions: [{ schema: { openAPIV3Schema } }] } };
    expect(whats(definition)).toEqual(["!self -> true", "!self -> false", "!self -> self"]);
  });
});

describe("the mutants of a binding", () => {
  const mutants = bindingMutants();

  test("are one that only writes down what it refuses, and one that says the opposite of absent parameters", () => {
    expect(new Set(mutants.map(({ what }) => what))).toEqual(
      new Set([
        "[Deny] -> [Audit]",
        "parameterNotFoundAction: Deny -> Allow",
        "parameterNotFoundAction: Allow -> Deny",
      ]),
    );
  });

  test("are found", () => expect(mutants.filter(({ survived }) => survived)).toEqual([]));
});

describe("a change of a manifest", () => {
  test("leaves the original as it is", () => {
    const object = { a: [{ b: 1 }, { b: 2 }], c: 3 };
    expect(changed(object, ["a", 0, "b"], 4)).toEqual({ a: [{ b: 4 }, { b: 2 }], c: 3 });
    expect(changed(object, ["a", 0], undefined)).toEqual({ a: [{ b: 2 }], c: 3 });
    expect(changed(object, ["c"], undefined)).toEqual({ a: [{ b: 1 }, { b: 2 }] });
    expect(object).toEqual({ a: [{ b: 1 }, { b: 2 }], c: 3 });
  });
});

describe("a text of the code", () => {
  test.each([
    ["a text for people", true],
    ["got", false],
    ["arn:aws:iam::*:role/x", false],
    ["^[a-z ]+$", false],
  ])("%s: left as it is: %s", (value, expected) => {
    expect(isMessage({ node: { type: "StringLiteral", value } })).toBe(expected);
  });

  test("is judged by what stands around its values, when it has some", () => {
    const quasis = (...raws: string[]) => raws.map((raw) => ({ value: { raw } }));
    expect(isMessage({ node: { type: "TemplateLiteral", quasis: quasis("must be ", ", got x") } })).toBe(true);
    expect(isMessage({ node: { type: "TemplateLiteral", quasis: quasis("arn:", ":iam") } })).toBe(false);
    expect(isMessage({ node: { type: "Identifier" } })).toBe(false);
  });
});

describe("the score", () => {
  const mutant = (survived: boolean, line = 1) => ({ file: "a.ts", line, what: "x ->\n  y", survived });

  test("is never rounded up to what is required", () => {
    const mutants = [
      ...Array.from({ length: 8499 }, () => mutant(false)),
      ...Array.from({ length: 1501 }, () => mutant(true)),
    ];
    expect(summary("area", mutants)).toBe(
      "area          84.9 %  8499 of 10000 mutants killed, at least 85 % are required",
    );
  });

  test("of nothing is an error", () => expect(() => scoreOf([])).toThrow("there is no mutant"));

  test("names each survivor with its place, on one line", () => {
    expect(survivors([mutant(true, 10), mutant(false, 3), mutant(true, 2)])).toEqual([
      "a.ts:2  x -> y",
      "a.ts:10  x -> y",
    ]);
  });
});

describe("the tests of an area", () => {
  test("may take as long as the unit tests: a busy machine kills no mutant", () => {
    expect(mutation.test).toMatchObject(patience);
    const unit = whole.test?.projects
      ?.map((project) => (project as { test?: { name?: unknown } }).test)
      .find((each) => each?.name === "unit");
    expect(unit).toMatchObject(patience);
  });
});
