import { commitTo } from "../git/index.ts";
import { finishMove, hubFolder, moveSpokes, namespaces, spokesFolder } from "../product.ts";
import { type Kubectl, objects } from "./flux.ts";
import type { Report } from "./steps.ts";

/** The fleet's folders in the instance's gitops-system, as docs/guides/folders-of-a-fleet.md says for everybody. */

/** Gives the fleet its folders; the spokes of an instance of before fleets had folders move there. */
export async function giveFolders(bare: string, fleet: string, report: Report): Promise<void> {
  const commit = await commitTo(bare, `Create the folders of the fleet ${fleet}`, async (checkout) => {
    await moveSpokes(checkout, fleet);
  });
  if (commit !== undefined) report(`gitops-system: ${hubFolder(fleet)} and ${spokesFolder(fleet)} for the fleet`);
}

/** Paths of Kustomizations on the hub that a spoke's chain still takes from where spokes lay before. */
async function oldPaths(kubectl: Kubectl, fleet: string): Promise<string[]> {
  const kinds = ["kustomizations.kustomize.toolkit.fluxcd.io"];
  const steps = await objects<{ spec: { path?: string } }>(kubectl, kinds, ["--namespace", namespaces.spokes]);
  return steps
    .map(({ spec }) => spec.path ?? "")
    .filter((path) => path.startsWith("./spokes/") && !path.startsWith(`./${spokesFolder(fleet)}/`));
}

/** Removes what the move has left in the old place, once nothing takes it from there. @returns whether there was something */
export async function finishFolders(bare: string, fleet: string, kubectl: Kubectl, report: Report): Promise<boolean> {
  const old = await oldPaths(kubectl, fleet);
  if (old.length > 0) {
    report(`still taken from before the move of the spokes: ${old.join(", ")}`, true);
    return false;
  }
  const commit = await commitTo(bare, `Finish the move of the spokes of ${fleet}`, async (checkout) => {
    finishMove(checkout, fleet);
  });
  if (commit !== undefined) report("gitops-system: removed what the move of the spokes had left");
  return commit !== undefined;
}
