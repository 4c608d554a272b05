import { compare } from "bcryptjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plainMap, Secret, textOf, UNKNOWN } from "../../../pulumi/framework/values.ts";
import { type Plugin, startPlugin } from "./harness.ts";

const PASSWORD = "random:index/randomPassword:RandomPassword";
const STRING = "random:index/randomString:RandomString";
const ID = "random:index/randomId:RandomId";

let random: Plugin;
beforeAll(async () => {
  random = await startPlugin("local/pulumi/random/main.ts");
  await random.configure({});
});
afterAll(() => random.close());

test("a password keeps its class minimums and length, and is secret with its hash", async () => {
  const inputs = { length: 24, minUpper: 3, minNumeric: 4, minSpecial: 2, overrideSpecial: "~" };
  const { id, outputs } = await random.create(PASSWORD, inputs);
  expect(id).toBe("none");
  expect(outputs["result"]).toBeInstanceOf(Secret);
  expect(outputs["bcryptHash"]).toBeInstanceOf(Secret);
  const plain = plainMap(outputs);
  const result = textOf(plain["result"]);
  expect(result).toHaveLength(24);
  expect(result.match(/[A-Z]/g)?.length).toBeGreaterThanOrEqual(3);
  expect(result.match(/[0-9]/g)?.length).toBeGreaterThanOrEqual(4);
  expect(result.match(/~/g)?.length).toBeGreaterThanOrEqual(2);
  expect(result).toMatch(/^[A-Za-z0-9~]+$/);
  expect(await compare(result, textOf(plain["bcryptHash"]))).toBe(true);
});

test("two strings differ, and a string of one class holds only that class", async () => {
  const inputs = { length: 40, upper: false, lower: false, special: false };
  const [first, second] = [await random.create(STRING, inputs), await random.create(STRING, inputs)];
  expect(first.outputs["result"]).not.toBe(second.outputs["result"]);
  expect(first.outputs["result"]).toMatch(/^[0-9]{40}$/);
  expect(first.id).toBe(first.outputs["result"]);
});

test("an id says the same bytes in every notation, each with the prefix", async () => {
  const { id, outputs } = await random.create(ID, { byteLength: 8, prefix: "p-" });
  const hex = Buffer.from(id, "base64url").toString("hex");
  expect(outputs).toMatchObject({
    hex: `p-${hex}`,
    dec: `p-${BigInt(`0x${hex}`)}`,
    b64Url: `p-${id}`,
    b64Std: `p-${Buffer.from(hex, "hex").toString("base64")}`,
  });
});

test("a changed keeper or length replaces, an equal one changes nothing", async () => {
  const before = { length: 8, keepers: { generation: "1" } };
  expect((await random.diff(STRING, "x", before, { ...before })).changed).toBe(false);
  const diff = await random.diff(STRING, "x", before, { length: 9, keepers: { generation: "2" } });
  expect(diff.properties).toEqual({ length: "update-replace", "keepers.generation": "update-replace" });
});

test("a refresh returns what was recorded, an import takes the value from the id", async () => {
  const created = await random.create(ID, { byteLength: 4 });
  const read = await random.read(ID, created.id, created.outputs, { byteLength: 4 });
  expect(read.outputs).toEqual(created.outputs);
  expect(read.inputs).toEqual({ byteLength: 4 });
  const imported = await random.read(ID, created.id);
  expect(imported.outputs).toEqual(created.outputs);
  expect(imported.inputs).toEqual({ byteLength: 4 });
});

test("a preview shows inputs and unknown results", async () => {
  const { id, outputs } = await random.create(STRING, { length: 5 }, { preview: true });
  expect(id).toBe("");
  expect(outputs["length"]).toBe(5);
  expect(outputs["result"]).toBe(UNKNOWN);
});

test("impossible rules and wrong lengths are refused with what is allowed", async () => {
  const failures = async (token: string, news: Parameters<Plugin["check"]>[2]) =>
    (await random.check(token, "it", news)).failures;
  expect(await failures(STRING, { length: 2, minUpper: 3 })).toEqual([
    "length: got 2, but the minimum counts ask for 3 characters",
  ]);
  expect(await failures(STRING, { length: 0 })).toEqual(["length: got 0, allowed is a whole number from 1"]);
  expect(await failures(ID, { byteLength: 1.5 })).toEqual([
    "byteLength: got 1.5, allowed is a whole number from 1 to 65536",
  ]);
  expect(await failures(STRING, { length: UNKNOWN })).toEqual([]);
});

test("unknown types, unknown inputs and missing inputs are refused by name", async () => {
  await expect(random.check("random:index/randomPet:RandomPet", "it", {})).rejects.toThrow(
    /does not implement the resource type random:index\/randomPet:RandomPet; implemented: random:index\/randomId/,
  );
  const { failures } = await random.check(STRING, "it", { size: 3 });
  expect(failures).toEqual([
    expect.stringMatching(/^size: .*has no input 'size' in @pulumi\/random .*; allowed: keepers, length/),
    "length: random:index/randomString:RandomString needs the property 'length', which is missing",
  ]);
  expect((await random.checkConfig({ seed: "1" })).failures).toEqual([
    expect.stringContaining("no input 'seed' in @pulumi/random"),
  ]);
});
