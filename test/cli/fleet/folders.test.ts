import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newFleet } from "../../../cli/fleet/folders.ts";
import { generated } from "../../repos/support/kustomize.ts";
import { system } from "../../repos/support/spoke.ts";

const fleet = "fleet-dev";
let checkout: string;
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), "fleet-folders-"));
  cpSync(system, checkout, { recursive: true });
});
afterAll(() => rmSync(checkout, { recursive: true }));

test("fleet new-fleet makes the folders once, and a hub that finds no spoke in them applies none", async () => {
  expect(await newFleet(checkout, fleet)).toEqual([
    `clusters/${fleet}/kustomization.yaml`,
    `spokes/${fleet}/README.md`,
  ]);
  expect(await newFleet(checkout, fleet)).toEqual([]);
  expect(generated(join(checkout, "spokes", fleet))).toEqual([]);
  expect(generated(join(checkout, "clusters", fleet))).toEqual(generated(join(checkout, "platform", "hub")));
});

test.each(["hub", "Fleet", "../fleet"])("fleet new-fleet refuses %s, which can't be the name of a fleet", (name) =>
  expect(newFleet(checkout, name)).rejects.toThrow("can't be the name of a fleet"),
);
