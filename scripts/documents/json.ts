const width = 150;

const flat = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(flat).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return "{}";
  return `{ ${members.map(([key, member]) => `${JSON.stringify(key)}: ${flat(member)}`).join(", ")} }`;
};

/** Joins the items of a list of scalars into lines. */
function filledLines(items: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const item of items) {
    const last = lines.at(-1);
    if (last !== undefined && indent.length + last.length + item.length + 3 <= width)
      lines[lines.length - 1] = `${last}, ${item}`;
    else lines.push(item);
  }
  return lines.map((line) => indent + line).join(",\n");
}

function rendered(value: unknown, indent: string, used: number): string {
  const short = flat(value);
  if (used + short.length < width || typeof value !== "object" || value === null) return short;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.every((item) => typeof item !== "object")
      ? filledLines(value.map(flat), inner)
      : value.map((item) => inner + rendered(item, inner, inner.length)).join(",\n");
    return `[\n${items}\n${indent}]`;
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => {
      const start = `${inner}${JSON.stringify(key)}: `;
      return start + rendered(member, inner, start.length);
    });
  return `{\n${members.join(",\n")}\n${indent}}`;
}

/** JSON for readers: what fits into a line is on one line. */
export const compactJson = (value: object): string => `${rendered(value, "", 0)}\n`;
