import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sameJson, sameList, samePolicy, sameSet } from "../../../aws/index.ts";

const policy = (statements: unknown) => JSON.stringify({ Version: "2012-10-17", Statement: statements });
const allow = { Effect: "Allow", Action: ["s3:GetObject", "s3:PutObject"], Resource: "*" };

describe("policies mean the same", () => {
  const same: [string, string, string][] = [
    ["whatever their white space", policy([allow]), JSON.stringify(JSON.parse(policy([allow])), null, 2)],
    ["with one statement alone or in a list", policy(allow), policy([allow])],
    [
      "with one action alone or in a list",
      policy([{ ...allow, Action: "s3:*" }]),
      policy([{ ...allow, Action: ["s3:*"] }]),
    ],
    ["in any order of actions", policy([allow]), policy([{ ...allow, Action: [...allow.Action].reverse() }])],
    [
      "with an account by id or by its root ARN",
      policy([{ Effect: "Allow", Principal: { AWS: "111122223333" }, Action: "sts:AssumeRole" }]),
      policy([{ Effect: "Allow", Principal: { AWS: ["arn:aws:iam::111122223333:root"] }, Action: "sts:AssumeRole" }]),
    ],
    [
      "with everybody as a star or as AWS star",
      policy([{ ...allow, Principal: "*" }]),
      policy([{ ...allow, Principal: { AWS: "*" } }]),
    ],
    [
      "with condition values as booleans or texts",
      policy([{ ...allow, Condition: { Bool: { "aws:SecureTransport": true } } }]),
      policy([{ ...allow, Condition: { Bool: { "aws:SecureTransport": ["true"] } } }]),
    ],
  ];
  test.each(same)("%s", (_why, a, b) => expect(samePolicy(a, b)).toBe(true));
});

describe("policies differ", () => {
  const different: [string, string, string][] = [
    ["by an action", policy([allow]), policy([{ ...allow, Action: ["s3:GetObject"] }])],
    ["by effect", policy([allow]), policy([{ ...allow, Effect: "Deny" }])],
    ["by a condition", policy([allow]), policy([{ ...allow, Condition: { Bool: { "aws:SecureTransport": "true" } } }])],
    [
      "by NotAction for Action",
      policy([{ Effect: "Allow", Action: "a:B", Resource: "*" }]),
      policy([{ Effect: "Allow", NotAction: "a:B", Resource: "*" }]),
    ],
    [
      "by a principal",
      policy([{ ...allow, Principal: { AWS: "111122223333" } }]),
      policy([{ ...allow, Principal: { Service: "111122223333" } }]),
    ],
    ["from nothing", policy([allow]), ""],
  ];
  test.each(different)("%s", (_why, a, b) => expect(samePolicy(a, b)).toBe(false));
});

test("the order of statements does not matter for any policy", () => {
  const statement = fc.record({
    Effect: fc.constantFrom("Allow", "Deny"),
    Action: fc.uniqueArray(fc.constantFrom("a:B", "c:D", "e:F"), { minLength: 1 }),
    Resource: fc.constantFrom("*", "arn:aws:s3:::x"),
  });
  fc.assert(
    fc.property(
      fc.array(statement, { minLength: 1, maxLength: 5 }),
      fc.infiniteStream(fc.nat()),
      (statements, order) => {
        const shuffled = statements
          .map((s) => ({ s: { ...s, Action: [...s.Action].reverse() }, at: order.next().value }))
          .sort((a, b) => a.at - b.at)
          .map(({ s }) => s);
        expect(samePolicy(policy(statements), policy(shuffled))).toBe(true);
      },
    ),
  );
});

test("a set ignores order and unset members, a list keeps order", () => {
  expect(sameSet(["a", "b"], ["b", "a"])).toBe(true);
  expect(sameSet([{ a: 1, b: undefined }], [{ a: 1, c: "" }])).toBe(true);
  expect(sameSet(["a"], ["a", "a"])).toBe(false);
  expect(sameSet([{ enabled: false }], [{}])).toBe(false);
  expect(sameList(["a", "b"], ["b", "a"])).toBe(false);
});

test("JSON compares by meaning, and a text that is not JSON by its letters", () => {
  expect(sameJson('{"a": 1, "b": 2}', '{"b":2,"a":1}')).toBe(true);
  expect(sameJson("{", "{")).toBe(true);
  expect(sameJson("{", "{ ")).toBe(false);
});
