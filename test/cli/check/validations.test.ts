import { describe, expect, test } from "vitest";
import { expression } from "../../../cli/check/cel/expressions.ts";
import { hasRules, validate } from "../../../cli/check/cel/validations.ts";
import { escaped, unescaped } from "../../../cli/check/cel/values.ts";
import type { Manifest } from "../../../cli/render/files.ts";
import type { Schema } from "../../../lib/openapi.ts";
import { definition } from "../../functions/spoke/support/definition.ts";
import { ruleCases } from "../../functions/spoke/support/rule-cases.ts";
import { verdictOf } from "../../functions/spoke/support/rule-verdict.ts";

describe("a Spoke's rules, for which test/envtest/spoke-rules.test.ts asks a real API server,", () => {
  const judge = verdictOf(definition as Manifest);

  test.each(ruleCases)("judge $name as it does", (ruleCase) => {
    const { refused, at } = ruleCase;
    const { shape, broken, unknown } = judge(ruleCase);
    expect(unknown).toEqual([]);
    expect(new Set(shape())).toEqual(new Set(at === undefined ? [] : [at]));
    if (refused === undefined) expect(broken).toEqual([]);
    else if (at === undefined) expect(broken.map(({ message }) => message).join()).toContain(refused);
  });
});

/** The messages of what `spec`, of a schema, breaks. */
function messages(schema: object, spec: unknown, old?: unknown): string[] {
  const whole = { type: "object", properties: { spec: schema as Schema } };
  const { broken, unknown } = validate(whole, { spec }, old === undefined ? undefined : { spec: old });
  expect(unknown).toEqual([]);
  return broken.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

const object = (properties: object, ...rules: object[]) => ({
  type: "object",
  properties,
  "x-kubernetes-validations": rules,
});
const text = { type: "string" };
const integer = { type: "integer" };

describe("an expression of Kubernetes", () => {
  test.each([
    ["isCIDR('10.0.0.0/8') && isCIDR('10.1.2.3/8') && isCIDR('fd00::/16')", true],
    ["isCIDR('10.0.0.0') || isCIDR('10.0.0.0/33') || isCIDR('010.0.0.0/8') || isCIDR('10.0.0.0/08')", false],
    ["isCIDR('10/8') || isCIDR('::ffff:1.2.3.4/96') || isCIDR('fd00::%eth0/16') || isCIDR('')", false],
    ["cidr('10.0.0.0/8').prefixLength()", 8n],
    ["[cidr('10.0.0.0/8').ip().family(), cidr('fd00::/16').ip().family()]", [4n, 6n]],
    ["cidr('10.0.0.0/8') == cidr('10.0.0.0/8').masked()", true],
    ["cidr('10.1.0.0/8') == cidr('10.1.0.0/8').masked()", false],
    ["cidr('fd00:1::/16').masked() == cidr('fd00::/16')", true],
    ["cidr('10.0.0.0/8') == cidr('10.0.0.0/9')", false],
    ["cidr('10.0.0.0/8').containsCIDR('10.64.0.0/18') && cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/8'))", true],
    ["cidr('10.64.0.0/18').containsCIDR('10.0.0.0/8') || cidr('10.0.0.0/8').containsCIDR('11.0.0.0/18')", false],
    ["cidr('0.0.0.0/0').containsCIDR('fd00::/16')", false],
    ["'1.35'.split('.')", ["1", "35"]],
    ["int('35') - 1 in [34]", true],
    ["'aB'.lowerAscii()", "ab"],
    ["size('abc') + [1].size()", 4n],
    ["'a-b'.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')", true],
    ["'a'.matches('a|\\\\[]') && [] == []", true],
    ["duration('1m30s') >= duration('60s')", true],
  ])("%s has the value that it has in Kubernetes", (rule, value) => {
    expect(expression(rule).evaluate({ self: null })).toEqual({ value });
  });

  test.each([
    ["quantity(self)", "found no matching overload for 'quantity(dyn)'"],
    ["self ==", "Unexpected token: EOF"],
    ["1 == 1.0", "no such overload: int == double"],
    [
      "self.matches('^[[:alpha:]]$')",
      "the regular expression [:alpha:] means something else in JavaScript than in RE2",
    ],
    ["self.matches('^\\\\x{41}$')", "the regular expression \\x{ means something else in JavaScript than in RE2"],
    ["self.matches(r'^[]a]$')", "the regular expression [] means something else in JavaScript than in RE2"],
    ["self.matches('[^]a]')", "the regular expression [^] means something else in JavaScript than in RE2"],
    ["self.matches('(?i')", "Invalid regular expression: (?i"],
  ])("%s is not known, and why is said", (rule, unknown) => {
    expect(expression(rule).evaluate({ self: "a" })).toEqual({ unknown });
  });

  test("is about a change when it reads oldSelf, whatever else is not known of it", () => {
    const about = ["unheard(self) || oldSelf == 1", "self ==\noldSelf", "[1].all(x, x == oldSelf.size)", "(oldSelf"];
    const not = [
      "self == 'oldSelf'",
      `self == "a'" || self == 'b' || 'oldSelf' == r'\\'`,
      "self.oldSelf",
      "self // oldSelf",
    ];
    expect(about.filter((rule) => !expression(rule).readsOld)).toEqual([]);
    expect(not.filter((rule) => expression(rule).readsOld)).toEqual([]);
  });

  test.each([
    ["self.a.b == 1", "No such key: a"],
    ["cidr('a') == cidr('a')", "a is not a network"],
    ["int('a') == 1", "int() type error: cannot convert to int"],
  ])("%s fails, as on the API server", (rule, failed) => {
    expect(expression(rule).evaluate({ self: new Map() })).toEqual({ failed });
  });
});

describe("a rule", () => {
  test("sees the defaults of the schema", () => {
    const schema = object(
      { min: { ...integer, default: 2 }, max: { ...integer, default: 4 } },
      { rule: "self.min <= self.max", message: "min <= max" },
    );
    expect([messages(schema, {}), messages(schema, { min: 5 }), messages(schema, { min: 5, max: null })]).toEqual([
      [],
      ["spec: min <= max"],
      ["spec: min <= max"],
    ]);
  });

  test("holds at every level: items, and members of any name", () => {
    const positive = { ...integer, "x-kubernetes-validations": [{ rule: "self > 0" }] };
    const schema = object({
      list: { type: "array", items: object({ size: positive }) },
      map: { type: "object", additionalProperties: positive },
    });
    expect(messages(schema, { list: [{ size: 1 }, { size: 0 }], map: { a: 0, "b.c": 1 } })).toEqual([
      "spec.list.1.size: failed rule: self > 0",
      "spec.map.a: failed rule: self > 0",
    ]);
    expect([hasRules(schema as Schema), hasRules({ type: "array", items: { type: "string" } })]).toEqual([true, false]);
  });

  test("says what is computed, or else what is written, or else itself", () => {
    const said = (more: object) =>
      messages({ ...text, "x-kubernetes-validations": [{ rule: "self == 'b'", ...more }] }, "a");
    const message = "it must be b";
    expect(said({ message, messageExpression: "' b, not ' + self" })).toEqual(["spec: b, not a"]);
    for (const messageExpression of ["' '", "'a\\nb'", "self.none", "unheard(self)"])
      expect(said({ message, messageExpression })).toEqual(["spec: it must be b"]);
    expect(said({})).toEqual(["spec: failed rule: self == 'b'"]);
  });

  test("is about the narrowest value that it reads, or what fieldPath names", () => {
    const network = { type: "object", properties: { a: integer, "b-c": integer } };
    const broken = (rule: string, fieldPath?: string) =>
      messages(object({ network, name: text }, { rule, message: "no", ...(fieldPath ? { fieldPath } : {}) }), {
        network: { a: 1, "b-c": 2 },
        name: "x",
      });
    expect(broken("self.network.a > self.network.b__dash__c")).toEqual(["spec.network: no"]);
    expect(broken("self.name.size() > self.network.a")).toEqual(["spec: no"]);
    expect(broken("self.network.b__dash__c > 2 && self.name != 'self.none'")).toEqual(["spec: no"]);
    expect(broken("self.network.b__dash__c > 2")).toEqual(["spec.network.b-c: no"]);
    expect(broken("self.network.a > 1 || self.network.a == 'self.none'.size()")).toEqual(["spec.network.a: no"]);
    expect(broken("self.name.startsWith('y')")).toEqual(["spec.name: no"]);
    expect(broken("self.network.a > 1", ".network['b-c']")).toEqual(["spec.network.b-c: no"]);
  });

  test("knows a property by Kubernetes' escapes, and absent ones by has()", () => {
    const properties = { namespace: text, "a.b": text, __x: text, absent: { ...text, nullable: true } };
    for (const name of [...Object.keys(properties), "a-b/c", "__dash__", "in", "a__b", "__a__"])
      expect(unescaped(escaped(name))).toBe(name);
    const rule = "has(self.__namespace__) && has(self.a__dot__b) && has(self.__underscores__x) && !has(self.absent)";
    expect(messages(object(properties, { rule }), { namespace: "a", "a.b": "b", __x: "c", absent: null })).toEqual([]);
  });

  test("knows the name of the object, integers from numbers, and what may be both", () => {
    const schema = {
      ...object({ spec: object({ ratio: { type: "number" }, port: { "x-kubernetes-int-or-string": true } }) }),
      "x-kubernetes-validations": [
        { rule: "self.metadata.name == 'a' && self.kind == 'Thing' && !has(self.metadata.labels)" },
        { rule: "self.spec.ratio / 2.0 == 0.5 && type(self.spec.port) == int" },
      ],
    } as unknown as Schema;
    const thing = { kind: "Thing", metadata: { name: "a", labels: {} }, spec: { ratio: 1, port: 80 } };
    expect(validate(schema, thing)).toEqual({ broken: [], unknown: [] });
    expect(validate(schema, { ...thing, spec: { ratio: 1, port: "http" } }).broken).toHaveLength(1);
  });

  test("reads durations and dates as such; with one that can't be read, other rules are evaluated as before", () => {
    const properties = {
      after: { ...text, format: "duration" },
      since: { ...text, format: "date-time" },
      day: { ...text, format: "date" },
      size: integer,
    };
    const [size, after] = ["self.size > 1", "self.after >= duration('1m')"];
    const [since, day] = ["self.since < timestamp('2030-01-01T00:00:00Z')", "self.day.getFullYear() > 2000"];
    const schema = object(properties, ...[size, after, since, day].map((rule) => ({ rule, message: rule })));
    const whole = { type: "object", properties: { spec: schema as Schema } };
    const readable = { after: "1h30m", since: "2020-01-01T00:00:00Z", day: "2020-01-01", size: 1 };
    expect(messages(schema, readable)).toEqual([`spec.size: ${size}`]);
    for (const spec of [
      { after: "1 day", since: "yesterday", day: "2020-99-01", size: 1 },
      { after: "", since: "2020", day: "", size: 1 },
    ]) {
      const { broken, unknown } = validate(whole, { spec }, { spec });
      expect(broken.map(({ message }) => message)).toEqual([size]);
      expect(unknown.map(({ rule }) => rule)).toEqual([after, since, day]);
    }
  });

  test("about a change says nothing of what is new, unless it asks for that", () => {
    const same = { rule: "self == oldSelf", message: "never changes" };
    const once = { rule: "oldSelf.hasValue() || self != 'b'", optionalOldSelf: true, message: "not at first" };
    const spec = { ...text, "x-kubernetes-validations": [same, once] };
    expect([messages(spec, "a"), messages(spec, "b"), messages(spec, "b", "b"), messages(spec, "b", "a")]).toEqual([
      [],
      ["spec: not at first"],
      [],
      ["spec: never changes"],
    ]);
  });

  test("about what may be new says what was before in its computed message", () => {
    const messageExpression = "oldSelf.hasValue() ? self + ', was ' + oldSelf.value() : self + ' is new'";
    const once = { rule: "oldSelf.hasValue() && self != 'b'", optionalOldSelf: true, messageExpression };
    const spec = { ...text, "x-kubernetes-validations": [once] };
    expect([messages(spec, "a"), messages(spec, "b", "a")]).toEqual([["spec: a is new"], ["spec: b, was a"]]);
  });

  test("about a change finds an item of a list by its keys, and knows no order in sets", () => {
    const same = [{ rule: "self == oldSelf", message: "never changes" }];
    const item = { type: "object", properties: { name: text, size: { ...integer, "x-kubernetes-validations": same } } };
    const map = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
    const [a, b] = [
      { name: "a", size: 1 },
      { name: "b", size: 2 },
    ];
    const list = { type: "array", items: item };
    expect(messages({ ...list, ...map }, [b, { ...a, size: 3 }], [a, b])).toEqual(["spec.1.size: never changes"]);
    expect(messages(list, [b, { ...a, size: 3 }], [a, b])).toEqual([]);
    const set = (type: string) => ({ type: "array", items: text, "x-kubernetes-list-type": type });
    const changed = (type: string) =>
      messages({ ...set(type), "x-kubernetes-validations": same }, ["a", "b"], ["b", "a"]);
    expect([changed("set"), changed("atomic")]).toEqual([[], ["spec: never changes"]]);
  });

  test("that can't be evaluated for a value is broken, one that is not known is told", () => {
    const schema = object({ a: integer }, { rule: "self.b == 1" }, { rule: "quantity(self.a) == 1", message: "no" });
    expect(validate({ type: "object", properties: { spec: schema as Schema } }, { spec: { a: 1 } })).toEqual({
      broken: [
        {
          path: ["spec", "b"],
          rule: "self.b == 1",
          isTransition: false,
          message: "the rule self.b == 1 can't be evaluated: No such key: b",
        },
      ],
      unknown: [{ rule: "quantity(self.a) == 1", why: "found no matching overload for 'quantity(dyn)'" }],
    });
  });
});
