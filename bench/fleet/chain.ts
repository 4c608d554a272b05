import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Kubectl, LocalFleet } from "@eks-gitops-fleet/local/cli";
import { bareRepository, commitTo } from "@eks-gitops-fleet/local/git";
import { parse, stringify } from "yaml";
import { chainArtifact } from "../../lib/layout.ts";
import { until } from "../cluster.ts";

const FOLDER = "spoke-bootstrap";
/** The patch that gives the steps a kubeConfig: nothing answers at the endpoint of a recorded cluster. */
const ON_THE_SPOKE = "steps/patches/on-the-spoke.yaml";

/** The folder of each step of the chain: below spoke-bootstrap, but for the secrets, which are in the spoke's folder. */
export const steps = {
  base: "base",
  access: "access",
  externalSecrets: "external-secrets",
  sealingKeys: "sealing-keys",
  sealedSecrets: "sealed-secrets",
  flux: "flux",
  secrets: "secrets",
  sync: "sync",
  tools: "tools",
  workloads: "workloads",
} as const;

/** What a step applies in place of what is for the spoke: one ConfigMap on the hub. */
const standIn = (step: string, version = 1) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `\${cluster_name}-step-${step}`, namespace: "spokes" },
  data: { version: String(version) },
});

/** Writes the folder of a step with its stand-in. */
export async function writeStep(folder: string, step: string, version?: number): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "kustomization.yaml"), stringify({ resources: ["stand-in.yaml"] }));
  await writeFile(join(folder, "stand-in.yaml"), stringify(standIn(step, version)));
}

/** Writes all steps of the chain; a spoke of `environment` has its sealing keys. */
export async function writeChain(checkout: string, environment: string, version?: number): Promise<void> {
  const { secrets: _, sealingKeys, ...others } = steps;
  for (const step of Object.values(others)) await writeStep(join(checkout, FOLDER, step), step, version);
  await writeStep(join(checkout, FOLDER, sealingKeys, environment), sealingKeys, version);
}

/** The chain's own kustomization without the patch that makes its steps act on the spoke. */
export function onTheHub(kustomization: { readonly patches?: readonly { readonly path?: string }[] }): object {
  const patches = kustomization.patches?.filter(({ path }) => path !== ON_THE_SPOKE);
  if (patches === undefined || patches.length === kustomization.patches?.length)
    throw new Error(
      `${FOLDER}/kustomization.yaml has no patch ${ON_THE_SPOKE}: the benchmark must follow what the chain has now`,
    );
  return { ...kustomization, patches };
}

/** Lets the chain's steps act on the hub, by Git, and waits until Flux has cut that. */
export async function layChainOnTheHub(fleet: LocalFleet, kubectl: Kubectl, environment: string): Promise<void> {
  const commit = await commitTo(
    bareRepository(fleet.instance(), "gitops-system"),
    "Let the chain act on the hub for the benchmark",
    async (checkout) => {
      const file = join(checkout, FOLDER, "kustomization.yaml");
      await writeFile(file, stringify(onTheHub(parse(await readFile(file, "utf8")))));
      await writeChain(checkout, environment);
    },
  );
  const get = ["get", "externalartifact", chainArtifact, "--namespace", "flux-system", "--output", "json"];
  await until(async () => (await kubectl(get)).includes(`@sha1:${commit}`), {
    pause: 1000,
    limit: 300_000,
    state: () => `the artifact ${chainArtifact} is not of commit ${commit}`,
  });
}
