import type { Spoke } from "../../functions/spoke/api.ts";
import type { Problem } from "../../lib/problems.ts";
import { printable } from "../columns.ts";
import { type Connect, connect } from "../kubernetes/connect.ts";
import { readLine } from "../line.ts";
import { forProgram, type Output, outputHelp, outputOption, outputs } from "../output.ts";
import { interrupted, pause } from "../repeat.ts";
import { choiceProblems, refuse } from "../usage.ts";
import type { Row } from "./rows.ts";
import { changesOf, tableOf } from "./table.ts";

export const summary = "show every spoke of a hub, with its applications";

export const help = `Usage: fleet list [--watch] [-o text|json|yaml] [options]

Shows each spoke of a hub: the Kubernetes version that it runs and the one that it is being upgraded to, how many of its
applications are ready, whether it is Ready, and what is going on. It reads the Spokes on the hub and, on each spoke, what the
spoke's own Flux says. It changes nothing.

  --watch                shows it again whenever it changes, until it gets SIGINT or SIGTERM: on a terminal the table, else
                         only the lines that changed
${outputHelp}
  --environment NAME     only spokes of this environment
  --tenant NAME          only spokes of this tenant
  --ring NAME            only spokes of this ring
  --context NAME         the hub's context in the kubeconfig; default: the current one
  --offline              asks only the hub, so it says nothing of applications

Spokes are asked with the credentials that the AWS CLI would take, or with the profile of the hub's context, through the access
entry that spec.admins makes. One that does not answer within 5 seconds has a question mark, and the reason stands below the
table; docs/guides/clusters.md#reach-a-cluster-with-kubectl says what it takes.
Exit code 0: every spoke shown was reached, is Ready, and so are its applications; with --offline: every Spoke is Ready; with
--watch: it was ended by a signal; 1: that is not so, or something failed; 2: it was called wrongly or could not run.

Example:
  fleet list --environment prod --watch
`;

export const options = {
  watch: { type: "boolean", default: false },
  output: outputOption,
  environment: { type: "string" },
  tenant: { type: "string" },
  ring: { type: "string" },
  context: { type: "string" },
  offline: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

export const choices = { output: outputs };

/** What the command works with; tests replace it. */
interface World {
  readonly connect: Connect;
  readonly now: () => number;
  /** Ends `--watch`. */
  readonly signal: () => AbortSignal;
  /** Milliseconds between two looks. */
  readonly interval: number;
  /** Characters in a line of the terminal; undefined where there is none. */
  readonly width: number | undefined;
}

const world: World = {
  connect,
  now: Date.now,
  signal: interrupted,
  interval: 5000,
  width: process.stdout.isTTY ? process.stdout.columns : undefined,
};

const filters = ["environment", "tenant", "ring"] as const;
type Filters = Readonly<Partial<Record<(typeof filters)[number], string>>>;

const selected = (spokes: readonly Spoke[], wanted: Filters): readonly Spoke[] =>
  spokes.filter(({ spec }) => filters.every((name) => wanted[name] === undefined || spec[name] === wanted[name]));

/** The problems of values that no Spoke has. */
const unknownValues = (spokes: readonly Spoke[], wanted: Filters): Problem[] =>
  filters.flatMap((name) => {
    const value = wanted[name];
    const known = [...new Set(spokes.flatMap(({ spec }) => spec[name] ?? []))].sort();
    return value === undefined
      ? []
      : choiceProblems(`--${name}`, value, known, "name one that a spoke of this hub has");
  });

/** Clears the terminal, and begins at its top. */
const CLEAR = "\u001b[2J\u001b[H";

/** Shows what changes, whatever comes of each look, until the signal. */
async function follow(look: () => Promise<Row[]>, output: Output, { now, signal, interval, width }: World) {
  const ended = signal();
  let before: readonly Row[] | undefined;
  while (!ended.aborted) {
    try {
      const rows = await look();
      const changes = changesOf(before ?? [], rows, now());
      if (before === undefined || changes.length > 0) {
        if (output !== "text") process.stdout.write(forProgram({ spokes: rows }, output));
        else if (width !== undefined) process.stdout.write(CLEAR + tableOf(rows, now(), width));
        else process.stdout.write(before === undefined ? tableOf(rows, now()) : printable(`${changes.join("\n")}\n`));
      }
      before = rows;
    } catch (error) {
      console.error((error as Error).message);
    }
    await pause(interval, ended);
  }
}

export async function run(argv: readonly string[], its = world): Promise<number> {
  const { values, problems } = readLine("list", argv, options, { choices });
  refuse("list", problems);
  const output = values.output as Output;
  const fleet = await its.connect(values.context);
  const [{ look }, { spokesOf }] = await Promise.all([import("./look.ts"), import("../kubernetes/spokes.ts")]);
  const read = () => spokesOf(fleet.hub);
  const spokes = await read();
  refuse("list", unknownValues(spokes, values));
  const show = (of: readonly Spoke[]) => look(fleet, selected(of, values), values.offline);
  if (values.watch) {
    await follow(async () => show(await read()), output, its);
    return 0;
  }
  const found = await show(spokes);
  process.stdout.write(
    output === "text" ? tableOf(found, its.now(), its.width) : forProgram({ spokes: found }, output),
  );
  return found.every(({ isWell }) => isWell) ? 0 : 1;
}
