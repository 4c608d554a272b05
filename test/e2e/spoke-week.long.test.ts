import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Row } from "../../cli/list/rows.ts";
import { withResources } from "../support/checkout.ts";
import { git, succeeds } from "../support/process.ts";
import { APP, APP_REPOSITORY, manifests, ROLLOUT_SECONDS } from "./support/apps.ts";
import { eventually, get } from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import { atHost, keysIn } from "./support/rotation.ts";
import {
  BOOTSTRAP_SECONDS,
  calledByGit,
  fleet,
  getOnSpoke,
  REMOVAL_SECONDS,
  registerWebhooks,
  system,
  UPGRADE_SECONDS,
  untilGone,
  workloads,
} from "./support/spokes.ts";

/** A newcomer's first week: each test is what a person does with `fleet` and git, and waits for by `fleet list`. */

const SPOKE = "lime";
const secret = `week-${Date.now()}`;
/** The label of the Composition that lets the spokes of prod take it. */
const prod = "channel.fleet.internal/prod";

/** Milliseconds that a day may take: several waits, each with a limit of its own. */
const DAY = { timeout: 1_800_000 };

let platform: Checkout;
let governance: Checkout;
let team: Checkout;
beforeAll(async () => {
  platform = await system();
  governance = await workloads();
  team = await manifests();
});
afterAll(async () => {
  await team.restore();
  for (const checkout of [governance, platform]) await git(["pull", "--quiet", "--rebase"], checkout.folder);
  await governance.restore();
  if ((await platform.restore()) !== undefined) await untilGone(SPOKE);
});

/** Runs a command of `fleet` that succeeds; what it says. */
async function does(args: readonly string[], input?: string): Promise<string> {
  const stdout = await succeeds(fleet(args, input === undefined ? {} : { input }));
  return stdout;
}

/** Does something to the spoke in a clone of gitops-system that is up to date, and pushes it. */
async function change(...args: string[]): Promise<string> {
  await git(["pull", "--quiet", "--rebase"], platform.folder);
  return does([...args, "--repository", platform.folder, "--push"]);
}

/** A step of the rotation of the application's deploy key, pushed. */
async function rotates(step: "--new" | "--registered" | "--removed"): Promise<string> {
  await git(["pull", "--quiet", "--rebase"], governance.folder);
  const checkouts = ["--repository", governance.folder, "--system", platform.folder];
  return does(["rotate-deploy-key", `${SPOKE}/${APP}`, step, "--push", ...checkouts]);
}

/** Whether prod takes what this spoke of dev is made by. */
async function takenByProd(): Promise<string> {
  const { spec } = await get(["spoke", SPOKE, "--namespace", "spokes"]);
  const { metadata } = await get(["compositionrevision", spec.crossplane.compositionRevisionRef.name]);
  return metadata.labels[prod];
}

/** What `fleet list` says of the spoke; undefined when there is none. */
async function row(): Promise<Row | undefined> {
  const { code, stdout, stderr } = await fleet(["list", "-o", "json"]);
  expect(code, stderr).not.toBe(2);
  return (JSON.parse(stdout) as { spokes: Row[] }).spokes.find(({ name }) => name === SPOKE);
}

/** Waits until `fleet list` says that all is well, and this besides. */
const untilWell = (seconds: number, more: Partial<Row> = {}) =>
  eventually(seconds, async () => expect(await row()).toMatchObject({ isReady: true, isWell: true, ...more }));

test("on Monday a cluster comes up by one command, and fleet why says what it waits for", DAY, async () => {
  const kubernetes = ["--kubernetes-version", "1.35", "--nodes", "1"];
  await change("new-cluster", SPOKE, "--environment", "dev", "--tenant", "payments", ...kubernetes, ...calledByGit);
  await eventually(60, async () => expect(await row()).toMatchObject({ isReady: false }));
  expect(await fleet(["why", SPOKE])).toMatchObject({ code: 1, stdout: expect.stringContaining(SPOKE) });
  await untilWell(BOOTSTRAP_SECONDS, { kubernetesVersion: "1.35" });
  await registerWebhooks();
  expect(await does(["why", SPOKE])).toContain("Nothing hinders it");
});

test("on Tuesday an application is onboarded, and fleet list counts it", DAY, async () => {
  const said = await does([
    ...["onboard", APP, "--cluster", SPOKE, "--environment", "dev", "--tenant", "payments"],
    ...["--repository-url", `ssh://git@git.fleet.internal:2222/${APP_REPOSITORY}.git`, "--git-receiver", "github"],
    ...["--repository", governance.folder, "--system", platform.folder, "--push"],
  ]);
  await atHost(APP_REPOSITORY, keysIn(said)[0] as string);
  await untilWell(ROLLOUT_SECONDS, { applications: { ready: 1, total: 1 } });
  await registerWebhooks();
});

