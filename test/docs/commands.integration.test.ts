import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { describe, expect, test } from "vitest";
import { descriptions } from "../../cli/descriptions.ts";
import { blocks, lines, pages, root, text } from "./support/pages.ts";

const { scripts } = JSON.parse(text("package.json")) as { scripts: Readonly<Record<string, string>> };

/** Pages that people follow line by line: each of their command blocks runs in tests, or is marked `aws`. */
const followed = pages.filter((page) => /^(README|CONTRIBUTING)\.md$|^docs\/tutorials\//.test(page));
const kinds = ["sh", "sh aws", "text", "mermaid"];

/** What proves the commands that are neither a script of package.json nor `fleet`: a test file, and what stands in it. */
const proofs: readonly (readonly [command: RegExp, file: string, proof: string])[] = [
  [
    /^\. \.local\/env$/,
    "shell.integration.test.ts",
    "sourcing env sets every variable literally and puts the tools first on PATH",
  ],
  [/^kubectl get pods -A$/, "hub.test.ts", "every controller is there and every pod is Ready"],
  [/^kubectl get kustomizations /, "hub.test.ts", "is applied and Ready at the head of the branch"],
  [/^kubectl( -n spokes)? get spokes? /, "spoke-lifecycle.long.test.ts", 'get(["spokes", ...inSpokes])'],
  [/^kubectl get configmap cluster-info /, "hub.test.ts", "manifests get their variables"],
  [/^pulumi stack output$/, "pulumi.test.ts", "the outputs are what people need next"],
  [/^(system=\$\(mktemp -d\)|cd |git (clone|add|commit|push)\b)/, "hub.test.ts", "a person's push is applied"],
];

const tests = (file: string): string => globSync(`{test,local/test}/**/${file}`, { cwd: root }).map(text).join("");

/** The simple commands of a line. */
const simple = (line: string): string[] =>
  line
    .replace(/\s+#.*$/, "")
    .split("&&")
    .map((command) => command.trim())
    .filter((command) => command !== "");

const words = (command: string): string[] => command.match(/"[^"]*"|<[^>]*>|\S+/g) ?? [];

/** What is wrong with a call of `fleet`: the command, or a flag that its own parser refuses. */
function wrongCall(command: string): string | undefined {
  const [, name = "", rest = ""] =
    /^(?:npx )?(?:--prefix (?:<[^>]*>|\S+) )?fleet ([a-z-]+)\s*(.*)$/.exec(command) ?? [];
  const known = descriptions[name];
  if (known === undefined) return `${command}: there is no command ${name}`;
  const args = words(rest.replaceAll("…", "").replace(/ [|>] .*$/, ""));
  try {
    parseArgs({ args, options: known.options, allowPositionals: true, strict: true });
    return undefined;
  } catch (error) {
    return `${command}: ${(error as Error).message}`;
  }
}

function wrongScript(command: string): string | undefined {
  const [, script = ""] = /^npm (?:run )?([\w:]+)/.exec(command) ?? [];
  return script === "ci" || Object.hasOwn(scripts, script) ? undefined : `${command}: package.json has no ${script}`;
}

const isFleet = (command: string) => /^(npx )?(--prefix (<[^>]*>|\S+) )?fleet [a-z]/.test(command);
const isScript = (command: string) => /^npm (run )?\w/.test(command);

function uncovered(command: string): string | undefined {
  if (isFleet(command)) return wrongCall(command);
  if (isScript(command)) return wrongScript(command);
  const proof = proofs.find(([pattern]) => pattern.test(command));
  if (proof === undefined) return `${command}: no test runs it; name one in this file, or mark the block "sh aws"`;
  const [, file, part] = proof;
  return tests(file).includes(part) ? undefined : `${command}: ${file} has no "${part}" any more`;
}

const commandsOf = (page: string, info: string) =>
  blocks(text(page))
    .filter((block) => block.info === info)
    .flatMap(({ code }) => lines(code).flatMap(simple));

test.each(Object.entries(descriptions))("the help of fleet %s fits into 130 columns", (_, { help }) =>
  expect(help.split("\n").filter((line) => line.length > 130)).toEqual([]),
);

describe("a page that people follow", () => {
  test.each(followed)("%s says of each block what it is", (page) => {
    const other = blocks(text(page)).map(({ info }) => info);
    expect(other.filter((info) => !kinds.includes(info))).toEqual([]);
  });

  test.each(followed)("%s has no command that neither a test runs nor AWS is needed for", (page) => {
    expect(commandsOf(page, "sh").flatMap((command) => uncovered(command) ?? [])).toEqual([]);
  });
});

describe("any page", () => {
  test.each(pages)("%s calls fleet and npm only as they can be called", (page) => {
    const all = blocks(text(page))
      .filter(({ info }) => info !== "text")
      .flatMap(({ code }) => lines(code).flatMap(simple));
    const wrong = [...all.filter(isFleet).map(wrongCall), ...all.filter(isScript).map(wrongScript)];
    expect(wrong.filter((one) => one !== undefined)).toEqual([]);
  });
});

test("the reference of the project's commands has every script of package.json, and no other", () => {
  const page = text("docs/reference/commands.md");
  const named = [...page.matchAll(/`(?:npm (?:run )?)?([a-z]+(?::[a-z0-9]+)*)[^`]*`/g)].map(([, name]) => name);
  for (const script of Object.keys(scripts))
    expect(named, `docs/reference/commands.md lacks ${script}`).toContain(script);
  for (const [, script = ""] of page.matchAll(/`npm run ([\w:]+)/g)) expect(scripts).toHaveProperty(script);
});

describe.each(Object.entries(descriptions))("the help of fleet %s", (name, { help, options }) => {
  test("ends with examples that its own parser takes", () => {
    const [, examples = ""] = /\n\nExamples?:\n((?: {2}.*\n)+)$/.exec(help) ?? [];
    const calls = lines(examples).flatMap(simple).filter(isFleet);
    expect(calls.filter((call) => call.startsWith(`fleet ${name} `)).length).toBeGreaterThan(0);
    expect(calls.flatMap((call) => wrongCall(call) ?? [])).toEqual([]);
  });

  test("names every flag", () => {
    const named = new Set([...help.matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)].map(([, flag = ""]) => flag));
    const own = Object.keys(options).filter((flag) => flag !== "help");
    expect(own.filter((flag) => !named.has(flag))).toEqual([]);
  });
});
