import { join } from "node:path";
import { type Files, placeIn } from "../render/files.ts";
import type { Warning } from "../render/findings.ts";
import type { RenderedFleet } from "../render/fleet.ts";
import type { RecordedFacts } from "../render/hub-facts.ts";

interface Recorded {
  readonly root: string;
  readonly files: Files;
  readonly fleet: Pick<RenderedFleet, "name">;
  readonly recorded: RecordedFacts | undefined;
}

/** Why recorded facts are not taken. It fails no check: a new version of the contract may have more keys than the hub's stack has written. */
export function factsWarnings({ root, files, fleet: { name }, recorded }: Recorded): Warning[] {
  if (recorded === undefined) return [];
  const place = placeIn(files, join(root, "gitops-system", recorded.file));
  return recorded.problems.map(({ key, what, got, allowed, remedy }) => ({
    place: place([key]),
    problem: `${key} ${what}: got ${got}; allowed is ${allowed}. Samples stand for the facts about the hub of ${name}`,
    remedy,
    clusters: [],
  }));
}
