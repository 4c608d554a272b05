import fc from "fast-check";
import { expect, test } from "vitest";
import { markSecret, mirrorSecrets, redact } from "../../../../pulumi/framework/secrets.ts";
import {
  equal,
  hasSecret,
  hasUnknown,
  type PropertyMap,
  plain,
  plainMap,
  reveal,
  Secret,
  UNKNOWN,
  type Value,
} from "../../../../pulumi/framework/values.ts";
import { decode, decodeValue, encode, SIGNATURE_KEY } from "../../../../pulumi/framework/wire.ts";

const leaf = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const key = fc.stringMatching(/^[a-z]{1,6}$/);
const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.constant(UNKNOWN),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 3 }).map((map) => ({ ...map })),
    tie("value").map((inner) => new Secret(inner)),
  ),
})).value;

test("every value survives the way over the wire", () => {
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 4 }), (map) => {
      const properties: PropertyMap = { ...map };
      expect(decode(encode(properties))).toEqual(properties);
    }),
  );
});

test("all sentinels of the engine mean unknown; assets, references and what has an unknown signature are refused", () => {
  for (const sentinel of [
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58",
    "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
  ])
    expect(decodeValue(sentinel)).toBe(UNKNOWN);
  const asset = { [SIGNATURE_KEY]: "c44067f5952c0a294b673a41bacd8c17", text: "x" };
  expect(() => decodeValue([asset])).toThrow("got an asset, allowed is plain data");
  expect(() => decodeValue({ [SIGNATURE_KEY]: "something" })).toThrow("unknown signature something");
});

test("members that are undefined are left out, numbers that JSON cannot say are refused", () => {
  expect(decode(encode({ a: undefined as unknown as Value, b: [1] }))).toEqual({ b: [1] });
  expect(() => encode({ a: Number.NaN })).toThrow("NaN");
});

test("unknown and secret parts are found at any depth, and revealed values keep unknowns", () => {
  const nested: PropertyMap = { a: [{ b: new Secret({ c: UNKNOWN }) }] };
  expect(hasUnknown(nested)).toBe(true);
  expect(hasSecret(nested)).toBe(true);
  expect(reveal(nested)).toEqual({ a: [{ b: { c: UNKNOWN } }] });
  expect(() => plainMap(nested)).toThrow("a[0].b.c: got a value of kind unknown");
  expect(plain(new Secret(["x"]))).toEqual(["x"]);
});

test("secret marks don't make values differ, unknown ones always do", () => {
  expect(equal(new Secret({ a: 1 }), { a: 1 })).toBe(true);
  expect(equal({ a: 1 }, { a: 1, b: null })).toBe(false);
  expect(equal(UNKNOWN, UNKNOWN)).toBe(false);
});

test("outputs are secret where inputs are, and more rather than less where they differ in form", () => {
  const inputs: PropertyMap = {
    plain: "x",
    whole: new Secret("s"),
    map: { key: new Secret("k"), other: 1 },
    list: [new Secret("l")],
    renamed: { old: new Secret("r") },
  };
  const outputs: PropertyMap = {
    plain: "x",
    whole: "s",
    map: { key: "k", other: 1, more: 2 },
    list: ["l", "extra"],
    renamed: { fresh: "r" },
    computed: "y",
  };
  expect(mirrorSecrets(outputs, inputs)).toEqual({
    plain: "x",
    whole: new Secret("s"),
    map: { key: new Secret("k"), other: 1, more: 2 },
    list: new Secret(["l", "extra"]),
    renamed: new Secret({ fresh: "r" }),
    computed: "y",
  });
  expect(markSecret({ a: 1, b: new Secret(2) }, ["a", "b"])).toEqual({ a: new Secret(1), b: new Secret(2) });
});

test("mirrored marks lose no secret: what was secret is inside a secret", () => {
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 4 }), (map) => {
      const source: PropertyMap = { ...map };
      const target = reveal(source) as PropertyMap;
      for (const [name, mirrored] of Object.entries(mirrorSecrets(target, source)))
        expect(hasSecret(mirrored)).toBe(hasSecret(source[name] as Value));
    }),
  );
});

test("secrets are cut out of texts, the longest first; very short ones are left", () => {
  const values = [{ a: new Secret("abcdef"), b: [new Secret("abcdefgh")], c: new Secret("x") }];
  expect(redact("got abcdefgh and abcdef, x", values)).toBe("got [secret] and [secret], x");
});

test("a message keeps the names of what it is about, also when a state holds all inputs as one secret", () => {
  const inputs = { name: "payments", values: new Secret({ password: "a-password" }) };
  const state = { ...inputs, __inputs: new Secret(inputs) };
  expect(redact("payments: a-password is wrong", [inputs, state])).toBe("payments: [secret] is wrong");
});
