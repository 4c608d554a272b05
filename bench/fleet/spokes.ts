import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LocalFleet } from "@eks-gitops-fleet/local/cli";
import { bareRepository, commitTo } from "@eks-gitops-fleet/local/git";
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

/** Writes a spoke's folder from the template; in place of its SealedSecrets what stands in for a step of the chain. */
async function writeSpoke(checkout: string, number: number): Promise<void> {
  const name = nameOf(number);
  const values = {
    name,
    fleet: FLEET,
    environment: ENVIRONMENT,
    region: "us-east-1",
    kubernetesVersion: "1.34",
    tenant: "bench",
  };
  const folder = join(checkout, spokeFolder(FLEET, name));
  const network = networkOf(number);
  for (const file of ["kustomization.yaml", "spoke.yaml", "flux/sync.yaml"]) {
    const text = fillTemplate(await readFile(join(checkout, "templates", "spoke", file), "utf8"), values);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    const named = file === "spoke.yaml" && network !== undefined ? `${text}  network:\n    cidr: ${network}\n` : text;
    await writeFile(join(folder, file), named);
  }
  await writeStep(join(folder, "secrets"), steps.secrets);
}

/** Adds spokes by one commit; gives the time of the push. */
export async function addSpokes(fleet: LocalFleet, numbers: readonly number[]): Promise<number> {
  let pushed = 0;
  await commitTo(
    bareRepository(fleet.instance(), "gitops-system"),
    `Add ${numbers.length} spokes`,
    async (checkout) => {
      for (const number of numbers) await writeSpoke(checkout, number);
      pushed = Date.now();
    },
  );
  return pushed;
}
