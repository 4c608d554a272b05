import { join, resolve } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import type { Proposal } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { list } from "../change/removal.ts";
import { columns } from "../columns.ts";
import { foldersIn, spokesIn } from "../fleet/folders.ts";
import { checkoutProblems } from "../folder.ts";
import { readLine } from "../line.ts";
import { openSpoke } from "../spoke/file.ts";
import { readOffer } from "../spoke/rules.ts";
import { choiceProblems, refuse, together } from "../usage.ts";
import { openComposition } from "./composition.ts";
import { ownFiles } from "./differences.ts";
import { composition, type Promotion, type PromotionRequest, promotion, type Row } from "./promotion.ts";

export const summary = "bring an environment to the versions of another one, in gitops-system";

export const help = `Usage: fleet promote --from ENVIRONMENT --to ENVIRONMENT [--only NAME]... [--except NAME]... [options]

Brings to one environment, in a checkout of gitops-system, what another one runs: the versions in
tools/<environment>/versions.yaml, add-ons that only the other one offers, and the Composition, if its channel holds it back. A
version below a comment "# pinned: <why>" stays, and so does an add-on whose kustomization says "# not promoted: <why>".
Kubernetes versions are each spoke's own: fleet upgrade. Applications are their teams'.

  --from ENVIRONMENT     where it has been tried, such as dev
  --to ENVIRONMENT       where it goes, such as prod
  --only NAME            a tool, an add-on with the versions that it uses, or ${composition}; can be given more than once; default:
                         everything
  --except NAME          what is not promoted; can be given more than once
  --allow-downgrade      also versions that are older than what is there
  --repository DIR       the checkout to write into; default: the current folder
${changeHelp}

Examples:
  fleet promote --from dev --to prod --dry-run
  fleet promote --from dev --to prod --only external_dns --push
`;

export const options = {
  ...changeOptions,
  from: { type: "string" },
  to: { type: "string" },
  only: { type: "string", multiple: true },
  except: { type: "string", multiple: true },
  "allow-downgrade": { type: "boolean", default: false },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

function environmentProblems({ from, to }: PromotionRequest, environments: readonly string[]): Problem[] {
  const unknown = Object.entries({ "--from": from, "--to": to }).flatMap(([flag, value]) =>
    choiceProblems(flag, value, environments, "choose one, or make it first: fleet add-environment"),
  );
  if (unknown.length > 0 || from !== to) return unknown;
  return [
    {
      key: "--to",
      what: "is the environment that it comes from",
      got: to,
      allowed: environments.filter((name) => name !== from).join(", ") || "(there is only one environment)",
      remedy: "name another one",
    },
  ];
}

interface Follower {
  readonly name: string;
  readonly ring?: string | undefined;
}

/** The spokes of an environment, in every fleet. */
function spokesOf(checkout: string, environment: string): Follower[] {
  const fleets = foldersIn(join(checkout, "spokes"));
  return fleets.flatMap((fleet) =>
    spokesIn(checkout, fleet).flatMap((name) => {
      const file = openSpoke<{ environment: string; ring: string }>(checkout, fleet, name, "--to");
      return "spec" in file && file.spec.environment === environment ? [{ name, ring: file.spec.ring }] : [];
    }),
  );
}

/** What this checkout does not know of the environment that it comes from, or does not bring. */
function notesBefore(checkout: string, { from, to }: PromotionRequest): string[] {
  const { channel, stage } = openComposition(checkout);
  const branch = stage(from)?.gitopsSystemRevision;
  const own = ownFiles(checkout, from, to);
  const isHeldBack = [from, to].every((environment) => channel(environment) !== "true");
  return [
    ...(branch === undefined
      ? []
      : [
          `Note: ${from} follows the branch ${branch}: run this where that is checked out, or it may run something else`,
        ]),
    ...(isHeldBack ? [`Note: the Composition is held back in ${from} too, so it is not promoted`] : []),
    ...(own.length === 0 ? [] : [`Note: what else differs from ${from} is ${to}'s own and stays: ${own.join(", ")}`]),
  ];
}

/** What the commit alone does not bring. */
function notesAfter(checkout: string, { to }: PromotionRequest, { rows }: Promotion): string[] {
  const { channel, stage } = openComposition(checkout);
  const branch = stage(to)?.gitopsSystemRevision;
  const inRings = spokesOf(checkout, to).filter(({ ring }) => ring !== undefined);
  const staysBack = channel(to) !== "true" && !rows.some(({ kind, stays }) => kind === composition && !stays);
  const hasNewAddon = rows.some(({ kind, stays }) => kind === "add-on" && !stays);
  return [
    ...(branch === undefined ? [] : [`${to} follows the branch ${branch}, which has to get the commit too`]),
    ...(inRings.length === 0
      ? []
      : [
          `by fleet rollouts --promote, when their ring has its turn, it reaches ${inRings.map(({ name, ring }) => `${name} (${ring})`).join(", ")}`,
        ]),
    ...(staysBack && hasNewAddon
      ? [`the Composition stays held back in ${to}: an add-on that needs a role has none before it is promoted`]
      : []),
  ];
}

function table(rows: readonly Row[], { from, to }: PromotionRequest): string {
  const lines = rows.map(({ name, before, after, stays }) => [name, before, after, stays ? `stays: ${stays}` : ""]);
  return columns([["", to, from, ""], ...lines]).join("\n");
}

const changeOf = ({ name, before, after }: Row): string => `${name}: ${before} -> ${after}`;

function proposalOf(checkout: string, { from, to }: PromotionRequest, { rows, files }: Promotion): Proposal {
  const taken = rows.filter(({ stays }) => stays === undefined);
  const [only] = taken;
  const what = taken.length === 1 && only !== undefined ? only.name : `${taken.length} changes`;
  return {
    ...{ repository: "gitops-system", checkout, files },
    subject: `Promote ${what} from ${from} to ${to}`,
    body: taken.map(changeOf).join("\n"),
  };
}

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, problems } = readLine("promote", argv, options, {
    required: { from: "an environment, such as dev", to: "another environment, such as prod" },
  });
  const { from, to, only = [], except = [], "allow-downgrade": allowDowngrade } = values;
  const request: PromotionRequest = { from, to, only, except, allowDowngrade };
  const checkout = resolve(values.repository ?? ".");
  const told = together(problems, wishProblems(values, [checkout]));
  const notHere = checkoutProblems(checkout, "gitops-system", join("templates", "spoke"));
  if (notHere.length > 0) refuse("promote", together(told, notHere));
  const { environments } = await readOffer(checkout);
  const unknown = environmentProblems(request, environments);
  if (unknown.length > 0) refuse("promote", together(told, unknown));
  const found = await promotion(checkout, request);
  refuse("promote", together(told, "rows" in found ? [] : found));
  const promoted = found as Promotion;
  for (const note of notesBefore(checkout, request)) console.log(note);
  if (promoted.rows.length > 0) console.log(table(promoted.rows, request));
  if (promoted.files.length === 0) {
    console.log(
      `Nothing to promote: ${promoted.rows.length > 0 ? "but for what stays, " : ""}${to} has the versions, add-ons and Composition of ${from}`,
    );
    return 0;
  }
  const notes = notesAfter(checkout, request, promoted);
  const next = notes.length === 0 ? {} : { next: `Note:\n${list(notes)}` };
  await carryOut("promote", [proposalOf(checkout, request, promoted)], values, { ...next, programs: using });
  return 0;
}
