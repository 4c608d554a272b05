import { parseDocument } from "yaml";
import { z } from "zod";
import { type Problem, shown } from "../../lib/problems.ts";
import { duration, hour } from "./durations.ts";
import { isTimeZone, timeOfDay, type Window, weekdays } from "./windows.ts";

/** A fleet's rings in their order, as `clusters/<fleet>/rings.yaml` says. */

export interface Ring {
  readonly name: string;
  /** How long it must have been healthy before the next ring gets what it has, in milliseconds. */
  readonly soak: number;
  /** After how long a ring that is still arriving is late, in milliseconds. */
  readonly deadline: number;
  /** How many of so many spokes may be unhealthy. */
  readonly allows: (spokes: number) => number;
  /** When it may receive changes; none: always. */
  readonly windows: readonly Window[];
  readonly hold: boolean;
  /** Commit that it stays at. */
  readonly revision?: string;
}

/** What is wrong with a value and what to do, by the field that it stands in. */
const forms: Readonly<Record<string, { readonly allowed: string; readonly remedy: string }>> = {
  rings: { allowed: "a list of rings, in their order", remedy: "write the first ring, - name: canary" },
  name: {
    allowed: "1 to 40 lower-case letters, digits and hyphens, with a letter or digit at both ends",
    remedy: "choose another name; it is part of the branch's name and of objects' names",
  },
  soak: { allowed: "hours, minutes and seconds such as 30m, 1h30m or 24h", remedy: "write days as hours" },
  deadline: { allowed: "hours, minutes and seconds such as 30m, 1h30m or 24h", remedy: "write days as hours" },
  maxUnavailable: {
    allowed: "a number of spokes, or a share of them from 0% to 100%",
    remedy: "write 2, or 10%",
  },
  windows: {
    allowed: "a list with at least one window",
    remedy: "leave it out where changes are always welcome, or write hold: true where none is",
  },
  days: { allowed: `a list of ${weekdays.join(", ")}`, remedy: "leave it out for every day" },
  from: { allowed: 'a time from "00:00" to "23:59", not that of to', remedy: 'write such as "08:00"' },
  to: {
    allowed: 'a time from "00:01" to "24:00"; before from, it is on the next day',
    remedy: 'write such as "16:00"',
  },
  timeZone: { allowed: "a time zone of the IANA database", remedy: "write such as Europe/Berlin, or UTC" },
  hold: { allowed: "true or false", remedy: "leave it out where nothing is held" },
  revision: {
    allowed: "a whole commit ID: 40 hexadecimal digits",
    remedy: "take it from git log --format=%H, in quotation marks",
  },
};

const form = <T>(parse: (text: string) => T | undefined) =>
  z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom" });
    return z.NEVER;
  });

const share = form((text) => {
  const percent = /^(\d{1,3})%$/.exec(text)?.[1];
  // Rounded down, as Kubernetes does for maxUnavailable.
  return percent === undefined || Number(percent) > 100
    ? undefined
    : (spokes: number) => Math.floor((spokes * Number(percent)) / 100);
});
const count = z
  .int()
  .min(0)
  .transform((most) => () => most);

const before = (time: number | undefined, end: number) => (time !== undefined && time < end ? time : undefined);

const window = z
  .strictObject({
    days: z.array(z.enum(weekdays)).min(1).default(Array.from(weekdays)),
    from: form((text) => before(timeOfDay(text), 24 * 60)).default(0),
    to: form((text) => timeOfDay(text) || undefined).default(24 * 60),
    timeZone: z.string().refine(isTimeZone).default("UTC"),
  })
  .refine(({ from, to }) => from !== to, { path: ["from"] });

const name = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/);

const ring = z.strictObject({
  name,
  // Flux looks at what it has applied at most every 100 minutes: its intervals on the hub and on spokes together.
  soak: form(duration).default(2 * hour),
  deadline: form(duration).default(4 * hour),
  maxUnavailable: z.union([count, share]).default(() => () => 0),
  windows: z.array(window).min(1).default([]),
  hold: z.boolean().default(false),
  revision: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional(),
});

const policy = z.strictObject({ rings: z.array(ring).min(1) });

type Path = readonly PropertyKey[];

const inside = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value);

/** A place in the file, such as `rings[1].soak`. */
const place = (path: Path): string =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");

const fieldsOf = (path: Path): readonly string[] =>
  Object.keys(path.includes("windows") ? window.shape : path.includes("rings") ? ring.shape : policy.shape);

function problemsOf(value: unknown, issues: readonly z.core.$ZodIssue[]): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    const { path } = issue;
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({
        key: place([...path, key]),
        what: "is not a field",
        got: key,
        allowed: fieldsOf(path).join(", "),
        remedy: "correct it, or take it away",
      }));
    const field = path.findLast((key) => typeof key === "string");
    const got = inside(value, path);
    const known = forms[typeof field === "string" ? field : "rings"] ?? forms["rings"];
    return [
      {
        key: place(path) || "the file",
        what: got === undefined ? "is missing" : "has another form",
        got: got === undefined ? "(nothing)" : shown(got),
        ...(known as { allowed: string; remedy: string }),
      },
    ];
  });
}

/** The problems of names that several rings have. */
function duplicates(rings: readonly { readonly name: string }[]): Problem[] {
  return rings.flatMap(({ name }, index) =>
    rings.findIndex((other) => other.name === name) === index
      ? []
      : [
          {
            key: place(["rings", index, "name"]),
            what: "is the name of another ring",
            got: name,
            allowed: "a name of its own for each ring",
            remedy: "rename one of them, or take it away",
          },
        ],
  );
}

/** What the file's text says, or everything that is wrong with it. */
export function readPolicy(
  text: string,
): { readonly rings: readonly Ring[] } | { readonly problems: readonly Problem[] } {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    return {
      problems: document.errors.map(({ message }) => ({
        key: "the file",
        what: "is not YAML",
        got: message.split("\n")[0] ?? "",
        allowed: "YAML, with each key once",
        remedy: "correct the line",
      })),
    };
  const value: unknown = document.toJS();
  const read = policy.safeParse(value);
  const named = z.object({ rings: z.array(z.object({ name: z.string() })) }).safeParse(value);
  const problems = [
    ...(read.success ? [] : problemsOf(value, read.error.issues)),
    ...(named.success ? duplicates(named.data.rings) : []),
  ];
  if (!read.success || problems.length > 0) return { problems };
  return {
    rings: read.data.rings.map(({ maxUnavailable, revision, ...rest }) => ({
      ...rest,
      allows: maxUnavailable,
      ...(revision === undefined ? {} : { revision }),
    })),
  };
}
