import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseDocument } from "yaml";
import { bareRepository, commitTo, listFolder } from "../git/index.ts";
import { fleetNames, namespaces, spokeApi, spokeFolder, spokeSync, spokesFolder } from "../product.ts";
import type { LocalFleet } from "./fleet.ts";
import { type Kubectl, kubectlFor, objects, untilReady } from "./flux.ts";
import { fleetNameOf } from "./pulumi.ts";
import { type Spoke, spokeLine, spokesOf } from "./spokes.ts";
import { clustersOf, kubeconfigStep, reconcileNow } from "./stack-steps.ts";
import type { Report, Step } from "./steps.ts";

/** Seconds for a change of a Spoke to arrive on the hub, and for all spokes to go. */
const ARRIVAL_SECONDS = 300;
const REMOVAL_SECONDS = 3600;

/** kubectl on the hub while it runs; undefined before there is one, and when it is gone already. */
async function runningHub(fleet: LocalFleet, report: Report): Promise<Kubectl | undefined> {
  const { hubCluster } = fleetNames(await fleetNameOf(fleet.stack));
  const hub = (await clustersOf(fleet.instance())).find((cluster) => cluster.name === hubCluster);
  if (hub?.status !== "ACTIVE") return undefined;
  await kubeconfigStep.run(fleet, report);
  return kubectlFor(join(fleet.instance().paths.bin, "kubectl"), hubCluster, process.env);
}

/** Takes the deletion protection off the Spokes in these folders of a checkout of gitops-system; comments stay. */
export async function unprotect(checkout: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const file = join(checkout, folder, "spoke.yaml");
    if (!existsSync(file)) continue;
    const document = parseDocument(await readFile(file, "utf8"));
    const path = ["spec", "deletionProtection"];
    if (document.getIn(path) !== true) continue;
    document.setIn(path, false);
    await writeFile(file, document.toString({ lineWidth: 0 }));
  }
}

/** Spokes that Flux did not apply: no folder in Git to remove. */
export const withoutFolder = (spokes: readonly Spoke[]): Spoke[] =>
  spokes.filter(({ metadata }) => metadata.labels?.["kustomize.toolkit.fluxcd.io/name"] !== spokeSync(metadata.name));

/**
 * The way that docs/guides/remove-a-hub.md describes: take the protection off in a commit of its own, remove the folders in a
 * second one, wait until the Spokes are gone with everything that they had. Resumes wherever it was interrupted.
 * @param bare the repository gitops-system.
 */
export async function removeThroughGit(bare: string, fleet: string, kubectl: Kubectl, report: Report): Promise<void> {
  const folders = listFolder(bare, spokesFolder(fleet), "tree").map((name) => spokeFolder(fleet, name));
  if (folders.length === 0 && (await spokesOf(kubectl)).length === 0) return report("the hub has no spokes");

  const allow = "Take deletion protection off the spokes, to remove them";
  if ((await commitTo(bare, allow, (checkout) => unprotect(checkout, folders))) !== undefined)
    report(`pushed: ${allow}`);
  await reconcileNow(kubectl);
  const stillProtected = async () => {
    const guarded = (await spokesOf(kubectl)).filter(({ spec }) => spec.deletionProtection === true);
    return [undefined, ...guarded.map(({ metadata }) => `${metadata.name}: protected`)];
  };
  await untilReady(stillProtected, { seconds: ARRIVAL_SECONDS, report });

  const remove = `Remove ${folders.map((folder) => basename(folder)).join(", ")}`;
  const commit = await commitTo(bare, remove, async (checkout) => {
    for (const folder of folders) await rm(join(checkout, folder), { recursive: true });
  });
  if (commit !== undefined) report(`pushed: ${remove}`);
  await reconcileNow(kubectl);
  for (const { metadata } of withoutFolder(await spokesOf(kubectl))) {
    report(`${metadata.name} did not come from Git: deleting it`);
    await kubectl(["delete", "spoke", metadata.name, "--namespace", spokeApi.namespace, "--wait=false"]);
  }
  const left = async () => [undefined, ...(await spokesOf(kubectl)).map(spokeLine)];
  await untilReady(left, { seconds: REMOVAL_SECONDS, report }).catch((error: Error) => {
    throw new Error(`${error.message}\ndocs/guides/remove-a-hub.md says what to do with a spoke that does not go`);
  });
}

/** What Flux applied to the hub for spokes and has not noted as removed yet; `pulumi destroy` is refused until then (RemainingSpokesGuard). */
async function inventoryOf(kubectl: Kubectl): Promise<string[]> {
  const kinds = ["kustomizations.kustomize.toolkit.fluxcd.io"];
  const found = await objects<Inventoried>(kubectl, kinds, ["--namespace", namespaces.flux]);
  return found
    .flatMap(({ status }) => status?.inventory?.entries ?? [])
    .filter(({ id }) => id.endsWith(`_${spokeApi.kind}`) || id.startsWith(`${namespaces.flux}_${spokeSync("")}`))
    .map(({ id }) => `${id}: Flux to note that it is gone`);
}

interface Inventoried {
  readonly status?: { readonly inventory?: { readonly entries?: readonly { readonly id: string }[] } };
}

/** Removes every spoke of a hub that runs, and waits until the hub may be destroyed. */
export const removeSpokesStep: Step<LocalFleet> = {
  name: "remove the spokes through Git",
  run: async (fleet, report) => {
    const kubectl = await runningHub(fleet, report);
    if (kubectl === undefined) return report("no hub runs: nothing to remove");
    const bare = bareRepository(fleet.instance(), "gitops-system");
    await removeThroughGit(bare, await fleetNameOf(fleet.stack), kubectl, report);
    const noted = async () => [undefined, ...(await inventoryOf(kubectl))];
    await untilReady(noted, { seconds: ARRIVAL_SECONDS, report });
  },
};
