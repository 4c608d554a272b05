import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DeleteClusterCommand,
  DeleteNodegroupCommand,
  DescribeClusterCommand,
  paginateListNodegroups,
} from "@aws-sdk/client-eks";
import { pulumiPaths } from "@eks-gitops-fleet/local/pulumi";
import { command } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { labelKeys } from "../../lib/labels.ts";
import { APP, APP_REPOSITORY } from "../support/app.ts";
import type { Checkout, Editable } from "../support/checkout.ts";
import { withSpec } from "../support/checkout.ts";
import { expectApplied, expectUnchanged, isReady } from "../support/cluster.ts";
import { eventually, outcome, succeeds } from "../support/process.ts";
import { spokesOn } from "../support/spokes.ts";
import { FLEET, hubCluster, type OwnInstance, ownInstance, spokeCluster } from "./support/own-instance.ts";
import { asking } from "./support/requests.ts";

/**
 * The hub's cluster and its Pulumi state are gone, two spokes run: docs/guides/recovery.md#rebuild-a-lost-hub brings a new hub over them. On an instance of
 * its own.
 */

/** The demo's spoke, with its application, and another one with the same. */
const DEMO = "blue";
const OTHER = "green";
const spokes = [DEMO, OTHER] as const;
/** Seconds that a spoke, or a change of all, may take on a machine that is busy. */
const ROLLED_SECONDS = 1800;
/** Milliseconds between two looks at everything. */
const PAUSE = 3000;

let dir: string | undefined;
let its: OwnInstance;
/** Clones of the fleet's repositories, side by side. */
let clones: string | undefined;
let platform: Checkout;
let governance: Checkout;
let before: Readonly<Record<string, string[]>>;
/** The hub's own in AWS that has to stay: roles by their IDs, keys, addresses. */
let hubBefore: string[];
let stops: ReturnType<typeof asking>[] = [];

const up = () => its.run("pulumi", ["up", "--yes", "--skip-preview", "--suppress-outputs", "--non-interactive"]);
const importFile = () => join(clones ?? "", "import.json");
const untilAllReady = () =>
  eventually(
    ROLLED_SECONDS,
    async () => {
      for (const name of spokes) expect(isReady(await spokesOn(its.on(hubCluster)).spoke(name)), name).toBe(true);
    },
    PAUSE,
  );

/** A file of the overrides that an instance lays over the stack's configuration. */
const overrides = () => join(pulumiPaths(dir ?? "").overrides, "Pulumi.local.yaml");
/** Puts what the command prints for the stack's file into it. */
function enterSealingKeys(said: string): void {
  const lines = /^ {2}eks-gitops-fleet:sealingKeys:[\s\S]*(?=^Then run this again)/m.exec(said)?.[0] ?? "";
  const { config = {} } = parse(readFileSync(overrides(), "utf8"));
  writeFileSync(overrides(), stringify({ config: { ...config, ...parse(lines) } }));
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "fleet-lost-"));
  // Ends well once the spoke is Ready and the application answers.
  await command("start.ts", dir);
  its = await ownInstance(dir);
  clones = mkdtempSync(join(tmpdir(), "fleet-clones-"));
  [platform, governance] = [await its.clone("gitops-system", clones), await its.clone("gitops-workloads", clones)];
  const request = ["--environment", "dev", "--tenant", "payments", "--nodes", "1"];
  await its.succeed("fleet", ["new-cluster", OTHER, ...request, "--repository", platform.folder]);
  await platform.push(`Add spoke ${OTHER}`);
  const onboarded = await its.succeed("fleet", [
    ...["onboard", APP, "--cluster", OTHER, "--environment", "dev", "--tenant", "payments"],
    ...["--repository-url", `ssh://git@git.fleet.internal:2222/${APP_REPOSITORY}.git`],
    ...["--repository", governance.folder],
  ]);
  const [publicKey = ""] = /ssh-ed25519 \S+ .+/.exec(onboarded) ?? [];
  await its.succeed("deploy-key", [APP_REPOSITORY, publicKey]);
  await governance.push(`Onboard ${APP} on ${OTHER}`);
  await untilAllReady();
  await eventually(ROLLED_SECONDS, () => its.info(OTHER), PAUSE);
  before = await its.allIdentities(spokes);
  hubBefore = await its.hubIdentities();
  stops = spokes.map((spoke) => asking(() => its.info(spoke)));
}, 5_400_000);

afterAll(async () => {
  for (const stop of stops) await stop();
  if (dir !== undefined) {
    await command("down.ts", dir);
    // The command removes it too, when it was empty before.
    rmSync(dir, { recursive: true, force: true });
  }
  if (clones !== undefined) rmSync(clones, { recursive: true, force: true });
}, 2_400_000);

