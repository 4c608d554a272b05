import { stringify } from "yaml";

/** How a command that reports writes what it found: for a person, or for a program. */
export const outputs = ["text", "json", "yaml"] as const;
export type Output = (typeof outputs)[number];

export const outputOption = { type: "string", short: "o", default: "text" } as const;

/** How `--help` says what it does. */
export const outputHelp = "  -o, --output FORM      text (default), json or yaml";

/** What was found: one line of JSON, or one document of YAML with the same data. */
export const forProgram = (found: object, form: Exclude<Output, "text">): string =>
  form === "json"
    ? `${JSON.stringify(found)}\n`
    : `---\n${stringify(JSON.parse(JSON.stringify(found)), { aliasDuplicateObjects: false, lineWidth: 0 })}`;
