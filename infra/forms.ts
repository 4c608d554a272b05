import { parseCidr } from "../lib/cidr.ts";

/** How one config key is read: from Pulumi's text to a value, or to undefined if the text is not allowed. */
export interface Key<T> {
  readonly parse: (text: string) => T | undefined;
  readonly allowed: string;
  /** An example, quoted for a shell: what follows the key's name in a command. */
  readonly example: string;
  /** Where in the value the example goes, when it is a part of it. */
  readonly path?: string;
  /** The value must be encrypted, and is never shown. */
  readonly secret?: boolean;
  /** Pulumi takes the value for a secret, by the key's name, and refuses it until told that it is none. */
  readonly plaintext?: boolean;
}

export function text(pattern: RegExp, allowed: string, example: string): Key<string> {
  return { parse: (value) => (pattern.test(value) ? value : undefined), allowed, example };
}

export function secret(allowed: string): Key<string> {
  return { parse: (value) => value, allowed, example: "", secret: true };
}

export function oneOf<const T extends string>(...values: readonly T[]): Key<T> {
  return {
    parse: (value) => values.find((known) => known === value),
    allowed: values.join(", "),
    example: values[0] ?? "",
  };
}

export function integer(allowed: string, accepts: (value: number) => boolean, example: number): Key<number> {
  return {
    parse: (value) => (/^\d{1,6}$/.test(value) && accepts(Number(value)) ? Number(value) : undefined),
    allowed,
    example: String(example),
  };
}

export const flag: Key<boolean> = {
  parse: (value) => ({ true: true, false: false })[value],
  allowed: "true or false",
  example: "true",
};

/** A lower-case name of Kubernetes and the fleet. */
export const slug = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** CIDR of any IPv4 network. */
export const cidr: Key<string> = {
  parse: (value) => (parseCidr(value) ? value : undefined),
  allowed: "an IPv4 network a.b.c.d/n with no bits set after the prefix",
  example: "10.0.0.0/16",
};

export function fromJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** Whether `read` accepts a text without an error. */
export function reads(read: () => unknown): boolean {
  try {
    return Boolean(read());
  } catch {
    return false;
  }
}

/** An object of names and values, and no list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A list whose items all match `item`. */
export function list<T extends string>(item: Key<T>): Key<readonly T[]> {
  return {
    parse: (value) => {
      const items = fromJson(value);
      if (!Array.isArray(items)) return undefined;
      return items.every((entry) => typeof entry === "string" && item.parse(entry) !== undefined) ? items : undefined;
    },
    allowed: `a list; each item ${item.allowed}`,
    path: "[0]",
    example: item.example,
  };
}

/** A list of what `item` reads. */
export function listOf<T>(
  item: (value: unknown) => T | undefined,
  key: Omit<Key<readonly T[]>, "parse">,
): Key<readonly T[]> {
  return {
    parse: (value) => {
      const items = fromJson(value);
      const read = Array.isArray(items) ? items.map(item) : [undefined];
      return read.every((each) => each !== undefined) ? read : undefined;
    },
    ...key,
  };
}

/** The command that sets a key, with an example of its value; a secret is read from standard input. */
export function setCommandOf(name: string, { example, path, secret, plaintext }: Key<unknown>): string {
  const target = path === undefined ? name : `--path '${name}${path}'`;
  const parts = ["pulumi config set", secret ? "--secret" : "", plaintext ? "--plaintext" : "", target, example];
  return parts.filter((part) => part !== "").join(" ");
}
