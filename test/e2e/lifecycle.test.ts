import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { leftovers } from "../../local/instance/index.ts";
import { cli, instance, pulumi, root } from "./support/fleet.ts";

/** Addresses of everything in the state: type and name. */
const deployed = async () =>
  (JSON.parse(await pulumi(["stack", "export"])).deployment.resources as { urn: string }[])
    .map(({ urn }) => urn)
    .sort();

/** Kills the running `pulumi up`, hard, if there is one: it is a process of its own, which outlives `npm start`. */
function killPulumi(): void {
  const record = join(instance.paths.pulumi, "operation.json");
  if (existsSync(record)) process.kill(JSON.parse(readFileSync(record, "utf8")).pid, "SIGKILL");
}

/** Runs `npm start` and kills it, hard, as soon as its output matches; `also` is called right after. */
function killedAt(line: RegExp, also: () => void = () => {}): Promise<void> {
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
      also();
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
    await killedAt(/start the AWS API/);
    await killedAt(/start the Git server/);
    await killedAt(/aws:ec2:Subnet \S+ created/);
    await killedAt(/aws:eks:Cluster \S+ creating/, killPulumi);
    await killedAt(/aws:eks:NodeGroup \S+ creating/);
    await killedAt(/helm\.sh\/v3:Release \S+ creating/, killPulumi);
    await killedAt(/register the deploy keys/);
    const { code, stdout, stderr } = await cli("start.ts");
    expect(code, stdout.slice(-4000) + stderr).toBe(0);
    expect(await deployed()).toEqual(first);
    const { code: healthy, stdout: status } = await cli("status.ts");
    expect(healthy, status).toBe(0);
  });
});
