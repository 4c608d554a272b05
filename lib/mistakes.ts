/** One mistake in what a person wrote: what is wrong, what was got, what is allowed, what to do. */
export interface Mistake {
  /** The config key, flag or argument. */
  readonly key: string;
  readonly problem: string;
  readonly got: string;
  readonly allowed: string;
  readonly remedy: string;
}

/** All mistakes as one text for a person; `where` they are, such as `the configuration of stack dev`. */
export function describeMistakes(where: string, mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
  const blocks = mistakes.map(({ key, problem, got, allowed, remedy }, index) =>
    [
      `  ${index + 1}. ${key}: ${problem}`,
      `       got:     ${got}`,
      `       allowed: ${allowed}`,
      `       do:      ${remedy}`,
    ].join("\n"),
  );
  return [`${count} in ${where}, nothing was changed:`, ...blocks].join("\n");
}

/** A value as it is shown in a mistake: short, on one line, without what may be a credential in a URL. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === undefined || text === "") return "(empty)";
  const line = text.replaceAll("\n", "\\n").replaceAll(/:\/\/[^\s/@]*:[^\s/]*@/g, "://***@");
  return line.length > 120 ? `${line.slice(0, 117)}...` : line;
}
