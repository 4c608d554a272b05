import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { leftovers } from "../../local/instance/index.ts";
import { cli, instance, pulumi, root } from "./support/fleet.ts";

/** Addresses of everything in the state: type and name. */
const deployed = async () =>
  (JSON.parse(await pulumi(["stack", "export"])).deployment.resources as { urn: string }[])
    .map(({ urn }) => urn)
    .sort();

/** Runs `npm start` and kills it, hard, as soon as a line of its output matches. */
function killedAt(line: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "local", "cli", "start.ts")], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, FLEET_LOCAL_DIR: instance.dir },
    });
    let output = "";
    let killed = false;
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk;
      if (killed || !line.test(output)) return;
      killed = true;
      child.kill("SIGKILL");
    });
    child.once("error", reject);
    child.once("exit", () =>
      killed ? resolve() : reject(new Error(`npm start ended before ${line}:\n${output.slice(-3000)}`)),
    );
  });
}

describe("removing the hub and bringing it up again", () => {
  const first: string[] = [];

  test("npm run down removes everything, unattended", async () => {
    first.push(...(await deployed()));
    const { code, stdout, stderr } = await cli("down.ts");
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/Resources:\n\s+- \d+ deleted/);
    expect(await leftovers(instance)).toEqual([]);
    expect(existsSync(instance.dir)).toBe(false);
  });

  test("npm run down with nothing there says so", async () => {
    expect(await cli("down.ts")).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing to remove") });
  });

  test("npm start, killed at several points and run again, ends in the same state", async () => {
    for (const point of [
      /start the AWS API/,
      /start the Git server[^\n]*\n/,
      /aws:ec2:Subnet \S+ created/,
      /aws:eks:Cluster \S+ creating/,
      /helm\.sh\/v3:Release \S+ creating/,
      /register the deploy keys/,
    ])
      await killedAt(point);
    const { code, stdout, stderr } = await cli("start.ts");
    expect(code, stdout.slice(-4000) + stderr).toBe(0);
    expect(await deployed()).toEqual(first);
    const { code: healthy, stdout: status } = await cli("status.ts");
    expect(healthy, status).toBe(0);
  });
});