describe("a hub whose cluster and state are lost", () => {
  test("leaves its spokes running", async () => {
    const { eks } = its.account;
    for await (const { nodegroups = [] } of paginateListNodegroups({ client: eks }, { clusterName: hubCluster }))
      for (const nodegroupName of nodegroups)
        await eks.send(new DeleteNodegroupCommand({ clusterName: hubCluster, nodegroupName }));
    await eventually(300, () => eks.send(new DeleteClusterCommand({ name: hubCluster })));
    await eventually(300, async () =>
      expect(await outcome(eks.send(new DescribeClusterCommand({ name: hubCluster })))).toBe(
        "ResourceNotFoundException",
      ),
    );
    const { backend, home } = pulumiPaths(dir ?? "");
    rmSync(join(backend, ".pulumi"), { recursive: true });
    // What the stand-in for the AWS plugin remembers of interrupted creations; AWS's own remembers nothing.
    rmSync(join(home, "stand-in-aws"), { recursive: true, force: true });
    expect(await its.allIdentities(spokes)).toEqual(before);
  }, 1_200_000);

  test("has what each spoke is made of written into Git", async () => {
    for (const spoke of spokes) {
      const said = await its.succeed("fleet", ["adopt", spoke, "--repository", platform.folder]);
      expect(said).not.toMatch(/Not there|nothing manages/);
    }
    await platform.push("Adopt the spokes");
  });

  test("is not rebuilt with other sealing keys in the place of those that opened what is in Git", async () => {
    const { code, stdout, stderr } = await its.run("fleet", ["adopt-hub", "--stack", "local", "--file", importFile()]);
    expect(code, stdout + stderr).toBe(2);
    expect(stderr).toMatch(/^ {2}dev\/1$/m);
    expect(stderr).not.toContain("PRIVATE KEY");
    enterSealingKeys(stderr);
  });

  test("is found in AWS, and Pulumi takes everything of it into a new state", async () => {
    const said = await its.succeed("fleet", ["adopt-hub", "--stack", "local", "--file", importFile()]);
    expect(said).not.toContain("Not looked for");
    const imports = ["--file", importFile(), "--generate-code=false", "--protect=false", "--stack", "local"];
    await its.succeed("pulumi", ["import", ...imports, "--yes", "--skip-preview", "--non-interactive"]);
    expect(await its.succeed("fleet", ["adopt-hub", "--stack", "local", "--file", importFile()])).toContain(
      "Nothing of the hub is in",
    );
  }, 1_200_000);

  test("comes up again by pulumi up, with its roles, keys and addresses, and a second one finds nothing to do", async () => {
    const { steps } = JSON.parse(
      await its.succeed("pulumi", ["preview", "--json", "--non-interactive", "--stack", "local"]),
    );
    const operations = new Set(steps.map(({ op }: { readonly op: string }) => op));
    expect([...operations].sort()).toEqual(["create", "same", "update"]);
    await succeeds(up());
    expect(await its.hubIdentities()).toEqual(expect.arrayContaining(hubBefore));
    // Beside the former ones, which the spokes have.
    for (const [repository, key] of Object.entries<string>(
      JSON.parse(await its.succeed("pulumi", ["stack", "output", "--json", "deployPublicKeys"])),
    ))
      await its.succeed("deploy-key", [repository, `${key.trim()} rebuilt-hub`]);
    await its.succeed("webhooks", []);
    expectUnchanged(await up());
  }, 1_800_000);
});

describe("the new hub", () => {
  test("takes both spokes in: makes nothing twice and restarts nothing", async () => {
    await untilAllReady();
    for (const name of spokes)
      await eventually(ROLLED_SECONDS, async () =>
        expect(await spokesOn(its.on(hubCluster)).condition(name, "HubAccessNarrow")).toMatchObject({ status: "True" }),
      );
    expect(await its.allIdentities(spokes)).toEqual(before);
  }, 2_400_000);

  test("meanwhile the applications answered every request", async () => {
    const told = await Promise.all(stops.map((stop) => stop()));
    stops = [];
    for (const { answered, failures } of told) {
      expect(failures).toEqual([]);
      expect(answered).toBeGreaterThan(10);
    }
  });

  test("knows what the former keys sealed, and seals with keys of its own", async () => {
    const keys = await its.succeed("fleet", ["keys", "--stack", "local", "--repository", platform.folder]);
    expect(keys).toMatch(/^dev +1 +no .* [1-9]\d* +[0-9a-f]{12}$/m);
    expect(keys).toMatch(/^dev +2 +yes .* 0 +[0-9a-f]{12}$/m);
  });

  test("brings them the next commit", async () => {
    const spokeFile = join("spokes", FLEET, OTHER, "spoke.yaml");
    await platform.edit(spokeFile, withSpec({ logRetentionDays: 30 }));
    const commit = await platform.push(`Keep the logs of ${OTHER} for a month`);
    await eventually(ROLLED_SECONDS, () => expectApplied(its.on(hubCluster), "main", commit), PAUSE);
    const selector = ["--namespace", "spokes", "--selector", `${labelKeys.cluster}=${OTHER}`];
    await eventually(ROLLED_SECONDS, async () => {
      const { items } = await its.on(hubCluster).get(["groups.cloudwatchlogs.aws.m.upbound.io", ...selector]);
      expect(items.map(({ status }: Editable) => status.atProvider.retentionInDays)).toEqual([30]);
    });
  }, 1_200_000);

  test("removes one like any other", async () => {
    const removal = ["remove", OTHER, "--yes", "--repository", platform.folder, "--workloads", governance.folder];
    await its.succeed("fleet", removal);
    await platform.push(`Remove spoke ${OTHER}`);
    await spokesOn(its.on(hubCluster)).untilGone(OTHER, ROLLED_SECONDS);
    expect(await outcome(its.account.eks.send(new DescribeClusterCommand({ name: spokeCluster(OTHER) })))).toBe(
      "ResourceNotFoundException",
    );
  }, 2_400_000);
});