test(
  "on Wednesday the application's deploy key is replaced: the former one goes when the spoke has the new one",
  DAY,
  async () => {
    const [next] = keysIn(await rotates("--new"));
    await atHost(APP_REPOSITORY, next as string);
    const said = await rotates("--registered");
    await eventually(ROLLOUT_SECONDS, async () => {
      const { data } = await getOnSpoke(SPOKE, ["secret", `${APP}-git`, "--namespace", APP]);
      expect(atob(data["identity.pub"]).trim()).toBe(next);
    });
    const former = keysIn(said);
    expect(former).toEqual([expect.not.stringContaining(next ?? "")]);
    await atHost("--remove", APP_REPOSITORY, former[0] as string);
    expect(await rotates("--removed")).toContain("No rotation of the deploy keys");
  },
);

test(
  "on Wednesday the application also gets a secret, read with the new key alone, which is nowhere in plain text",
  DAY,
  async () => {
    const file = join(team.folder, "overlays", "dev", "api.yaml");
    const where = ["--cluster", SPOKE, "--namespace", APP, "--name", "api", "--output", file];
    const checkouts = ["--system", platform.folder, "--workloads", governance.folder];
    const said = await does(["seal", ...where, ...checkouts, "--from-stdin", "token"], `${secret}\n`);
    expect(said).not.toContain(secret);
    await team.edit(join("overlays", "dev", "kustomization.yaml"), withResources("api.yaml"));
    await team.push("Give the application its token");
    await eventually(ROLLOUT_SECONDS, async () => {
      const { data } = await getOnSpoke(SPOKE, ["secret", "api", "--namespace", APP]);
      expect(atob(data["token"])).toBe(secret);
    });
    await untilWell(ROLLOUT_SECONDS);
  },
);

test(
  "on Thursday a change of the Composition that prod holds back is promoted, once dev has tried it",
  DAY,
  async () => {
    const composition = join(platform.folder, "platform", "composition", "composition.yaml");
    await git(["pull", "--quiet", "--rebase"], platform.folder);
    const text = await readFile(composition, "utf8");
    await writeFile(composition, text.replace(`${prod}: "true"`, `${prod}: "false"`));
    await platform.push("Let dev try the Composition first");
    await eventually(ROLLOUT_SECONDS, async () => expect(await takenByProd()).toBe("false"));
    const promotion = ["promote", "--from", "dev", "--to", "prod", "--only", "composition"];
    const rehearsed = await does([...promotion, "--repository", platform.folder, "--dry-run"]);
    expect(rehearsed).toMatch(/^composition +held back +taken/m);
    expect(rehearsed).toContain("Nothing was written.");
    expect(await change(...promotion)).toContain("Promote composition from dev to prod");
    await eventually(ROLLOUT_SECONDS, async () => expect(await takenByProd()).toBe("true"));
    await untilWell(ROLLOUT_SECONDS);
  },
);

test(
  "on Thursday the cluster is scaled and upgraded: a dry run says what would change and changes nothing",
  DAY,
  async () => {
    const rehearsed = await does(["scale", SPOKE, "--nodes", "2", "--repository", platform.folder, "--dry-run"]);
    expect(rehearsed).toMatch(/^[-+] +desired: 2$/m);
    expect(rehearsed).toContain("Nothing was written.");
    await change("scale", SPOKE, "--nodes", "2");
    expect(await change("upgrade", SPOKE)).toContain("1.36");
    await eventually(UPGRADE_SECONDS, async () => {
      const found = await row();
      expect(found).toMatchObject({ isReady: true, isWell: true, kubernetesVersion: "1.36" });
      expect(found).not.toHaveProperty("nextVersion");
    });
    const { items } = await getOnSpoke(SPOKE, ["nodes"]);
    expect(items).toHaveLength(2);
  },
);

test("on Friday a protected cluster is not removed, and its application is offboarded first", DAY, async () => {
  await change("protect", SPOKE);
  const refused = await fleet(["remove", SPOKE, "--yes", "--repository", platform.folder]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--off") });
  expect(existsSync(join(platform.folder, "spokes", "fleet", SPOKE, "spoke.yaml"))).toBe(true);

  await does([
    ...["offboard", APP, "--cluster", SPOKE, "--yes", "--push"],
    ...["--repository", governance.folder, "--system", platform.folder],
  ]);
  await untilWell(REMOVAL_SECONDS, { applications: { ready: 0, total: 0 } });
  await change("protect", SPOKE, "--off");
  await change("remove", SPOKE, "--yes", "--workloads", governance.folder);
  await eventually(REMOVAL_SECONDS, async () => expect(await row()).toBeUndefined());
});
