/** One mistake in the configuration: what is wrong, what was got, what is allowed, what to do. */
export interface Mistake {
  readonly key: string;
  readonly problem: string;
  readonly got: string;
  readonly allowed: string;
  readonly remedy: string;
}

/** All mistakes as one text for a person. */
export function describeMistakes(project: string, stack: string, mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
  const blocks = mistakes.map(({ key, problem, got, allowed, remedy }, index) =>
    [
      `  ${index + 1}. ${key.includes(":") ? key : `${project}:${key}`}: ${problem}`,
      `       got:     ${got}`,
      `       allowed: ${allowed}`,
      `       do:      ${remedy}`,
    ].join("\n"),
  );
  return [`${count} in the configuration of stack ${stack}, nothing was changed:`, ...blocks].join("\n");
}

/** A value as it is shown in a mistake: short, on one line. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === undefined || text === "") return "(empty)";
  const line = text.replaceAll("\n", "\\n");
  return line.length > 120 ? `${line.slice(0, 117)}...` : line;
}
