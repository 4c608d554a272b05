import { join } from "node:path";
import { describe } from "vitest";
import { casesIn, refusesAll } from "./support/transcripts.ts";

/** Wrong command lines that only programs tell from right ones: git, pulumi, kustomize. */
const cases = casesIn(join(import.meta.dirname, "transcripts-with-programs"));

describe("what a program does not accept is refused with exit code 2, and nothing is written:", async () => {
  await refusesAll([...cases.values()].flat());
});
