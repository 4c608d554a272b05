import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { raiseQuotas } from "../../cli/quotas.ts";
import { findInstance } from "../../instance/index.ts";
import { CHECKOUT } from "../../product-paths.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Folder of the instance that the e2e tests share. */
    dir: string;
  }
}

/**
 * Runs a command of local/cli/ on an instance, its output beside the tests'.
 * @param checkout whose command: this checkout's by default, or that of another version
 */
export function command(
  name: string,
  dir: string,
  args: readonly string[] = [],
  checkout: string = CHECKOUT,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(checkout, "local", "cli", name), ...args], {
      cwd: checkout,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, FLEET_LOCAL_DIR: dir },
    });
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`${name} ended with exit code ${code}: see above`)),
    );
  });
}

const checkout = () => execFileSync("git", ["status", "--porcelain"], { cwd: CHECKOUT, encoding: "utf8" });

/**
 * One embedded cloud with the production program for all e2e tests, brought up and removed by the commands that a person
 * uses. FLEET_TEST_DIR names its folder; with FLEET_TEST_KEEP=1 it stays afterwards (for work on the tests themselves).
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = process.env["FLEET_TEST_DIR"] ?? mkdtempSync(join(tmpdir(), "fleet-test-"));
  const before = checkout();
  project.provide("dir", dir);
  const remove = async () => {
    if (process.env["FLEET_TEST_KEEP"] === "1") return;
    await command("down.ts", dir); // fails when anything is left
    const after = checkout();
    if (after !== before)
      throw new Error(`the run changed the checkout; git status before:\n${before}\nafter:\n${after}`);
  };
  await command("start.ts", dir, ["--hub-only"]);
  const instance = await findInstance(dir);
  if (instance === undefined) throw new Error(`no instance runs in ${dir}, though npm start ended well`);
  // Tests make networks beside the fleet's; doctor.test.ts and gateway-quotas.test.ts ask what is refused.
  await raiseQuotas(instance, ["vpcs", "addresses", "natGateways"], 30);
  return remove;
}
