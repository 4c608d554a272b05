import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LocalFleet } from "@eks-gitops-fleet/local/cli";
import { bareRepository, commitTo } from "@eks-gitops-fleet/local/git";
import { parse, stringify } from "yaml";
import { spokeFolder } from "../../lib/layout.ts";
import { fillTemplate } from "../../lib/template.ts";
import { steps, writeStep } from "./chain.ts";

/** The fleet of the local stack. */
export const FLEET = "fleet";
export const ENVIRONMENT = "prod";

/** EKS clusters that the gateway records and does not run (local/README.md). */
export const RECORDED = "^fleet-spoke-many-";

/** Names in the order of their numbers: `many-0001` is the first one for everybody who sorts. */
export const nameOf = (number: number): string => `many-${String(number).padStart(4, "0")}`;

/** The default pool has 256 blocks; spokes above this name a network of their own. */
const FROM_POOL = 200;

/** The network that a spoke names: a /20 of 100.64.0.0/10; undefined for those that get a block of the pool. */
export function networkOf(number: number): string | undefined {
  if (number <= FROM_POOL) return undefined;
  const block = number - FROM_POOL - 1;
  return `100.${64 + Math.floor(block / 16)}.${(block % 16) * 16}.0/20`;
}

interface SpokeOptions {
  /** Whether Crossplane leaves the Spoke alone; it can be removed like any other. */
  readonly paused: boolean;
}

/** What spoke.yaml has beside the template's fields. */
function withOptions(text: string, number: number, { paused }: SpokeOptions): string {
  const spoke = parse(text);
  const network = networkOf(number);
  if (network !== undefined) spoke.spec.network = { cidr: network };
  if (paused) {
    spoke.metadata.annotations = { "crossplane.io/paused": "true" };
    spoke.spec.deletionProtection = false;
  }
  return stringify(spoke);
}

/** Writes a spoke's folder from the template; in place of its SealedSecrets what stands in for a step of the chain. */
async function writeSpoke(checkout: string, number: number, options: SpokeOptions): Promise<void> {
  const name = nameOf(number);
  const values = {
    name,
    fleet: FLEET,
    environment: ENVIRONMENT,
    region: "us-east-1",
    kubernetesVersion: "1.35",
    tenant: "bench",
  };
  const folder = join(checkout, spokeFolder(FLEET, name));
  for (const file of ["kustomization.yaml", "spoke.yaml", "flux/sync.yaml"]) {
    const text = fillTemplate(await readFile(join(checkout, "templates", "spoke", file), "utf8"), values);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), file === "spoke.yaml" ? withOptions(text, number, options) : text);
  }
  await writeStep(join(folder, "secrets"), steps.secrets);
}

/** Adds spokes by one commit; gives the time of the push. */
export async function addSpokes(
  fleet: LocalFleet,
  numbers: readonly number[],
  options: SpokeOptions = { paused: false },
): Promise<number> {
  let pushed = 0;
  await commitTo(
    bareRepository(fleet.instance(), "gitops-system"),
    `Add ${numbers.length} spokes`,
    async (checkout) => {
      for (const number of numbers) await writeSpoke(checkout, number, options);
      pushed = Date.now();
    },
  );
  return pushed;
}

/** Removes spokes by one commit. */
export async function removeSpokes(fleet: LocalFleet, names: readonly string[]): Promise<void> {
  await commitTo(
    bareRepository(fleet.instance(), "gitops-system"),
    `Remove ${names.length} spokes`,
    async (checkout) => {
      for (const name of names) await rm(join(checkout, spokeFolder(FLEET, name)), { recursive: true });
    },
  );
}
