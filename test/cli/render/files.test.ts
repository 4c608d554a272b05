import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Files, manifestsBelow } from "../../../cli/render/files.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const folder = temporaryFolder("fleet-files");
const read = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  // biome-ignore lint/suspicious/noExplicitAny: the test writes where readers must not
  return new Files().documents(file)[0]?.content as any;
};

test("what one file says cannot be changed, not even deep in it: another file with the same text says the same", () => {
  const text = "metadata:\n  labels: { team: red }\nitems:\n  - { name: a }\n";
  const content = read("one.yaml", text);
  expect(() => {
    content.metadata.labels.team = "green";
  }).toThrow(TypeError);
  expect(() => content.items.push({})).toThrow(TypeError);
  expect(() => {
    content.items[0].name = "b";
  }).toThrow(TypeError);
  expect(read("two.yaml", text)).toEqual({ metadata: { labels: { team: "red" } }, items: [{ name: "a" }] });
});

test("a file may hold binary data and an alias of what surrounds it", () => {
  const content = read("odd.yaml", "self: &self\n  inner: *self\nbytes: !!binary aGk=\n");
  expect(content.self.inner).toBe(content.self);
  expect(Buffer.from(content.bytes).toString()).toBe("hi");
});

test("of a Helm chart no file is a manifest, and beside it every YAML file is one", () => {
  const below = join(folder, "below");
  for (const file of ["one.yaml", "notes.txt", "chart/Chart.yaml", "chart/templates/two.yaml", "charts/three.yml"]) {
    mkdirSync(join(below, file, ".."), { recursive: true });
    writeFileSync(join(below, file), "");
  }
  expect(manifestsBelow(below)).toEqual([join(below, "charts/three.yml"), join(below, "one.yaml")]);
});
