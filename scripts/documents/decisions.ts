import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { filled } from "../../lib/generated-part.ts";

/** The index of the decisions, one file each: the titles by number, in the generated part of `current`.
 * @throws RangeError when a file has no title or two files have one number. */
export function decisionIndex(folder: string, current: string): string {
  const files = globSync("[0-9]*.md", { cwd: folder }).sort();
  const list = files.map((file, index) => {
    const number = file.slice(0, 4);
    const [first = ""] = readFileSync(join(folder, file), "utf8").split("\n");
    if (!first.startsWith("# "))
      throw new RangeError(`${file} begins with "${first}": begin it with "# " and the decision`);
    if (Number(number) !== index + 1)
      throw new RangeError(`${file} has the number ${number}, ${index + 1} is next: number decisions without gaps`);
    return `- ${number}: [${first.slice(2)}](${file})`;
  });
  return filled(current, "decisions", ["", ...list, ""]);
}
