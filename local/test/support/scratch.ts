import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder of a unit or integration test. It goes with those of the whole run: test/support/scratch.ts. */
export const scratch = (name = "fleet-"): string => mkdtempSync(join(tmpdir(), name));
