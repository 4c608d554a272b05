import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bareRepository } from "@eks-gitops-fleet/local/git";
import { leftovers } from "@eks-gitops-fleet/local/instance";
import { beforeAll, describe, expect, test } from "vitest";
import { hubKinds, missingKinds } from "../support/inventory-lines.ts";
import { succeeds } from "../support/process.ts";
import { cli, eventually, git, instance, killedAt, outputs, pulumi } from "./support/fleet.ts";
import { inventory } from "./support/inventory.ts";

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

/** The newest commit of a repository on the instance's Git server. */
const head = (repository: string) => git(["--git-dir", bareRepository(instance, repository), "rev-parse", "main"]);

describe("removing the hub and bringing it up again", () => {
  const first: string[] = [];
  beforeAll(async () => {
    first.push(...(await deployed()));
  });

  test("pulumi destroy leaves nothing in the account, and an up on the same account works at once", async () => {
    const { fleet } = (await outputs()).bridgeData;
    expect(missingKinds(await inventory(fleet), hubKinds)).toEqual([]);
    expect(await pulumi(["destroy", "--yes", "--skip-preview"])).toMatch(/Resources:\n\s+- \d+ deleted\n/);
    expect(await inventory(fleet)).toEqual([]);
    await pulumi(["up", "--yes", "--skip-preview"]);
    expect(await deployed()).toEqual(first);
  }, 1_200_000);

  test("npm run down removes everything, unattended", async () => {
    const stdout = await succeeds(cli("down.ts"));
    expect(stdout).toMatch(/Resources:\n\s+- \d+ deleted/);
    // What a newer checkout publishes may need a `pulumi up` that never comes.
    expect(stdout).not.toContain("publish the repositories");
    expect(await leftovers(instance)).toEqual([]);
    expect(existsSync(instance.dir)).toBe(false);
  });

  test("npm run down with nothing there says so", async () => {
    expect(await cli("down.ts")).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing to remove") });
  });

  test("npm start, killed at several points and run again, ends in the same state", async () => {
    await killedAt("start.ts", [], /start the AWS API/);
    await killedAt("start.ts", [], /start the Git server/);
    await killedAt("start.ts", [], /aws:ec2:Subnet \S+ created/);
    await killedAt("start.ts", [], /aws:eks:Cluster \S+ creating/, killPulumi);
    await killedAt("start.ts", [], /aws:eks:NodeGroup \S+ creating/);
    await killedAt("start.ts", [], /helm\.sh\/v3:Release \S+ creating/, killPulumi);
    await killedAt("start.ts", [], /register the deploy keys/);
    await killedAt("start.ts", [], /add spoke blue/);
    await killedAt("start.ts", [], /onboard payment-app/);
    await killedAt("start.ts", [], /wait until spoke blue is Ready/);
    const { code, stdout, stderr } = await cli("start.ts");
    expect(code, stdout.slice(-4000) + stderr).toBe(0);
    expect(await deployed()).toEqual(first);
    // Flux may be taking up the last commit.
    await eventually(180, async () => {
      const { code: healthy, stdout: status } = await cli("status.ts");
      expect(healthy, status).toBe(0);
    });
  }, 1_800_000);

  test("npm start on a running fleet changes nothing in it", async () => {
    const heads = () => Promise.all(["gitops-system", "gitops-workloads"].map((name) => head(name)));
    const before = await heads();
    const { code, stdout, stderr } = await cli("start.ts");
    expect(code, stdout.slice(-4000) + stderr).toBe(0);
    expect(stdout).toMatch(/Resources:\n\s+\d+ unchanged\n/);
    expect(await heads()).toEqual(before);
    const [url] = /http:\/\/127\.100\.\d+\.1:\d+/.exec(stdout) ?? [];
    expect((await fetch(`${url}/api/info`)).status, `the URL of the application: ${url}`).toBe(200);
  });
});
