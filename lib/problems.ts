/** One problem in what a person wrote: what is wrong, what was got, what is allowed, what to do. */
export interface Problem {
  /** The config key, flag or argument. */
  readonly key: string;
  readonly what: string;
  readonly got: string;
  readonly allowed: string;
  readonly remedy: string;
}

/** All problems as one text for a person; `where` they are, such as `the configuration of stack dev`. */
export function describeProblems(where: string, problems: readonly Problem[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const blocks = problems.map(({ key, what, got, allowed, remedy }, index) =>
    [
      `  ${index + 1}. ${key}: ${what}`,
      `       got:     ${got}`,
      `       allowed: ${allowed}`,
      `       do:      ${remedy}`,
    ].join("\n"),
  );
  return [`${count} in ${where}, nothing was changed:`, ...blocks].join("\n");
}

/** A value as it is shown in a problem: short, on one line, without a private key and what may be a credential in a URL. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === undefined || text === "") return "(empty)";
  if (/-----BEGIN [A-Z ]*PRIVATE KEY/.test(text)) return "(not shown: a private key)";
  const line = text.replaceAll("\n", "\\n").replaceAll(/:\/\/[^\s/@]*:[^\s/]*@/g, "://***@");
  return line.length > 120 ? `${line.slice(0, 117)}...` : line;
}

/** The values that stand in a list more than once, each of them once. */
export const duplicates = (values: readonly string[]): string[] => [
  ...new Set(values.filter((value, index) => values.indexOf(value) !== index)),
];
