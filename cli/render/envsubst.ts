/**
 * The substitution language of Flux's `postBuild`, strict as in Flux 2.9 (github.com/fluxcd/pkg/envsubst): `${name}` and its
 * variants as in a shell; `$$` is one dollar sign. Flux knows `$name` without braces as text.
 */

/** The text can't be substituted: Flux would refuse the whole Kustomization. */
export class SubstitutionError extends Error {
  override name = "SubstitutionError";
}

export interface Use {
  readonly name: string;
  /** `${name:=default}` and the like: no problem where the variable is missing. */
  readonly hasDefault: boolean;
}

/** The variable `name` as it is written. */
export const variable = (name: string): string => `\${${name}}`;

interface Substitution {
  readonly name: string;
  readonly operator: string;
  readonly arguments: readonly Part[][];
}

type Part = string | Substitution;

/** The patterns of the operators `#` and `%`, as in a shell. */
function glob(pattern: string): string {
  return pattern
    .replaceAll(/[\\^$+.()|{}]/g, "\\$&")
    .replaceAll("*", "[^]*")
    .replaceAll("?", "[^]");
}

function withoutPrefix(value: string, pattern: string, longest: boolean): string {
  const matcher = new RegExp(`^${glob(pattern)}$`);
  const lengths = [...Array(value.length + 1).keys()];
  const found = (longest ? lengths.reverse() : lengths).find((length) => matcher.test(value.slice(0, length)));
  return found === undefined ? value : value.slice(found);
}

function withoutSuffix(value: string, pattern: string, longest: boolean): string {
  const matcher = new RegExp(`^${glob(pattern)}$`);
  const starts = [...Array(value.length + 1).keys()];
  const found = (longest ? starts : starts.reverse()).find((start) => matcher.test(value.slice(start)));
  return found === undefined ? value : value.slice(0, found);
}

function substring(value: string, from: string, count: string | undefined): string {
  const integer = /^[-+]?\d+$/;
  if (!integer.test(from) || (count !== undefined && !integer.test(count))) return value;
  const start = Number(from) < 0 ? Math.max(0, value.length + Number(from)) : Number(from);
  if (count === undefined) return value.slice(start);
  const end = Number(count) < 0 ? value.length + Number(count) : start + Number(count);
  return end < start ? "" : value.slice(start, end);
}

const isDefault = (operator: string): boolean => ["=", ":=", ":-", ":+", ":?"].includes(operator);

function apply(operator: string, value: string, args: readonly string[]): string {
  const [first = "", second] = args;
  switch (operator) {
    case "":
      return value;
    case "length":
      return String(Buffer.byteLength(value));
    case "^":
      return value.charAt(0).toUpperCase() + value.slice(1);
    case "^^":
      return value.toUpperCase();
    case ",":
      return value.charAt(0).toLowerCase() + value.slice(1);
    case ",,":
      return value.toLowerCase();
    case "#":
    case "##":
      return withoutPrefix(value, first, operator === "##");
    case "%":
    case "%%":
      return withoutSuffix(value, first, operator === "%%");
    case "/":
      return value.replace(first, () => second ?? "");
    case "//":
      return value.replaceAll(first, () => second ?? "");
    case "/#":
      return value.startsWith(first) ? `${second ?? ""}${value.slice(first.length)}` : value;
    case "/%":
      return value.endsWith(first) ? `${value.slice(0, value.length - first.length)}${second ?? ""}` : value;
    case ":":
      return substring(value, first, second);
    default:
      // Flux treats all of these as a default for an empty value, also :+ and :?.
      return value === "" ? args.join("") : value;
  }
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Everything up to one of `ends`, which stays unread, or to the end of the text. */
  parts(ends: readonly string[] = []): Part[] {
    const found: Part[] = [];
    let text = "";
    while (this.#at < this.#text.length) {
      const rest = this.#text.slice(this.#at, this.#at + 2);
      if (ends.includes(rest.charAt(0))) break;
      if (rest === "$$" && ends.length === 0) {
        text += "$";
        this.#at += 2;
      } else if (rest === "${") {
        found.push(text, this.#substitution());
        text = "";
      } else {
        const next = ends.length === 0 ? this.#text.indexOf("$", this.#at + 1) : this.#at + 1;
        const end = next === -1 ? this.#text.length : next;
        text += this.#text.slice(this.#at, end);
        this.#at = end;
      }
    }
    return [...found, text];
  }

  #substitution(): Substitution {
    const start = this.#at;
    this.#at += 2;
    const isLength = this.#take(/#(?=[\p{L}_])/uy) !== "";
    const name = this.#take(/[\p{L}\p{N}_]+/uy);
    if (name === "") throw this.#bad(start, "has no name of a variable");
    const operator = isLength ? "length" : this.#take(/:[-=?+]|[=:]|,,?|\^\^?|\/[/#%]?|##?|%%?/y);
    const args = operator === "" || operator === "length" ? [] : this.#arguments(operator);
    if (this.#text.charAt(this.#at) !== "}") throw this.#bad(start, "has no closing brace where Flux expects it");
    this.#at += 1;
    return { name, operator, arguments: args };
  }

  #arguments(operator: string): Part[][] {
    if (/^[,^]/.test(operator)) return [];
    const separator = operator.startsWith("/") ? "/" : operator === ":" ? ":" : undefined;
    if (separator === undefined) return [this.parts(["}"])];
    const first = this.parts([separator, "}"]);
    if (this.#text.charAt(this.#at) !== separator) return [first];
    this.#at += 1;
    return [first, this.parts(["}"])];
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ""] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #bad(start: number, why: string): SubstitutionError {
    return new SubstitutionError(`${JSON.stringify(this.#text.slice(start, start + 40).split("\n")[0])} ${why}`);
  }
}

const usesIn = (parts: readonly Part[]): Use[] =>
  parts.flatMap((part) =>
    typeof part === "string"
      ? []
      : [{ name: part.name, hasDefault: isDefault(part.operator) }, ...part.arguments.flatMap(usesIn)],
  );

/**
 * The variables that a text uses.
 * @throws SubstitutionError
 */
export const uses = (text: string): Use[] => usesIn(new Parser(text).parts());

const evaluate = (parts: readonly Part[], values: (name: string) => string): string =>
  parts
    .map((part) =>
      typeof part === "string"
        ? part
        : apply(
            part.operator,
            values(part.name),
            part.arguments.map((argument) => evaluate(argument, values)),
          ),
    )
    .join("");

/**
 * `text` with its variables replaced; line breaks in values are dropped, as Flux does.
 * @param values the value of a variable; asked for those with a default too, for which "" means none
 * @throws SubstitutionError
 */
export const substitute = (text: string, values: (name: string) => string): string =>
  evaluate(new Parser(text).parts(), (name) => values(name).replaceAll("\n", ""));
