import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hubFolder, ringsFolder, ringsPolicy } from "../../../lib/layout.ts";
import { ringLabel, ringSource, ringSync } from "../../../lib/rings.ts";
import { type Files, type Path, placeIn } from "../../render/files.ts";
import type { Findings, Place } from "../../render/findings.ts";
import { isSpoke, type Rendered, type RenderedFleet } from "../../render/fleet.ts";
import { readPolicy } from "../../rollouts/policy.ts";

/** The file of rings is right, the hub has what each ring needs, and every Spoke's ring is one of them. */

/** The path of a place such as `rings[1].soak`. */
const pathOf = (place: string): Path =>
  (place.match(/[^.[\]]+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part));

interface Known {
  readonly names: readonly string[];
  /** Where a ring is written down. */
  readonly place: (index: number) => Place;
}

/** The rings of the file, none without one; undefined when the file is wrong, which is reported. */
function ringsOf(file: string, files: Files, { name, hub }: RenderedFleet, findings: Findings): Known | undefined {
  if (!existsSync(file)) return { names: [], place: () => ({ file, line: 1 }) };
  const place = placeIn(files, file);
  const read = readPolicy(readFileSync(file, "utf8"));
  if ("rings" in read)
    return { names: read.rings.map((ring) => ring.name), place: (index) => place(["rings", index, "name"]) };
  for (const { key, what, got, allowed, remedy } of read.problems)
    findings.add(
      "ring",
      place(pathOf(key)),
      `${key} ${what}: got ${got}; allowed is ${allowed}`,
      `${remedy}: fleet rollouts refuses ${ringsPolicy(name)} as it is`,
      hub.name,
    );
  return undefined;
}

const isOf = (kind: string, name: string, { manifest }: Rendered): boolean =>
  manifest.kind === kind && manifest.metadata.name === name;

export function checkRings(system: string, files: Files, fleet: RenderedFleet, findings: Findings): void {
  const { name, hub } = fleet;
  const file = ringsPolicy(name);
  const known = ringsOf(join(system, file), files, fleet, findings);
  if (known === undefined) return;
  const { names, place } = known;
  for (const object of hub.objects) {
    const { manifest } = object;
    const label = manifest.metadata.labels?.[ringLabel];
    const isStray = manifest.kind === "GitRepository" && label !== undefined && !names.includes(label);
    if (isStray)
      findings.add(
        "ring",
        object.place(["metadata", "name"]),
        `the ring ${label} is not in ${file}, so that nothing moves its branch`,
        `add it there, or take its file out of ${hubFolder(name)}/kustomization.yaml`,
        hub.name,
      );
    const ring = isSpoke(manifest) ? manifest.spec?.ring : undefined;
    if (typeof ring === "string" && !names.includes(ring))
      findings.add(
        "ring",
        object.place(["spec", "ring"]),
        `Spoke ${manifest.metadata.name}: ${file} has no ring ${ring}, so that no change of the platform reaches the spoke`,
        `name one of ${names.join(", ") || "(none)"}, or make the ring: fleet new-ring ${ring}`,
        hub.name,
      );
  }
  // What the hub lacks may be in a part that could not be built.
  if (fleet.steps.some(({ complete }) => !complete)) return;
  for (const [index, ring] of names.entries()) {
    const has = (kind: string, wanted: string) => hub.objects.some((object) => isOf(kind, wanted, object));
    if (!has("GitRepository", ringSource(ring)) || !has("Kustomization", ringSync(ring)))
      findings.add(
        "ring",
        place(index),
        `the hub has no GitRepository ${ringSource(ring)} or no Kustomization ${ringSync(ring)} for the ring ${ring}, so that its branch reaches nothing`,
        `name ${ringsFolder(name)}/${ring}.yaml, which fleet new-ring makes, in ${hubFolder(name)}/kustomization.yaml`,
        hub.name,
      );
  }
}
