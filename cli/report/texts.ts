import { printable } from "../columns.ts";
import { shownLine } from "../why/findings.ts";

/** What of a cluster's texts may be shown to whoever has the report: a file is passed on. */

/** User and password in a URL, assignments of what names a credential, and what an HTTP header authenticates with. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, "$1"],
  [/\b([\w-]*(?:password|passwd|secret|token|signature|credential)[\w-]*=)[^\s&;,]+/gi, "$1(left out)"],
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
  if (typeof data === "string") return shownText(data) as T;
  if (Array.isArray(data)) return data.map(shownData) as T;
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, shownData(value)])) as T;
}
