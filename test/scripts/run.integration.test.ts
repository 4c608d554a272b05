import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary.ts";

const root = join(import.meta.dirname, "..", "..");
const runner = join(root, "scripts", "run.mjs");
const { outdated } = await import(runner);
const base = temporaryFolder("fleet-run");

function script(name: string, text: string): string {
  writeFileSync(join(base, name), text);
  return relative(root, join(base, name));
}

describe("npm's record of its last install against package-lock.json", () => {
  const lock = {
    packages: {
      "": { version: "1" },
      "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
      "node_modules/mac-only": { version: "1.0.0", integrity: "sha512-m", optional: true },
    },
  };

  test("nothing installed: everything but optional packages is missing", () => {
    expect(outdated(lock, undefined)).toEqual(["node_modules/a"]);
  });

  test("the same content is up to date", () => {
    expect(outdated(lock, { packages: { "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } } })).toEqual([]);
  });

  test("another version or content is out of date", () => {
    expect(outdated(lock, { packages: { "node_modules/a": { version: "0.9.0", integrity: "sha512-a" } } })).toEqual([
      "node_modules/a",
    ]);
    expect(outdated(lock, { packages: { "node_modules/a": { version: "1.0.0", integrity: "sha512-b" } } })).toEqual([
      "node_modules/a",
    ]);
  });
});

test("packages of another checkout, behind a link, are left alone: npm ci would empty that folder", () => {
  const [own, other] = ["own", "other"].map((name) => join(base, name)) as [string, string];
  mkdirSync(join(own, "scripts"), { recursive: true });
  mkdirSync(join(other, "node_modules", "a"), { recursive: true });
  copyFileSync(runner, join(own, "scripts", "run.mjs"));
  writeFileSync(join(own, "package.json"), "{}");
  const packages = { "": {}, "node_modules/a": { version: "2.0.0" }, "node_modules/mac-only": { optional: true } };
  writeFileSync(join(own, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages }));
  symlinkSync(join(other, "node_modules"), join(own, "node_modules"));
  const env = { ...process.env, npm_config_offline: "true" };
  const { stdout } = spawnSync("node", [join(own, "scripts", "run.mjs"), "x.ts"], { encoding: "utf8", env });
  expect(stdout).toContain(`was a link to ${join(other, "node_modules")}`);
  expect(readdirSync(join(other, "node_modules"))).toEqual(["a"]);
  // Without those for other platforms, as npm counts them.
  expect(stdout).toContain("1 of 1 packages are missing");
});

test("a clone below a path with an asterisk is refused at once: Node.js would not find its packages", () => {
  const clone = join(base, "a*b");
  mkdirSync(join(clone, "scripts"), { recursive: true });
  copyFileSync(runner, join(clone, "scripts", "run.mjs"));
  const { status, stderr } = spawnSync("node", [join(clone, "scripts", "run.mjs"), "x.ts"], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain(`${clone}: Node.js can't load packages below a path with "*": move this clone`);
});

describe("a script under scripts/run.mjs", () => {
  test("runs on the project's Node with its arguments and gives its exit code", () => {
    const file = script(
      "code.ts",
      "const code: number = Number(process.argv[2]); console.log(process.version); process.exit(code);",
    );
    const result = spawnSync("node", [runner, file, "7"], { encoding: "utf8" });
    expect(result.status).toBe(7);
    expect(result.stdout).toMatch(/^v22\./);
  });

  test("gets the signals sent to the runner", async () => {
    const file = script(
      "signal.ts",
      'process.on("SIGTERM", () => process.exit(9)); setInterval(() => {}, 1000); console.log("up");',
    );
    const child = spawn("node", [runner, file], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((up) => child.stdout.once("data", up));
    child.kill("SIGTERM");
    expect(await new Promise((done) => child.on("close", done))).toBe(9);
  });
});
