import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { functions, type Handler, handlers, inputPaths } from "../../../aws/index.ts";
import { openSdk, type ResourceShape } from "../../../pulumi/framework/index.ts";

const sdk = openSdk("aws");
const top = (paths: readonly string[] = []) => [...new Set(paths.map((p) => p.split(".")[0] as string))];

const shapeOf = (token: string): ResourceShape => {
  const shape = sdk.resource(token);
  if (!shape) throw new Error(`@pulumi/aws has no ${token}`);
  return shape;
};

describe.each([...handlers])("%s", (token: string, handler: Handler) => {
  const shape = shapeOf(token);

  test("honours only inputs of the SDK, and all that it requires", () => {
    expect(top(inputPaths(handler)).filter((name) => !shape.inputs.includes(name))).toEqual([]);
    expect(shape.required.filter((name) => !top(handler.inputs).includes(name))).toEqual([]);
  });

  test("takes tags and a region exactly where the SDK does", () => {
    expect(handler.tagged ?? false).toBe(shape.inputs.includes("tags"));
    expect(handler.regional ?? true).toBe(shape.inputs.includes("region"));
  });

  test("names honoured inputs only in its tables", () => {
    const blocks = new Set(
      handler.inputs.flatMap((p) => p.split(".").map((_, i, all) => all.slice(0, i + 1).join("."))),
    );
    const named = [
      ...(handler.computed ?? []),
      ...handler.replaceOn,
      ...Object.keys(handler.defaults ?? {}),
      ...Object.keys(handler.compare ?? {}),
      ...(handler.unread ?? []),
      ...(handler.autoName ? [handler.autoName.property] : []),
    ];
    expect(named.filter((name) => !blocks.has(name))).toEqual([]);
  });

  test("names outputs of the SDK as changed by updates", () => {
    const known = [...shape.outputs, ...shape.inputs];
    expect((handler.changedByUpdate ?? []).filter((name) => !known.includes(name))).toEqual([]);
    if (handler.failed) expect(known).toContain("status");
  });
});

test("nested inputs are members that the SDK's types have", () => {
  const folder = path.dirname(createRequire(import.meta.url).resolve("@pulumi/aws/package.json"));
  const words = new Set(readFileSync(path.join(folder, "types", "input.d.ts"), "utf8").match(/^ {8}\w+(?=\??:)/gm));
  const members = [...handlers.values()]
    .flatMap((handler) => handler.inputs)
    .flatMap((p) => p.split(".").slice(1))
    .filter((member) => member !== "*");
  expect([...new Set(members)].filter((member) => !words.has(`        ${member}`))).toEqual([]);
});

test("functions are functions of the SDK", () => {
  const folder = path.dirname(createRequire(import.meta.url).resolve("@pulumi/aws/package.json"));
  for (const [token, { arguments: names }] of Object.entries(functions)) {
    const file = (token.split(":")[1] as string).replace(/^index\//, "");
    const text = readFileSync(path.join(folder, `${file}.js`), "utf8");
    expect(text).toContain(`"${token}"`);
    for (const name of names) expect(text).toContain(`"${name}": args.${name}`);
  }
});
