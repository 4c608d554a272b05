import { resolve } from "node:path";
import { type Problem, shown } from "../../lib/problems.ts";
import { readLine } from "../line.ts";
import { forProgram, type Output, outputHelp, outputOption, outputs } from "../output.ts";
import { interrupted, pause } from "../repeat.ts";
import { folderProblems, refuse, together } from "../usage.ts";
import { duration } from "./durations.ts";
import { requireClone } from "./git.ts";
import type { HubApi } from "./hub.ts";
import { type Outcome, step } from "./step.ts";
import { tableOf } from "./table.ts";

export const summary = "show what each ring of spokes has, and hand changes of the platform on from ring to ring";

export const help = `Usage: fleet rollouts [--promote [--dry-run | --every DURATION]] [-o text|json|yaml] [options]

Shows each ring of clusters/<fleet>/rings.yaml on the hub's branch: how many of its spokes are ready with what it has, its commit,
what waits, and what happens next. It reads the rings' branches and the hub; files and branches of the clone stay as they are.

  --promote              moves the branches ring/<ring> that may move and pushes them, and writes what happened as events of the
                         rings' GitRepositories on the hub
  --dry-run              with --promote: says what it would push, and changes nothing
  --every DURATION       with --promote: goes on, in steps of 30s, 1m, 1h and so on, until it gets SIGINT or SIGTERM
${outputHelp}
  --fleet NAME           refuses a hub of another fleet; default: that of the hub
  --repository DIR       a clone of gitops-system with its whole history; default: the current folder
  --remote NAME          the remote of the clone, or a URL; default: origin
  --branch NAME          refuses a hub that follows another branch; default: the one that it follows
  --context NAME         the hub's context in the kubeconfig; default: the current one

It keeps nothing between two runs, so it can be ended at any moment; two at once do no harm. A workflow
that runs it, and the permissions that it needs: docs/guides/environments.md#rings
Exit code 0: done; 1: a ring is stopped, is late or has a problem, a spoke's ring is not in rings.yaml, the hub's Crossplane does
not run, or something failed; 2: it was called wrongly or could not run.

Example:
  fleet rollouts --promote --every 1m
`;

export const options = {
  promote: { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
  every: { type: "string" },
  output: outputOption,
  fleet: { type: "string" },
  repository: { type: "string", default: "." },
  remote: { type: "string", default: "origin" },
  branch: { type: "string" },
  context: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

export const choices = { output: outputs };

/** What the command works with; tests replace it. */
interface World {
  readonly connect: (context: string | undefined) => Promise<HubApi>;
  readonly now: () => number;
  /** Ends `--every`. */
  readonly signal: () => AbortSignal;
}

// The Kubernetes client takes half a second to load, which other commands need not wait for.
const connect = async (context: string | undefined) => (await import("./hub.ts")).connect(context);

const world: World = { connect, now: Date.now, signal: interrupted };

function show({ fleet, main, rows, problems, notes, moved, lines, failures }: Outcome, output: Output): void {
  const found = { fleet, main, rings: rows, problems, notes, moved };
  if (output !== "text") console.log(forProgram(found, output).trimEnd());
  else console.log([tableOf(rows, [...problems, ...notes]), ...lines].join("\n").trimEnd());
  for (const failure of failures) console.error(failure);
}

/** What makes it worth showing an outcome again; times pass by themselves. */
const newsIn = ({ rows, problems, notes, failures }: Outcome): string =>
  JSON.stringify([
    rows.map(({ ring, commit, verdict, health }) => [ring, commit, verdict, health?.state, health?.isLate]),
    problems,
    notes,
    failures,
  ]);

/** Whether nobody has to do anything. */
const isWell = ({ rows, problems, failures }: Outcome): boolean =>
  rows.every(({ verdict, health }) => verdict.kind !== "problem" && health?.state !== "stopped" && !health?.isLate) &&
  problems.length === 0 &&
  failures.length === 0;

/** One look after another, whatever comes of each, until the signal. */
async function repeat(look: () => Promise<Outcome>, output: Output, ms: number, signal: AbortSignal): Promise<void> {
  let known = "";
  while (!signal.aborted) {
    try {
      const outcome = await look();
      const news = newsIn(outcome);
      if (news !== known || outcome.lines.length > 0) show(outcome, output);
      known = news;
    } catch (error) {
      known = "";
      console.error((error as Error).message);
    }
    await pause(ms, signal);
  }
}

/** The problems of flags that make no sense without each other, or together. */
function flagProblems(promotes: boolean, isDry: boolean, every: string | undefined): Problem[] {
  const given = [...(isDry ? ["--dry-run"] : []), ...(every === undefined ? [] : ["--every"])];
  const alone = promotes ? [] : given;
  const needed = alone.map((key) => ({
    ...{ key, what: "needs --promote", got: "no --promote", allowed: `--promote ${key}` },
    remedy: "add --promote, or leave it out to look only",
  }));
  const both =
    given.length < 2 || !promotes
      ? []
      : [
          {
            ...{ key: given.join(" and "), what: "exclude each other", got: "both", allowed: "one of them" },
            remedy: "leave out --every to rehearse one step",
          },
        ];
  if (every === undefined || duration(every)) return [...needed, ...both];
  const form = {
    what: "is not a duration",
    got: shown(every),
    allowed: "hours, minutes and seconds such as 30s or 1m",
  };
  return [...both, ...needed.filter(({ key }) => key !== "--every"), { key: "--every", ...form, remedy: "change it" }];
}

export async function run(argv: readonly string[], { connect, now, signal } = world): Promise<number> {
  const { values, problems } = readLine("rollouts", argv, options, { choices });
  const { promote: promotes, "dry-run": isDry, every } = values;
  const output = values.output as Output;
  refuse(
    "rollouts",
    together(problems, [
      ...flagProblems(promotes, isDry, every),
      ...folderProblems("--repository", values.repository, "a clone of gitops-system with its whole history"),
    ]),
  );
  const ms = every === undefined ? undefined : duration(every);
  const clone = { folder: resolve(values.repository), remote: values.remote, branch: values.branch };
  requireClone(clone.folder);
  const hub = await connect(values.context);
  const does = isDry ? "rehearse" : promotes ? "promote" : "show";
  const look = () => step({ clone, fleet: values.fleet, does }, hub, now());
  if (ms !== undefined) {
    await repeat(look, output, ms, signal());
    return 0;
  }
  const outcome = await look();
  show(outcome, output);
  return isWell(outcome) ? 0 : 1;
}
