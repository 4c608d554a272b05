import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formerKeys, type ListedKey, listedKeys, withKeys, withoutFormer } from "../../../cli/rotation/stack-file.ts";
import { root } from "../support/fleet.ts";

const key = "eks-gitops-fleet:sealingKeys";
const list = (text: string) => listedKeys(text, key, "test");
const change = (text: string, to: (keys: ListedKey[]) => ListedKey[]) => withKeys(text, key, "test", to(list(text)));
/** Lines that one text has and the other has not. */
const lines = (of: string, without: string) => of.split("\n").filter((line) => !without.split("\n").includes(line));
const second = { scope: "dev", generation: "2", active: false };

describe("the sealing keys in a stack's file", () => {
  test.each(["dev", "local"])(
    "get a generation more in a line of its own, beside that of its scope: stack %s",
    (stack) => {
      const text = readFileSync(join(root, "stacks", `Pulumi.${stack}.yaml`), "utf8");
      const changed = change(text, (keys) => [...keys, second]);
      expect(lines(changed, text)).toEqual(['    - { scope: dev, generation: "2", active: false }']);
      expect(lines(text, changed)).toEqual([]);
      const scopes = list(changed).map(({ scope, generation }) => `${scope}/${generation}`);
      expect(scopes.indexOf("dev/2")).toBe(scopes.indexOf("dev/1") + 1);
      // And back.
      expect(change(changed, (keys) => keys.filter(({ generation }) => generation === "1"))).toBe(text);
    },
  );

  test("change their active generation in place", () => {
    const text = `config:
  ${key}:
    - { scope: dev, generation: "1", active: true } # the first
    - scope: dev
      generation: "2"
      active: false
  other: x
`;
    expect(change(text, (keys) => keys.map((each) => ({ ...each, active: !each.active })))).toBe(
      text
        .replace("active: true", "active: _")
        .replace("active: false", "active: true")
        .replace("active: _", "active: false"),
    );
    expect(change(text, ([first]) => [first as ListedKey])).not.toContain('generation: "2"');
    expect(change(text, ([_, later]) => [later as ListedKey])).not.toContain("the first");
    expect(change(text, (keys) => [...keys, { ...second, generation: "3" }])).toContain(
      'active: false\n    - { scope: dev, generation: "3", active: false }\n  other: x\n',
    );
  });

  test("get the first generation of a scope behind all others", () => {
    const text = `config:\n  ${key}:\n    - { scope: prod, generation: "1", active: true }\n  other: x\n`;
    expect(change(text, (keys) => [...keys, second])).toBe(
      text.replace("  other", '    - { scope: dev, generation: "2", active: false }\n  other'),
    );
  });

  test("get a line at the end of a file that has no end of line there", () => {
    const text = `config:\n  ${key}:\n  - { scope: dev, generation: "1", active: true }`;
    expect(change(text, (keys) => [...keys, second])).toBe(
      `${text}\n  - { scope: dev, generation: "2", active: false }\n`,
    );
  });

  test.each([
    ["in one line", `config: { "${key}": [{ scope: dev, generation: "1", active: true }] }\n`],
    ["that stand nowhere", "config:\n  aws:region: eu-west-1\n"],
  ])("%s are left to a person, who is shown what to write", (_, text) => {
    expect(() => change(text, (keys) => [...keys, second])).toThrow('- { scope: dev, generation: "2", active: false }');
  });

  test("of another form are refused", () => {
    expect(() => list(`config:\n  ${key}: '[]'\n`)).toThrow("is not a list of { scope, generation, active }");
  });
});

describe("the former sealing keys in a stack's file", () => {
  const formerKey = "eks-gitops-fleet:formerSealingKeys";
  const without = (text: string, ...generations: string[]) =>
    withoutFormer(
      text,
      formerKey,
      "test",
      generations.map((generation) => ({ scope: "dev", generation })),
    );
  const entry = (generation: string) =>
    `    - scope: dev\n      generation: "${generation}"\n      certificate: |\n        line\n        of ${generation}\n`;
  const file = (list: string) => `config:\n  a:b: c # kept\n${list}  d:e: f\n`;

  test("go with all their lines, and leave the others and their comments", () => {
    const text = file(`  ${formerKey}:\n    # of the first hub\n${entry("1")}${entry("2")}`);
    expect(without(text, "1")).toBe(file(`  ${formerKey}:\n    # of the first hub\n${entry("2")}`));
    expect(without(text, "2")).toBe(file(`  ${formerKey}:\n    # of the first hub\n${entry("1")}`));
    expect(without(text, "2", "1")).toBe(file(""));
    expect(without(text, "3")).toBe(text);
  });

  test("in one line are left to a person, unless all go", () => {
    const text = file(`  ${formerKey}: [{ scope: dev, generation: "1" }, { scope: dev, generation: "2" }]\n`);
    expect(() => without(text, "1")).toThrow("take dev/1 out by hand");
    expect(without(text, "1", "2")).toBe(file(""));
  });

  test("of another form are refused", () => {
    expect(() => formerKeys(file(`  ${formerKey}: [dev/1]\n`), formerKey, "test")).toThrow(
      "is not a list of { scope, generation, arn, certificate }",
    );
  });
});
