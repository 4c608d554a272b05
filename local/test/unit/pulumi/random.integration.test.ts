import { compare } from "bcryptjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plainMap, Secret, textOf, UNKNOWN } from "../../../pulumi/framework/values.ts";
import { type Plugin, startPlugin } from "./harness.ts";

const PASSWORD = "random:index/randomPassword:RandomPassword";

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

test("two passwords differ, and one of one class holds only that class", async () => {
  const inputs = { length: 40, upper: false, lower: false, special: false };
  const make = async () => textOf(plainMap((await random.create(PASSWORD, inputs)).outputs)["result"]);
  const [first, second] = [await make(), await make()];
  expect(first).not.toBe(second);
  expect(first).toMatch(/^[0-9]{40}$/);
});

test("a changed keeper or length replaces, an equal one changes nothing", async () => {
  const before = { length: 8, keepers: { generation: "1" } };
  expect((await random.diff(PASSWORD, "x", before, { ...before })).changed).toBe(false);
  const diff = await random.diff(PASSWORD, "x", before, { length: 9, keepers: { generation: "2" } });
  expect(diff.properties).toEqual({ length: "update-replace", "keepers.generation": "update-replace" });
});

test("a refresh returns what was recorded, an import is refused", async () => {
  const created = await random.create(PASSWORD, { length: 4 });
  const read = await random.read(PASSWORD, created.id, created.outputs, { length: 4 });
  expect(read.outputs).toEqual(created.outputs);
  expect(read.inputs).toEqual({ length: 4 });
  await expect(random.read(PASSWORD, "pass")).rejects.toThrow("cannot import a password: use the official plugin");
});

test("a preview shows inputs and unknown results", async () => {
  const { id, outputs } = await random.create(PASSWORD, { length: 5 }, { preview: true });
  expect(id).toBe("");
  expect(outputs["length"]).toBe(5);
  expect(outputs["result"]).toEqual(new Secret(UNKNOWN));
});

test("impossible rules and wrong lengths are refused with what is allowed", async () => {
  const failures = async (token: string, news: Parameters<Plugin["check"]>[2]) =>
    (await random.check(token, "it", news)).failures;
  expect(await failures(PASSWORD, { length: 2, minUpper: 3 })).toEqual([
    "length: got 2, but the minimum counts ask for 3 characters",
  ]);
  expect(await failures(PASSWORD, { length: 0 })).toEqual(["length: got 0, allowed is a whole number from 1"]);
  expect(await failures(PASSWORD, { length: 1.5 })).toEqual(["length: got 1.5, allowed is a whole number from 1"]);
  expect(await failures(PASSWORD, { length: UNKNOWN })).toEqual([]);
});

test("unknown types, unknown inputs and missing inputs are refused by name", async () => {
  await expect(random.check("random:index/randomPet:RandomPet", "it", {})).rejects.toThrow(
    /does not implement the resource type random:index\/randomPet:RandomPet; implemented: random:index\/randomPassword:RandomPassword\. /,
  );
  const { failures } = await random.check(PASSWORD, "it", { size: 3 });
  expect(failures).toEqual([
    expect.stringMatching(/^size: .*has no input 'size' in @pulumi\/random .*; allowed: keepers, length/),
    "length: random:index/randomPassword:RandomPassword needs the property 'length', which is missing",
  ]);
  expect((await random.checkConfig({ seed: "1" })).failures).toEqual([
    expect.stringContaining("no input 'seed' in @pulumi/random"),
  ]);
});
