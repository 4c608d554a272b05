/**
 * `text` with its generated part replaced: what stands between two comments of which the first ends in `generated: <name>`, the
 * last in `end: <name>`. The rest of the file stays as people wrote it.
 * @throws RangeError when the text has no such place.
 */
export function filled(text: string, name: string, lines: readonly string[]): string {
  const place = new RegExp(`(generated: ${name}\\b.*\\n)[^]*?(.*end: ${name}\\b)`);
  if (!place.test(text)) throw new RangeError(`the text needs two comments, "generated: ${name}" and "end: ${name}"`);
  return text.replace(place, (_, start: string, end: string) => `${start}${lines.join("\n")}\n${end}`);
}
