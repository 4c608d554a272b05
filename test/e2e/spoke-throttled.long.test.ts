import { readFileSync } from "node:fs";
import { join } from "node:path";
import { clearFaults, setFaults } from "@eks-gitops-fleet/local/gateway";
import { afterAll, beforeAll, expect, test } from "vitest";
import { instance } from "./support/fleet.ts";
import { spokeInventory } from "./support/inventory.ts";
import type { Checkout } from "./support/repository.ts";
import { addSpoke, system, untilGone, untilReady } from "./support/spokes.ts";

/*
 * A spoke of its own that comes up and goes while AWS throttles the fleet's calls, knows new roles late and counts new tags late, as it does in an
 * account that others use too.
 */

const SPOKE = "t2c";
const FLEET = "fleet";
/** Requests a second. A spoke has 13 resources of IAM and 29 of EC2, each of which takes several. */
const requestsPerSecond = { iam: 4, ec2: 6, eks: 3, kms: 2, sts: 3 };
/** Seconds; Terraform's and Pulumi's issues tell of up to 30 for roles, KMS documents up to 5 minutes for tags. */
const faults = { requestsPerSecond, newRolesUnknownSeconds: 30, tagsUncountedSeconds: { kms: 30 } };

/** Seconds for a spoke that comes up or goes with hardly any calls. */
const PATIENCE = 1500;

/** How often the gateway has throttled a service. */
const throttled = (service: string): number =>
  readFileSync(join(instance.dir, "logs", "gateway.log"), "utf8").split(`throttled a request to ${service}\n`).length -
  1;

let repository: Checkout;
beforeAll(async () => {
  repository = await system();
  await setFaults(instance, faults);
});
afterAll(() => clearFaults(instance));

test("a spoke comes up although AWS throttles its calls and learns of its roles and tags late", async () => {
  const before = Object.fromEntries(Object.keys(requestsPerSecond).map((service) => [service, throttled(service)]));
  await addSpoke(repository, SPOKE, "dev");
  await repository.push(`Add spoke ${SPOKE}`);
  await untilReady(SPOKE, PATIENCE);
  for (const service of ["iam", "ec2"]) expect(throttled(service), service).toBeGreaterThan(before[service] ?? 0);
}, 1_800_000);

test("it is removed under the same faults, and nothing of it is left", async () => {
  await repository.remove(`spokes/fleet/${SPOKE}`);
  await repository.push(`Remove spoke ${SPOKE}`);
  await untilGone(SPOKE, PATIENCE);
  await clearFaults(instance);
  expect(await spokeInventory(FLEET, SPOKE)).toEqual([]);
}, 1_800_000);
