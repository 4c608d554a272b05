import { parse } from "yaml";
import { frozen } from "./render/files.ts";

const known = new Map<string, unknown>();

/**
 * The content of a text, frozen. Parses each text once: the parts of a command read the same files.
 * @throws YAMLParseError
 */
// biome-ignore lint/suspicious/noExplicitAny: as parse
export function parsedOnce(text: string): any {
  if (!known.has(text)) known.set(text, frozen(parse(text)));
  return known.get(text);
}
