import { parse } from "yaml";
import { type Problem, shown } from "../lib/problems.ts";

/** Values by flag that YAML would read as something else than a text: `123`, `true`, `null`. */
export function textProblems(values: Readonly<Record<string, string>>): Problem[] {
  return Object.entries(values)
    .filter(([, value]) => isPlain(value) && parse(value) !== value)
    .map(([key, value]) => ({
      key,
      what: "would be read as a number, a boolean or nothing in YAML",
      got: shown(value),
      allowed: "a text with a letter in it, and not true, false or null",
      remedy: "choose another one",
    }));
}

/** Whether a value has only characters that mean nothing in YAML; others are refused by the rules of each flag. */
const isPlain = (value: string) => /^[-A-Za-z0-9_.~/]+$/.test(value);
