import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { filled } from "../../lib/generated-part.ts";

/** The title of a page.
 * @throws RangeError when its first line is not a heading. */
function title(file: string): string {
  const [first = ""] = readFileSync(file, "utf8").split("\n");
  if (!first.startsWith("# "))
    throw new RangeError(`${file} begins with "${first}": begin it with "# " and the decision`);
  return first.slice(2);
}

/** The index of a folder of decisions (one file each, in a folder for each area): a list of titles in the place of each area. */
export function decisionIndex(folder: string, current: string): string {
  const files = globSync("*/*.md", { cwd: folder }).sort();
  const areas = [...new Set(files.map((file) => dirname(file)))];
  return areas.reduce((text, area) => {
    const list = files
      .filter((file) => dirname(file) === area)
      .map((file) => `- [${title(join(folder, file))}](${file})`);
    return filled(text, area, ["", ...list.sort(), ""]);
  }, current);
}
