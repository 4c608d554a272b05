import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFaults } from "@eks-gitops-fleet/local/gateway";
import { ensureOwned, INSTANCE_FOLDER, leftovers, listInstances } from "@eks-gitops-fleet/local/instance";
import { command, machineState } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FLEET, hubCluster, type OwnInstance, ownInstance, spokeCluster } from "../e2e/support/own-instance.ts";
import { expectOrders, greetingAt, orders, ordersOf } from "../support/app.ts";
import { inventoryOf } from "../support/inventory.ts";
import { missingKinds, spokeKinds } from "../support/inventory-lines.ts";
import { spokeScope } from "../support/inventory-scope.ts";
import { eventually, execute, root } from "../support/process.ts";
import { spokesOn } from "../support/spokes.ts";

/**
 * One fleet from its first start to its removal, by the commands of the README and by pushes. Each test continues where the previous
 * one ended.
 */

const SPOKE = "blue";
/** Seconds that a step may take on a busy machine. */
const STEP_SECONDS = 900;
const place = {
  fleet: FLEET,
  spoke: SPOKE,
  environment: "dev",
  accountId: "000000000000",
  region: "us-east-1",
  partition: "aws",
};

const dir = process.env["FLEET_TEST_DIR"] ?? mkdtempSync(join(tmpdir(), "fleet-story-"));
const clones = mkdtempSync(join(tmpdir(), "fleet-story-clones-"));
const before = machineState();
/** Other instances keep the settings that they need. */
const others = (await listInstances()).filter((each) => each.dir !== dir);

let its: OwnInstance;
const spokes = () => spokesOn(its.on(hubCluster));
/** A command of local/cli/ on the story's instance. */
const cli = (name: string, args: readonly string[] = []) =>
  execute(process.execPath, [join(root, "local", "cli", name), ...args], { env: { FLEET_LOCAL_DIR: dir } });

/** The company's boundary as the local stack has it, and the fleet's (docs/guides/aws-account.md). */
const boundaries = ["arn:aws:iam::aws:policy/AdministratorAccess", `arn:aws:iam::*:policy/${FLEET}-*boundary`];

beforeAll(async () => {
  await ensureOwned(INSTANCE_FOLDER, dir);
  // A company's service control policy: nothing is created without the tag that the stack names, and no role without a boundary.
  await setFaults(
    { dir },
    {
      requiredTags: ["cost-center"],
      serviceControlPolicy: [
        {
          Effect: "Deny",
          Action: ["iam:CreateRole", "iam:PutRolePermissionsBoundary"],
          Resource: "*",
          Condition: { StringNotLike: { "iam:PermissionsBoundary": boundaries } },
        },
      ],
    },
  );
  await command("start.ts", dir);
  its = await ownInstance(dir);
});

afterAll(async () => {
  rmSync(clones, { recursive: true, force: true });
  if (process.env["FLEET_TEST_KEEP"] !== "1" && existsSync(dir)) await command("down.ts", dir, ["--force"]);
});

test("npm start creates a hub and, by a push, a spoke whose application answers with its resources in AWS", async () => {
  expect((await its.info(SPOKE)).message).toBe(greetingAt(place));
  await expectOrders(its.account, its.on(spokeCluster(SPOKE)), place);
  expect(missingKinds(await inventoryOf(its.account, spokeScope(FLEET, SPOKE)), spokeKinds)).toEqual([]);
});

test("npm run status reports a healthy fleet", async () => {
  await eventually(STEP_SECONDS, async () => {
    const { code, stdout } = await cli("status.ts");
    expect(code, stdout).toBe(0);
  });
});

test("a preview has nothing to change", async () => {
  const { code, stdout, stderr } = await its.run("pulumi", ["preview", "--expect-no-changes", "--non-interactive"]);
  expect(code, stdout.slice(-4000) + stderr).toBe(0);
});

test("a push upgrades the spoke, and its application answers afterwards", async () => {
  const system = await its.clone("gitops-system", clones);
  await its.succeed("fleet", ["upgrade", SPOKE, "--to", "1.36", "--repository", system.folder]);
  await system.push(`Upgrade ${SPOKE}`);
  await spokes().untilVersion(SPOKE, "1.36", STEP_SECONDS);
  expect((await its.info(SPOKE)).message).toBe(greetingAt(place));
});

test("a push removes the application and the spoke with everything that they have in AWS", async () => {
  const system = await its.clone("gitops-system", join(clones, "removal"));
  await system.remove(join("spokes", FLEET, SPOKE));
  await system.push(`Remove ${SPOKE}`);
  await spokes().untilGone(SPOKE, STEP_SECONDS);
  expect(await ordersOf(its.account, place)).toEqual(orders.gone);
  expect(await inventoryOf(its.account, spokeScope(FLEET, SPOKE))).toEqual([]);
});

test("npm run down leaves nothing on the machine", async () => {
  const { code, stdout, stderr } = await cli("down.ts");
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toMatch(/Resources:\n\s+- \d+ deleted/);
  expect(await leftovers(its.instance)).toEqual([]);
  expect(existsSync(dir)).toBe(false);
});

test.skipIf(others.length > 0)("the machine's network and mounts are as before (skipped next to other instances)", () =>
  expect(machineState()).toEqual(before),
);
