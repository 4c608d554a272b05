const width = 150;

const flat = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(flat).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return "{}";
  return `{ ${members.map(([key, member]) => `${JSON.stringify(key)}: ${flat(member)}`).join(", ")} }`;
};

/** Puts items into lines: those that may share one are joined while they fit. */
function filled(items: readonly { text: string; shared: boolean }[], indent: string): string {
  const lines: { text: string; shared: boolean }[] = [];
  for (const item of items) {
    const last = lines.at(-1);
    const fits = last !== undefined && indent.length + last.text.length + item.text.length + 3 <= width;
    if (fits && last.shared && item.shared)
      lines[lines.length - 1] = { text: `${last.text}, ${item.text}`, shared: true };
    else lines.push(item);
  }
  return lines.map(({ text }) => indent + text).join(",\n");
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

function rendered(value: unknown, indent: string, used: number): string {
  const short = flat(value);
  if (used + short.length < width || typeof value !== "object" || value === null) return short;
  const inner = `${indent}  `;
  const item = (member: unknown, start: string) => {
    const text = start + rendered(member, inner, inner.length + start.length);
    return { text, shared: !isObject(member) && !text.includes("\n") };
  };
  if (Array.isArray(value))
    return `[\n${filled(
      value.map((member) => item(member, "")),
      inner,
    )}\n${indent}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{\n${filled(
    members.map(([key, member]) => item(member, `${JSON.stringify(key)}: `)),
    inner,
  )}\n${indent}}`;
}

/** JSON for readers: what fits into a line is on one line. */
export const compactJson = (value: object): string => `${rendered(value, "", 0)}\n`;
