import { resolve } from "node:path";
import { hubName } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import { systemBeside } from "../app/system.ts";
import { carryOut } from "../change/carry-out.ts";
import { type Programs, programs } from "../change/effect.ts";
import type { Proposal } from "../change/files.ts";
import { changeHelp, changeOptions, isCommitted, wishProblems } from "../change/options.ts";
import { certificateProblems, fleetFrom, sourceHelp, sourceOptions } from "../fleet/facts.ts";
import { stackOutputs } from "../fleet/outputs.ts";
import { readProject } from "../fleet/stack-config.ts";
import { checkoutProblems } from "../folder.ts";
import { readLine } from "../line.ts";
import { projectRoot } from "../project.ts";
import { refuse, together } from "../usage.ts";
import { type Holder, holderOf, name } from "./holder.ts";
import { hubSteps } from "./hub.ts";
import { forgotten, made, phaseOf, standingOf, turnProblems, used, useProblems, wishes } from "./steps.ts";
import { tellOf } from "./words.ts";

export const summary = "replace the deploy keys of a spoke or of an application, step by step";

export const help = `Usage: fleet rotate-deploy-key <spoke>[/<application>]|${hubName} [--new|--registered|--removed] [options]

Replaces the deploy keys with which Flux on a spoke reads the fleet's repositories (a spoke that reads with the fleet's gets keys
of its own), or an application's its team's. Both keys are registered while one takes the place of the other, so the spoke can
always read. It goes by the files of the checkout and can be stopped after every step; without one of the first three options it
says where the rotation stands and what is to be done at the Git host. Private keys are shown nowhere.
  1. (--new) new keys, sealed beside the present ones, and read by nobody yet. Register them at the Git host
  2. (--registered) they take the place of the present ones. Push, and wait until the spoke reads with them
  3. (--removed) once you have removed the former ones at the Git host
For ${hubName} it says how Pulumi makes the fleet's keys anew (with --stack), and changes nothing.

  --new                  begin a rotation
  --registered           the new keys are registered at the Git host
  --removed              the former keys are removed there
  --system DIR           for an application: the checkout of gitops-system, which says for which scope to seal; default:
                         gitops-system beside the checkout of gitops-workloads
  --known-hosts FILE     host keys of the Git host; default: those of the fleet's credentials
${changeHelp}
${sourceHelp}
--repository is a checkout of gitops-system for a spoke and for ${hubName}, of gitops-workloads for an application.

Examples:
  fleet rotate-deploy-key green --new --repository ../gitops-system --push
  fleet rotate-deploy-key green/shop --new --repository ../gitops-workloads --push
`;

export const options = {
  ...sourceOptions,
  ...changeOptions,
  new: { type: "boolean", default: false },
  registered: { type: "boolean", default: false },
  removed: { type: "boolean", default: false },
  system: { type: "string" },
  "known-hosts": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** What the command works with; tests replace it. */
interface World {
  readonly connect: typeof fleetFrom;
  readonly ask: typeof stackOutputs;
  readonly programs: Programs;
  readonly now: () => Date;
}

const world: World = { connect: fleetFrom, ask: stackOutputs, programs, now: () => new Date() };

const read = (argv: readonly string[]) =>
  readLine(name, argv, options, { arguments: ["spoke"], files: ["certificate", "known-hosts"] });

type Line = ReturnType<typeof read>;

const wishesOf = ({ values }: Line) => wishes.filter((wish) => values[wish]);

/** The problems of steps that are asked for together. */
function stepProblems(line: Line): Problem[] {
  const asked = wishesOf(line).map((wish) => `--${wish}`);
  if (asked.length < 2) return [];
  const allowed = "one step at a time: between two of them something happens at the Git host";
  return [
    {
      key: asked.join(", "),
      what: "can't be done together",
      got: asked.join(" "),
      allowed,
      remedy: "leave out the later ones",
    },
  ];
}

/** What does not go together with the hub's keys, which are not in Git. */
function hubProblems(line: Line, checkout: string): Problem[] {
  const { values } = line;
  const [first] = [...wishesOf(line), ...(isCommitted(values) ? [values.push ? "push" : "commit"] : [])];
  return [
    ...(values.stack === undefined
      ? [
          {
            ...{ key: "--stack", what: "is missing: Pulumi makes the fleet's keys", got: "(nothing)" },
            ...{ allowed: "the Pulumi stack of the hub", remedy: "give --stack" },
          },
        ]
      : []),
    ...(first === undefined
      ? []
      : [
          {
            ...{
              key: `--${first}`,
              what: `is for the keys of a spoke or an application: those of the ${hubName} are not in Git`,
            },
            ...{ got: `--${first}`, allowed: "--stack, --repository", remedy: `leave --${first} out` },
          },
        ]),
    ...checkoutProblems(checkout, "gitops-system", "spokes"),
  ];
}

export async function run(argv: readonly string[], given: World = world): Promise<number> {
  const line = read(argv);
  const { values, args, texts } = line;
  const checkout = resolve(values.repository ?? ".");
  const told = together(line.problems, [
    ...stepProblems(line),
    ...wishProblems(values, [checkout]),
    ...certificateProblems(texts.certificate),
  ]);
  if (args.spoke === hubName) {
    refuse(name, together(told, hubProblems(line, checkout)));
    const project = (await readProject(projectRoot())).name;
    console.log(await hubSteps({ stack: values.stack ?? "", project, checkout, ask: given.ask }));
    return 0;
  }
  const system = values.system === undefined ? systemBeside(checkout, undefined) : resolve(values.system);
  const wanted = { target: args.spoke, checkout, system };
  const holder = await holderOf(wanted, () => given.connect({ ...values, ...texts }), told);
  await step(holder, line, system, given);
  return 0;
}

/** What a step changes; undefined where it is done already, or none is asked for. */
async function changed(
  holder: Holder,
  line: Line,
  now: Date,
): Promise<Pick<Proposal, "files" | "subject"> | undefined> {
  const { values, texts } = line;
  const { target } = holder;
  const [wish] = wishesOf(line);
  const standing = standingOf(holder);
  const phase = phaseOf(standing);
  refuse(name, turnProblems(phase, wish, holder));
  if (wish === "new" && phase === "idle") {
    const files = await made(holder, standing, texts["known-hosts"], now);
    return { files, subject: `Make new deploy keys for ${target}` };
  }
  if (wish === "registered" && phase === "register") {
    if (!values["dry-run"]) refuse(name, useProblems(holder, standing));
    return { files: used(holder, standing), subject: `Let ${target} read with its new deploy keys` };
  }
  if (wish === "removed" && phase === "remove")
    return { files: forgotten(holder, standing), subject: `Forget the former deploy keys of ${target}` };
  return undefined;
}

/** Does the step that is asked for, and says what comes next. */
async function step(holder: Holder, line: Line, system: string | undefined, given: World): Promise<void> {
  const { repository, checkout, fleet } = holder;
  const change = await changed(holder, line, given.now());
  if (change !== undefined)
    await carryOut(name, [{ repository, checkout, ...change }], line.values, {
      ...{ fleet: fleet.name, programs: given.programs },
      beside: { "gitops-system": system },
    });
  if (change === undefined || !line.values["dry-run"]) console.log(tellOf(holder, standingOf(holder)));
}
