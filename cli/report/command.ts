import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Spoke } from "../../functions/spoke/api.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { stackOutputs } from "../fleet/outputs.ts";
import { type Connect, connect } from "../kubernetes/connect.ts";
import type { Fleet } from "../kubernetes/fleet.ts";
import { readLine } from "../line.ts";
import type { Look } from "../list/rows.ts";
import { forProgram, type Output, outputHelp, outputOption, outputs } from "../output.ts";
import { interrupted } from "../repeat.ts";
import { folderProblems, refuse, together } from "../usage.ts";
import type { Key, Report } from "./model.ts";

export const summary = "say on one page whether all is well, what is not, since when, whose it is and what to do";

export const help = `Usage: fleet report [--html FILE | --serve PORT | -o text|json|yaml] [options]

Says of a whole fleet what is not well, since when, whose it is and what to do; and of each spoke its versions and applications,
what commits have reached and what not and why, ages of keys, costs by list prices, and links to the AWS console and to Git. It
reads the hub, and on each spoke what the spoke's own Flux says, with your own rights, and changes nothing. Of Secrets and
ConfigMaps nothing is read, and what looks like a credential in a message is left out.

  --html FILE            writes a web page that needs nothing but itself, in the place of an older one
  --serve PORT           serves the page to browsers of this machine, at an address that it prints, until it gets SIGINT or
                         SIGTERM: what changes shows within 10 seconds; 0 takes any port that is free
${outputHelp}; text has only what is not well
  --stack NAME           adds the sealing keys with their ages, from the outputs of the hub's stack
  --repository DIR       adds the deploy keys that SealedSecrets in this checkout note, with their ages; may be given more than
                         once
  --context NAME         the hub's context in the kubeconfig; default: the current one
  --offline              asks only the hub, so it says nothing of applications

What you have no right to read is left out, and named; docs/guides/metrics.md#the-fleet-on-one-page has the rights that it takes.
Exit code 0: all is well; with --serve: it was ended by a signal; 1: something is not well or was not reached, or it failed; 2: it
was called wrongly or could not run.

Example:
  fleet report --html fleet.html --stack prod
`;

export const options = {
  html: { type: "string" },
  serve: { type: "string" },
  output: outputOption,
  stack: { type: "string" },
  repository: { type: "string", multiple: true },
  context: { type: "string" },
  offline: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

export const choices = { output: outputs };

/** What the command works with; tests replace it. */
interface World {
  readonly connect: Connect;
  readonly now: () => number;
  /** Ends `--serve`. */
  readonly signal: () => AbortSignal;
  readonly outputs: typeof stackOutputs;
}

const world: World = { connect, now: Date.now, signal: interrupted, outputs: stackOutputs };

interface Values {
  readonly html?: string | undefined;
  readonly serve?: string | undefined;
  readonly output: string;
  readonly repository?: readonly string[] | undefined;
}

function htmlProblems(file: string | undefined): Problem[] {
  if (file === undefined) return [];
  const isFolder = existsSync(file) && statSync(file).isDirectory();
  if (!isFolder && existsSync(dirname(resolve(file)))) return [];
  const what = isFolder ? "names a folder" : "names a file in a folder that does not exist";
  return [
    { key: "--html", what, got: shown(file), allowed: "a file in a folder that exists", remedy: "correct the path" },
  ];
}

function portProblems(port: string | undefined): Problem[] {
  if (port === undefined || (/^\d{1,5}$/.test(port) && Number(port) < 65_536)) return [];
  const allowed = "a number from 0 to 65535";
  return [
    { key: "--serve", what: "is not a port", got: shown(port), allowed, remedy: "name one, or 0 for any that is free" },
  ];
}

function togetherProblems({ html, serve, output }: Values): Problem[] {
  const given = [
    ...(html === undefined ? [] : ["--html"]),
    ...(serve === undefined ? [] : ["--serve"]),
    ...(output === "text" ? [] : ["--output"]),
  ];
  if (given.length < 2) return [];
  const [key = ""] = given;
  const what = "is one form of the report, and another one is given too";
  return [
    {
      key,
      what,
      got: given.join(", "),
      allowed: "one of --html, --serve and --output",
      remedy: "leave the others out",
    },
  ];
}

const valueProblems = (values: Values): Problem[] => [
  ...htmlProblems(values.html),
  ...portProblems(values.serve),
  ...togetherProblems(values),
  ...(values.repository ?? []).flatMap((path) => folderProblems("--repository", path, "the folder of a checkout")),
];

/** The report of now. */
async function reportNow(fleet: Fleet, keys: readonly Key[], isOffline: boolean, now: () => number): Promise<Report> {
  const [{ readHub }, { reportOf }, { looks }] = await Promise.all([
    import("./read.ts"),
    import("./report.ts"),
    import("../list/look.ts"),
  ]);
  const facts = await readHub(fleet.hub);
  const { spokes, notSeen } = facts;
  const unasked: string[] = [];
  const found = new Map<string, Look>();
  const told = ({ metadata: { name } }: Spoke, look: Look) => void found.set(name, look);
  if (!isOffline) await looks(fleet, spokes, undefined, told).catch((error: Error) => void unasked.push(error.message));
  return reportOf({ ...facts, notSeen: [...notSeen, ...unasked] }, found, keys, now());
}

/** Puts a text in the place of a file's, all of it or nothing. */
async function replaceFile(file: string, text: string): Promise<void> {
  // Of a name that nobody can have taken, or led elsewhere, in a folder that others write to.
  const draft = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(draft, text, { flag: "wx" });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Serves the report until the signal. */
async function serve(fleet: Fleet, port: number, keys: readonly Key[], isOffline: boolean, its: World): Promise<void> {
  const [{ live }, { listen, serverOf }] = await Promise.all([import("./live.ts"), import("./server.ts")]);
  const stop = new AbortController();
  const signal = AbortSignal.any([its.signal(), stop.signal]);
  const { shown: now, ended } = await live(fleet, { keys, isOffline, now: its.now }, signal);
  const secret = randomBytes(16).toString("base64url");
  const server = serverOf(now, secret);
  try {
    console.log(`http://127.0.0.1:${await listen(server, port)}/${secret}/`);
    await ended;
  } finally {
    stop.abort();
    server.close();
    server.closeAllConnections();
  }
}

export async function run(argv: readonly string[], its = world): Promise<number> {
  const { values, problems } = readLine("report", argv, options, { choices });
  refuse("report", together(problems, valueProblems(values)));
  const fleet = await its.connect(values.context);
  const { deployKeys, sealingKeys } = await import("./keys.ts");
  const keys = [
    ...(values.stack === undefined ? [] : sealingKeys(await its.outputs({ stack: values.stack }))),
    ...deployKeys((values.repository ?? []).map((path) => resolve(path))),
  ];
  if (values.serve !== undefined) {
    await serve(fleet, Number(values.serve), keys, values.offline, its);
    return 0;
  }
  const report = await reportNow(fleet, keys, values.offline, its.now);
  const output = values.output as Output;
  if (values.html !== undefined) {
    const { pageOf } = await import("./page/page.ts");
    await replaceFile(resolve(values.html), pageOf(report));
    const { sentence } = await import("./page/words.ts");
    console.log(`${values.html}: ${sentence(report)}`);
  } else if (output === "text") {
    const { textOf } = await import("./text.ts");
    process.stdout.write(textOf(report));
  } else process.stdout.write(forProgram(report, output));
  return report.attention.length === 0 && report.notSeen.length === 0 ? 0 : 1;
}
