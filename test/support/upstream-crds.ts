import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./process.ts";

/** CRDs that other projects publish, too large for this repository: next to the clone where the project is developed, or in UPSTREAM_CRDS. */
const folder = process.env["UPSTREAM_CRDS"] ?? join(root, "..", "shared", "crds");

/** The folders of CRDs whose name starts so; none where there are no upstream CRDs. */
export const upstreamCrds = (prefix: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.startsWith(prefix))
        .map((name) => join(folder, name))
    : [];
