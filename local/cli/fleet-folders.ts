import { commitTo } from "../git/index.ts";
import { hubFolder, spokesFolder, writeFleetFiles } from "../product.ts";
import type { Report } from "./steps.ts";

/** Creates the fleet's folders in the instance's gitops-system (docs/guides/repositories.md#folders-of-a-fleet). */
export async function giveFolders(bare: string, fleet: string, report: Report): Promise<void> {
  const commit = await commitTo(bare, `Create the folders of the fleet ${fleet}`, async (checkout) => {
    await writeFleetFiles(checkout, fleet);
  });
  if (commit !== undefined) report(`gitops-system: ${hubFolder(fleet)} and ${spokesFolder(fleet)} for the fleet`);
}
