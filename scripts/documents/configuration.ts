import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { filled } from "../../lib/generated-part.ts";
import { markdownTable } from "../../lib/markdown.ts";

interface Key {
  readonly type: string;
  readonly items?: { readonly type: string };
  readonly description: string;
  readonly default?: unknown;
}

const typeOf = ({ type, items }: Key): string => (type === "array" ? `list of ${items?.type ?? "value"}s` : type);

function defaultOf({ default: value }: Key): string {
  if (value === undefined) return "";
  const empty = value === "" || (Array.isArray(value) && value.length === 0);
  return empty ? "none" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

/** docs/reference/configuration.md with the table of every key of Pulumi.yaml. */
export function configurationReference(projectFile: string, current: string): string {
  const { config } = parse(readFileSync(projectFile, "utf8")) as { config: Readonly<Record<string, Key>> };
  const rows = Object.entries(config).map(([name, key]) => [
    `\`${name}\``,
    typeOf(key),
    defaultOf(key),
    key.description,
  ]);
  return filled(current, "keys", ["", ...markdownTable(["Key", "Type", "Default", "What it is"], rows), ""]);
}
