import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { keyFiles } from "../../../cli/sealing/keys-folder.ts";
import { fillTemplate } from "../../../lib/template.ts";
import { files } from "../../repos/support/kustomize.ts";
import { sealed, system } from "../../repos/support/spoke.ts";

/** A checkout of gitops-system as it was before fleets had folders, and the project's new content on top of it. */

interface OldSpoke {
  readonly name: string;
  readonly ownKeys?: true;
}

export const oldSpokes: readonly OldSpoke[] = [{ name: "blue" }, { name: "amber", ownKeys: true }];

function change(file: string, edit: (text: string) => string): void {
  const before = readFileSync(file, "utf8");
  const after = edit(before);
  if (after === before) throw new Error(`${file} has nothing to change: the test is out of date`);
  writeFileSync(file, after);
}

function addSpoke(checkout: string, { name, ownKeys }: OldSpoke): void {
  const folder = join(checkout, "spokes", name);
  const values = { name, environment: "dev", region: "us-east-1", kubernetesVersion: "1.35", tenant: "platform" };
  cpSync(join(checkout, "templates", "spoke"), folder, { recursive: true });
  for (const file of files(folder)) writeFileSync(file, fillTemplate(readFileSync(file, "utf8"), values));
  for (const repository of ["gitops-system", "gitops-workloads"])
    writeFileSync(join(folder, "secrets", `${repository}.yaml`), sealed(repository, "flux-system"));
  if (!ownKeys) return;
  writeFileSync(join(folder, "spoke.yaml"), `${readFileSync(join(folder, "spoke.yaml"), "utf8")}  sealing: cluster\n`);
  mkdirSync(join(folder, "sealing-keys"));
  for (const [file, text] of Object.entries(keyFiles(["1"])))
    writeFileSync(join(folder, "sealing-keys", file), text.replace("../../../../", "../../../"));
}

const gitRepository = "kind: GitRepository\n    name: gitops-system";

/** One Kustomization applied all spokes, from where they lay. */
function oldHub(folder: string): void {
  rmSync(join(folder, "spokes.yaml"));
  change(join(folder, "kustomization.yaml"), (text) => text.replace("  - spokes.yaml\n", ""));
  change(join(folder, "former.yaml"), (text) =>
    text
      .replace(/path: .*/, "path: ./spokes")
      .replace("prune: false", "prune: true")
      .replace("  deletionPolicy: Orphan\n", "")
      .replace(/kind: ExternalArtifact\n {4}name: .*/, gitRepository),
  );
}

/** A checkout with these spokes, in the old layout. */
export function oldCheckout(spokes: readonly OldSpoke[] = oldSpokes): string {
  const checkout = join(mkdtempSync(join(tmpdir(), "fleet-old-layout-")), "gitops-system");
  cpSync(system, checkout, { recursive: true });
  mkdirSync(join(checkout, "clusters"));
  renameSync(join(checkout, "platform", "hub"), join(checkout, "clusters", "hub"));
  rmSync(join(checkout, "templates", "fleet"), { recursive: true });
  oldHub(join(checkout, "clusters", "hub"));
  change(join(checkout, "spoke-bootstrap", "steps", "secrets.yaml"), (text) =>
    text.replace(/\$\{fleet\}\//, "").replace(/kind: ExternalArtifact\n {4}name: .*/, gitRepository),
  );
  rmSync(join(checkout, "templates", "spoke", "flux"), { recursive: true });
  change(join(checkout, "templates", "spoke", "spoke.yaml"), (text) => text.replace(/ {2}labels:\n.*__fleet__\n/, ""));
  for (const spoke of spokes) addSpoke(checkout, spoke);
  return checkout;
}

/** Brings the project's new content into a copy of a checkout in the old layout, as a merge does: the spokes are still where they were. */
export function upgraded(old: string): string {
  const checkout = join(mkdtempSync(join(tmpdir(), "fleet-new-layout-")), "gitops-system");
  cpSync(old, checkout, { recursive: true });
  rmSync(join(checkout, "clusters"), { recursive: true });
  cpSync(system, checkout, { recursive: true });
  return checkout;
}

export const remove = (...checkouts: readonly string[]): void => {
  for (const checkout of checkouts) rmSync(dirname(checkout), { recursive: true });
};
