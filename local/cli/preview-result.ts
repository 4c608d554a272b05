import { stripVTControlCharacters } from "node:util";

/** What `pulumi preview` counts at its end, from "Resources:" to the next empty line; undefined where it shows none, as with --json. */
function countsIn(output: string): string | undefined {
  const lines = stripVTControlCharacters(output).split("\n");
  const first = lines.lastIndexOf("Resources:");
  if (first < 0) return undefined;
  const counts = lines.slice(first);
  const end = counts.findIndex((line) => line.trim() === "");
  return (end < 0 ? counts : counts.slice(0, end)).join("\n");
}

/** The last words of a preview: what `pulumi up` would do, or that the preview failed. */
export function previewResult(stack: string, code: number, output: string): string {
  const title = `Preview of ${stack}`;
  if (code !== 0) return `${title}: FAILED. pulumi preview ended with exit code ${code}; its messages are above.`;
  return [`${title}: done, nothing was deployed.`, countsIn(output) ?? "Its output is above."].join("\n");
}
