import { createTwoFilesPatch } from "diff";
import type { FileChange } from "./files.ts";

const nowhere = "/dev/null";

/** Sealing makes another text each time, so the text of a dry run is nobody's. */
const isSealed = (text: string | undefined): boolean => text !== undefined && /^kind: SealedSecret$/m.test(text);

function ofFile({ path, before, after }: FileChange): string {
  const [from, to] = [before === undefined ? nowhere : `a/${path}`, after === undefined ? nowhere : `b/${path}`];
  if (isSealed(before ?? after) && (before === undefined || after === undefined))
    return `--- ${from}\n+++ ${to}\n(sealed, not shown)\n`;
  // The library's own line of equals signs is no part of a unified diff.
  return createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, { context: 3 }).replace(
    /^=+\n/,
    "",
  );
}

/** The change of files as a unified diff. */
export const patchOf = (files: readonly FileChange[]): string => files.map(ofFile).join("");
