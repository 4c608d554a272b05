import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { blocks, lines, pages, text } from "./support/pages.ts";

const commands = (page: string): string[] => blocks(text(page)).flatMap(({ code }) => lines(code));
const tutorial = "docs/tutorials/first-spoke-on-aws.md";

/** Positions of the first lines that match, each after the one before. */
function inOrder(page: string, patterns: readonly RegExp[]): void {
  const found = patterns.map((pattern) => commands(page).findIndex((line) => pattern.test(line)));
  expect(found, patterns.join(" ")).not.toContain(-1);
  expect(found).toEqual([...found].sort((a, b) => a - b));
}

describe("the README", () => {
  test("fits on a few screens, and says what has not been proved before anything else", () => {
    const readme = text("README.md").split("\n");
    expect(readme.length).toBeLessThanOrEqual(120);
    expect(readme.findIndex((line) => line.includes("has not run on AWS"))).toBeLessThan(15);
  });

  test("has no placeholder of a figure", () => expect(text("README.md")).not.toMatch(/@[A-Z_]+@/));

  test("names the command that CI runs first", () => {
    const [inCi = ""] = /^npm [^|]*/m.exec(text(".ci/run")) ?? [];
    expect(commands("README.md")).toContain(inCi.trim());
  });

  test("says beside the commands for AWS which Node.js they need, as the package does", () => {
    const deploy = text("README.md")
      .split(/^## /m)
      .find((section) => section.startsWith("Deploy to AWS"));
    expect(deploy).toContain(`Node.js ${packageJson.engines.node.replace(">=", "")}\nor newer`);
  });

  test("shows output of npm start whose steps npm start has", () => {
    const shown = blocks(text("README.md")).find(({ info }) => info === "text")?.code ?? "";
    const steps = ["local/cli/cloud-steps.ts", "local/cli/stack-steps.ts", "local/cli/demo-steps.ts"]
      .map(text)
      .join("");
    const names = [...shown.matchAll(/^\[ *\d+\/\d+\] (.*?)(?:: done in .*)?$/gm)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(0);
    // The beginnings: the code puts names of spokes and commands into some of them.
    for (const name of names) expect(steps).toContain(name.split(" ").slice(0, 2).join(" "));
  });
});

describe("the tutorial of the first spoke on AWS", () => {
  test("watches one kind at a time, as kubectl does", () => {
    const watches = commands(tutorial).filter((line) => /kubectl .* (--watch|-w)\b/.test(line));
    expect(watches.length).toBeGreaterThan(0);
    for (const line of watches) expect(line).not.toMatch(/ get [^ ]*,/);
  });

  test("commits the stack's file before pulumi up, after Pulumi has written its key into it", () => {
    inOrder(tutorial, [/^pulumi stack init /, /^git add stacks\//, /^pulumi up$/]);
  });

  test("creates the stack before it sets a key, and checks it afterwards", () => {
    inOrder(tutorial, [/^pulumi stack init /, /^pulumi config set /, /fleet doctor/, /^pulumi up$/]);
  });

  test("leads from fleet init to an application in the order in which one does it", () => {
    inOrder(tutorial, [/fleet init /, /fleet doctor/, /fleet new-cluster /, /fleet onboard /]);
  });
});

test("no page sets a tag whose value Pulumi would store as a number", () => {
  const commands = pages.flatMap((page) => text(page).match(/pulumi config set [^`\n]*[ ']tags\.[^`\n]*/g) ?? []);
  expect(commands.length).toBeGreaterThan(0);
  expect(commands.filter((command) => !command.includes("--type string"))).toEqual([]);
});
