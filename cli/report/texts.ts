import { printable } from "../columns.ts";
import { shownLine } from "../why/findings.ts";

/** What of a cluster's texts may be shown to whoever has the report: a file is passed on. */

/** What a name has in it that names a credential. */
const naming = "[\\w-]*(?:password|passwd|secret|token|signature|credential)[\\w-]*";

/** User and password in a URL, values of what names a credential, and what an HTTP header authenticates with. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, "$1"],
  [new RegExp(`\\b(${naming}=)[^\\s&;,]+`, "gi"), "$1(left out)"],
  // In JSON, and in JSON within a text in quotes.
  [new RegExp(`((["'])${naming}\\2\\s*:\\s*(["']))(?:\\\\.|(?!\\3).)*`, "gi"), "$1(left out)"],
  [new RegExp(`(\\\\"${naming}\\\\"\\s*:\\s*\\\\")(?:(?!\\\\").)*`, "gi"), "$1(left out)"],
  // In YAML only names that no sentence has before a colon, as in "token: unexpected end".
  [/\b((?:password|passwd):\s*)\S+/gi, "$1(left out)"],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{12,}/g, "$1 (left out)"],
];

/** A text without credentials and control characters. */
export const shownText = (text: string): string =>
  forms.reduce(
    (shown, [form, instead]) => shown.replaceAll(form, instead),
    printable(text).split("\n").map(shownLine).join("\n"),
  );

/** Data with {@link shownText} in the place of every text, wherever it is. */
export function shownData<T>(data: T): T {
  // Most texts of a fleet are there many times.
  const known = new Map<string, string>();
  const shown = (value: unknown): unknown => {
    if (typeof value === "string") {
      const text = known.get(value) ?? shownText(value);
      known.set(value, text);
      return text;
    }
    if (Array.isArray(value)) return value.map(shown);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner)]));
  };
  return shown(data) as T;
}
