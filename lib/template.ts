/** Templates in the Git repositories: plain YAML with placeholders such as `__name__`. */
const placeholder = /__([a-zA-Z]+)__/g;

/**
 * `text` with its placeholders replaced.
 * @throws RangeError that names the placeholders without a value.
 */
export function fillTemplate(text: string, values: Readonly<Record<string, string>>): string {
  const names = [...text.matchAll(placeholder)].map(([, name]) => name as string);
  const missing = [...new Set(names)].filter((name) => values[name] === undefined);
  if (missing.length > 0) {
    throw new RangeError(
      `the template needs ${missing.join(", ")}; got ${Object.keys(values).join(", ") || "nothing"}: give every placeholder a value`,
    );
  }
  return text.replaceAll(placeholder, (_, name: string) => values[name] as string);
}
