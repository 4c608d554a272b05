import { readFileSync } from "node:fs";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { type Problem, shown } from "../lib/problems.ts";
import { closest } from "./closest.ts";
import { choiceProblems } from "./usage.ts";

/** The command line of a command: every mistake in it becomes a problem, so that a command tells all of them at once. */

/** What a command takes. */
export interface Takes<A extends string, R extends string, F extends string> {
  /** Its arguments, in order; default: none. */
  readonly arguments?: readonly A[];
  /** Options that it can't do without, each with what it may be. */
  readonly required?: Readonly<Record<R, string>>;
  /** Options that name a file to read. */
  readonly files?: readonly F[];
  /** Options that have one of some values. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
}

const loose = { allowPositionals: true, strict: false, tokens: true } as const;
const tokensFrom = (args: string[], options: ParseArgsOptionsConfig) => parseArgs({ args, options, ...loose }).tokens;
type Token = ReturnType<typeof tokensFrom>[number];
type OptionToken = Extract<Token, { kind: "option" }>;
type Tell = (key: string, what: string, got: string, allowed: string, remedy: string) => void;

/** Whether what stands in the place of a value is the next option. */
const isOptionLike = (value: string, options: ParseArgsOptionsConfig): boolean =>
  value.startsWith("--") || Object.values(options).some(({ short }) => short !== undefined && value === `-${short}`);

/** The tokens of a command line, once options without a value are told and taken out: Node takes the next option for their value. */
function tokensOf(argv: readonly string[], options: ParseArgsOptionsConfig, tell: Tell): Token[] {
  const tokens = tokensFrom([...argv], options);
  const bare = tokens.find(
    (token) => token.kind === "option" && !token.inlineValue && isOptionLike(token.value ?? "", options),
  );
  if (bare?.kind !== "option") return tokens;
  const { index, rawName, value } = bare;
  const written = `a value that begins with a hyphen is written ${rawName}=${value}`;
  tell(rawName, "has no value", `${rawName} ${value}`, `${rawName} VALUE`, `give its value; ${written}`);
  return tokensOf(argv.toSpliced(index, 1), options, tell);
}

/** Whether a command line asks for help, whatever else is wrong with it. */
export const asksForHelp = (argv: readonly string[], options: ParseArgsOptionsConfig): boolean =>
  tokensOf(argv, options, () => {}).some(
    (token) => token.kind === "option" && token.name === "help" && token.value === undefined,
  );

/** The option that was probably meant by an unknown one. */
const similarTo = ({ name }: OptionToken, options: ParseArgsOptionsConfig): string | undefined =>
  closest(name, Object.keys(options));

/** Tells the problem of an option. @returns it as Node's parser accepts it, as it was probably meant, or nothing */
function accepted(command: string, token: OptionToken, options: ParseArgsOptionsConfig, tell: Tell): string[] {
  const { name, rawName, value } = token;
  const type = options[name]?.type;
  const similar = similarTo(token, options);
  const names = Object.keys(options).map((known) => `--${known}`);
  if (type === undefined) {
    const remedy = similar === undefined ? "leave it out" : `did you mean --${similar}?`;
    tell(rawName, `is not an option of fleet ${command}`, rawName, names.join(", "), remedy);
    // Its value is judged too, so that no mistake is told only after the next try.
    if (similar !== undefined && options[similar]?.type === "string" && value) return [`--${similar}=${value}`];
  } else if (type === "boolean" && value !== undefined)
    tell(rawName, "takes no value", value, rawName, `write ${rawName} alone, or leave it out`);
  else if (type === "string" && value === undefined)
    tell(rawName, "has no value", "(nothing)", `${rawName} VALUE`, "give its value");
  else return [value === undefined ? `--${name}` : `--${name}=${value}`];
  return [];
}

/** Whether an unknown option has the next argument as its value. */
function takesNext(token: Token | undefined, options: ParseArgsOptionsConfig, isTooMany: boolean): boolean {
  if (token?.kind !== "option" || options[token.name] !== undefined || token.value !== undefined) return false;
  const similar = similarTo(token, options);
  return similar === undefined ? isTooMany : options[similar]?.type === "string";
}

/** The text of a file that an option names; its problem, if it can't be read. */
function textOf(flag: string, path: string, problems: Problem[]): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const what =
      { ENOENT: "names a file that does not exist", EISDIR: "names a folder" }[code ?? ""] ??
      `names a file that can't be read: ${message}`;
    problems.push({
      key: flag,
      what,
      // Who mistakes the option gives the token itself.
      got: flag.endsWith("token-file") ? "(not shown: it may be the token)" : shown(path),
      allowed: "a file that you may read",
      remedy: "correct the path",
    });
    return undefined;
  }
}

