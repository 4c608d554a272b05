import { existsSync } from "node:fs";
import { join } from "node:path";
import { labelKeys } from "../../../lib/labels.ts";
import { hubFolder, spokeFolder, spokesFolder } from "../../../lib/layout.ts";
import { namespaces } from "../../../lib/names.ts";
import { receiverName } from "../../../lib/receivers.ts";
import { spokeNameRule } from "../../../lib/spoke.ts";
import { foldersIn } from "../../fleet/folders.ts";
import { filesBelow } from "../../render/files.ts";
import type { Findings } from "../../render/findings.ts";
import { isSpoke, type RenderedFleet } from "../../render/fleet.ts";
import { kustomizationFile } from "../../render/tree.ts";

/** Every spoke belongs to one fleet, by its folder and by its label, and the fleet has a hub. */

export function checkFleets(system: string, fleet: RenderedFleet, findings: Findings): void {
  for (const name of foldersIn(join(system, "spokes")))
    if (!kustomizationFile(join(system, hubFolder(name))))
      findings.add(
        "fleet",
        { file: filesBelow(join(system, spokesFolder(name)))[0] ?? join(system, spokesFolder(name)), line: 1 },
        `${spokesFolder(name)} belongs to a fleet without a hub: ${hubFolder(name)} does not exist, so no hub applies these spokes`,
        `run fleet new-fleet ${name}, or move the spokes to the folder of their fleet`,
      );
  checkSyncs(system, fleet, findings);
  checkLabels(fleet, findings);
  checkReceivers(fleet, findings);
}

/** Folders that the hub's artifacts have (platform/hub/artifacts.yaml); which of these names a spoke can have, the Spoke API says. */
const readable = /^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/;

/** Flux on the hub finds a spoke by the Kustomization in its folder, and by the folder's name. */
function checkSyncs(system: string, { name: fleet, hub }: RenderedFleet, findings: Findings): void {
  for (const name of foldersIn(join(system, spokesFolder(fleet)))) {
    const folder = join(system, spokeFolder(fleet, name));
    const [file] = filesBelow(folder);
    if (!readable.test(name))
      findings.add(
        "fleet",
        { file: file ?? folder, line: 1 },
        `${spokeFolder(fleet, name)} can't be the folder of a spoke: no hub reads it`,
        `name it like its spoke: ${spokeNameRule.allowed}`,
        hub.name,
      );
    else if (existsSync(join(folder, "spoke.yaml")) && !existsSync(join(folder, "flux", "sync.yaml")))
      findings.add(
        "fleet",
        { file: join(folder, "spoke.yaml"), line: 1 },
        `${spokeFolder(fleet, name)} has no flux/sync.yaml, the Kustomization that applies the spoke: no hub reads the folder`,
        `restore it from Git, or copy templates/spoke/flux there and replace __name__ and __fleet__`,
        hub.name,
      );
  }
}

/** The rule of the admission policy spoke-fleet, for a Spoke in the folder of its fleet. */
function checkLabels(fleet: RenderedFleet, findings: Findings): void {
  for (const { manifest, place } of fleet.hub.objects) {
    const { metadata } = manifest;
    if (!isSpoke(manifest)) continue;
    const got = metadata.labels?.[labelKeys.fleet];
    if (got === fleet.name) continue;
    findings.add(
      "fleet",
      place(["metadata", "labels", labelKeys.fleet]),
      `Spoke ${metadata.name} must have the label ${labelKeys.fleet}: ${fleet.name}, the fleet of the hub that applies it; got ${got ?? "none"}`,
      `give it the label, or move it to ${spokeFolder(got ?? "<fleet>", metadata.name)}; for a new spoke use fleet new-cluster instead of a copy`,
      fleet.hub.name,
    );
  }
}

/** The chain of a spoke waits for its Receiver, which waits for its token. */
function checkReceivers({ name, hub, clusters, steps }: RenderedFleet, findings: Findings): void {
  for (const { manifest, place } of hub.objects) {
    const { metadata, spec } = manifest;
    if (!isSpoke(manifest) || spec?.["gitReceiver"] === undefined) continue;
    const cluster = clusters.get(metadata.name);
    // Secrets that can't be built are another finding.
    if (!steps.some((step) => step.on === cluster && step.name === `${metadata.name}-secrets` && step.complete))
      continue;
    if (cluster?.find("SealedSecret", namespaces.flux, receiverName) !== undefined) continue;
    findings.add(
      "fleet",
      place(["spec", "gitReceiver"]),
      `Spoke ${metadata.name} has a gitReceiver, but its secrets have no SealedSecret ${receiverName}: the spoke's step sync would wait for the token`,
      `run fleet reseal ${metadata.name} --deploy-keys keep, which seals one into ${spokeFolder(name, metadata.name)}/secrets, or remove gitReceiver`,
      metadata.name,
    );
  }
}