/**
 * Reads the command line of a command.
 * @returns the values of its options, of its arguments and of the files that it names (empty, or undefined, where one has a problem), and
 * every problem.
 */
export function readLine<
  const T extends ParseArgsOptionsConfig,
  A extends string = never,
  R extends string & keyof T = never,
  F extends string & keyof T = never,
>(command: string, argv: readonly string[], options: T, takes: Takes<A, R, F> = {}) {
  const problems: Problem[] = [];
  const help = `fleet ${command} --help`;
  const tell: Tell = (key, what, got, allowed, remedy) =>
    void problems.push({
      key,
      what,
      got: shown(got),
      allowed,
      remedy: remedy.endsWith("?") ? `${remedy} See ${help}` : `${remedy}. See ${help}`,
    });

  const expected = takes.arguments ?? [];
  const tokens = tokensOf(argv, options, tell);
  const isTooMany = tokens.filter(({ kind }) => kind === "positional").length > expected.length;
  const isPositional = (token: Token, index: number) =>
    token.kind === "positional" && !takesNext(tokens[index - 1], options, isTooMany);
  const textIn = (token: Token | undefined): string => (token !== undefined && "value" in token && token.value) || "";
  const positionals = tokens.filter(isPositional).map(textIn);
  const args = tokens.flatMap((token, index) => {
    if (token.kind !== "option") return [];
    const value = takesNext(token, options, isTooMany) ? textIn(tokens[index + 1]) : token.value;
    return accepted(command, { ...token, value } as OptionToken, options, tell);
  });
  const values = parseArgs({ args, options, strict: true }).values;

  const surplus = positionals.slice(expected.length);
  const names = expected.map((name) => `<${name}>`).join(" ");
  if (surplus.length > 0)
    tell(surplus.join(" "), "is one argument too many", positionals.join(" "), names || "no argument", "leave it out");
  for (const name of expected.slice(positionals.length))
    tell(`<${name}>`, "is missing", "(nothing)", `fleet ${command} ${names}`, `give <${name}>`);

  const given = values as Readonly<Record<string, unknown>>;
  const isTold = (name: string) => problems.some(({ key }) => key === `--${name}`);
  for (const [name, allowed] of Object.entries<string>(takes.required ?? {}))
    if (!given[name] && !isTold(name)) tell(`--${name}`, "is missing", "(nothing)", allowed, `give --${name}`);
  for (const [name, choices] of Object.entries(takes.choices ?? {}))
    if (typeof given[name] === "string")
      problems.push(...choiceProblems(`--${name}`, given[name], choices, "choose one"));
  const texts = (takes.files ?? []).map((name) => {
    const path = given[name];
    return [name, typeof path === "string" ? textOf(`--${name}`, path, problems) : undefined] as const;
  });

  const required = Object.fromEntries(
    Object.keys(takes.required ?? {}).map((name) => [name, given[name] ?? (options[name]?.multiple ? [] : "")]),
  );
  return {
    values: { ...values, ...(required as { [K in R]: T[K] extends { multiple: true } ? string[] : string }) },
    args: Object.fromEntries(expected.map((name, index) => [name, positionals[index] ?? ""])) as Record<A, string>,
    texts: Object.fromEntries(texts) as Partial<Record<F, string>>,
    problems: problems as readonly Problem[],
  };
}
