import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { changesTo, type FileChange } from "../change/files.ts";
import { foldersIn } from "../fleet/folders.ts";
import { below, type Files, readFiles } from "../folder.ts";
import { filesBelow, isFolder } from "../render/files.ts";
import { choiceProblems } from "../usage.ts";
import { compositionFile, type OpenComposition, openComposition, withChannelOn } from "./composition.ts";
import { environmentTools, keptOf } from "./folders.ts";
import { direction, type OpenVersions, openVersions, withVersionsOf } from "./versions.ts";

/** What brings an environment to what another one runs. */

export interface PromotionRequest {
  readonly from: string;
  readonly to: string;
  /** Names of what is promoted; default: everything. */
  readonly only: readonly string[];
  /** Names of what is not. */
  readonly except: readonly string[];
  readonly allowDowngrade: boolean;
}

/** A thing in which the two environments differ. */
export interface Row {
  /** A tool, an add-on, or {@link composition}. */
  readonly name: string;
  readonly kind: "composition" | "version" | "add-on";
  /** What the environment has. */
  readonly before: string;
  /** What the other one has. */
  readonly after: string;
  /** Why it stays as it is; undefined for what is promoted. */
  readonly stays?: string;
}

export interface Promotion {
  readonly rows: readonly Row[];
  readonly files: readonly FileChange[];
}

/** The name of the Composition in rows and options. */
export const composition = "composition";

interface Sides {
  readonly from: OpenVersions;
  readonly to: OpenVersions;
  /** Add-ons that only the first one offers, each with why it is for no other environment, if it says so. */
  readonly addons: ReadonlyMap<string, string | undefined>;
  readonly composition: OpenComposition;
}

function addonsMissing(checkout: string, from: string, to: string): Map<string, string | undefined> {
  const there = foldersIn(join(checkout, environmentTools(to)));
  const missing = foldersIn(join(checkout, environmentTools(from))).filter((name) => !there.includes(name));
  return new Map(missing.map((name) => [name, keptOf(checkout, from, name)]));
}

/** The rows of versions, of which those that `to` alone has stay. */
function versionRows({ from, to }: Sides, request: PromotionRequest): Row[] {
  const names = [...new Set([...from.versions.keys(), ...to.versions.keys()])].sort();
  return names.flatMap((name): Row[] => {
    const [theirs, own] = [from.versions.get(name), to.versions.get(name)];
    if (theirs?.value === own?.value) return [];
    const row = { name, kind: "version", before: own?.value ?? "(none)", after: theirs?.value ?? "(none)" } as const;
    if (theirs === undefined) return [{ ...row, stays: `${request.from} does not have it` }];
    if (own?.pinned === undefined) return [row];
    return [{ ...row, stays: own.pinned === "" ? "pinned" : `pinned: ${own.pinned}` }];
  });
}

/** Tools whose versions an add-on's manifests name. */
function toolsOf(checkout: string, environment: string, addon: string): string[] {
  const folders = [join(environmentTools("base"), "addons", addon), join(environmentTools(environment), addon)];
  const files = folders
    .map((folder) => join(checkout, folder))
    .filter(isFolder)
    .flatMap(filesBelow);
  const names = files.flatMap((file) => [...readFileSync(file, "utf8").matchAll(/\$\{(\w+?)_version\b/g)]);
  return [...new Set(names.map(([, name = ""]) => name))];
}

/** What `to` has no version of, and an add-on that it gets can't do without; with the add-on. */
function needsOf(checkout: string, { to, addons }: Sides, request: PromotionRequest): Map<string, string> {
  const taken = [...addons].flatMap(([addon, kept]) => (kept === undefined && isNamed(addon, request) ? [addon] : []));
  const needs = taken.flatMap((addon) => toolsOf(checkout, request.from, addon).map((name) => [name, addon] as const));
  return new Map(needs.filter(([name]) => !to.versions.has(name)));
}

const isNamed = (name: string, { only, except }: PromotionRequest): boolean =>
  !except.includes(name) && (only.length === 0 || only.includes(name));

/** The problems of versions that are left out, though an add-on that is promoted needs them. */
const needProblems = (needs: ReadonlyMap<string, string>, { to, except }: PromotionRequest): Problem[] =>
  [...needs]
    .filter(([name]) => except.includes(name))
    .map(([name, addon]) => ({
      key: "--except",
      what: `leaves out a version that ${to} lacks, and its new add-on ${addon} needs`,
      got: name,
      allowed: `what ${addon} does without`,
      remedy: `leave --except ${name} out, or give --except ${addon} too`,
    }));

function rowsOf(sides: Sides, request: PromotionRequest, needs: ReadonlyMap<string, string>): Row[] {
  const isTaken = (environment: string) => sides.composition.channel(environment) === "true";
  const rows: Row[] = [
    ...(isTaken(request.from) && !isTaken(request.to)
      ? [{ name: composition, kind: composition, before: "held back", after: "taken" } as const]
      : []),
    ...versionRows(sides, request),
    ...[...sides.addons].map(([name, stays]) => ({
      ...({ name, kind: "add-on", before: "not offered", after: "offered" } as const),
      ...(stays === undefined ? {} : { stays }),
    })),
  ];
  const isLeft = ({ name }: Row) => !isNamed(name, request) && !needs.has(name);
  return rows.map((row) => (row.stays === undefined && isLeft(row) ? { ...row, stays: "left out" } : row));
}

/** The problems of versions that would go down. */
function downgradeProblems(rows: readonly Row[], { from, to, allowDowngrade }: PromotionRequest): Problem[] {
  if (allowDowngrade) return [];
  return rows
    .filter(({ kind, stays, before }) => kind === "version" && stays === undefined && before !== "(none)")
    .flatMap(({ name, before, after }) => {
      const way = direction(before, after);
      if (way === "up") return [];
      return [
        {
          key: name,
          what:
            way === "down" ? "would be downgraded" : "has versions of which nobody can tell here which one is newer",
          got: `${before} in ${to}, ${after} in ${from}`,
          allowed: "a newer version; any with --allow-downgrade",
          remedy: `leave it with --except ${name}, or for good with a comment "# pinned: <why>" above it in tools/${to}/versions.yaml, or give --allow-downgrade if it is meant`,
        },
      ];
    });
}

function nameProblems({ only, except }: PromotionRequest, { from, addons }: Sides): Problem[] {
  const known = [...new Set([composition, ...from.versions.keys(), ...addons.keys()])].sort();
  return Object.entries({ "--only": only, "--except": except }).flatMap(([flag, names]) =>
    names.flatMap((name) => choiceProblems(flag, name, known, "choose one")),
  );
}

const isProblem = (versions: OpenVersions | Problem): versions is Problem => "remedy" in versions;

async function addonFiles(checkout: string, rows: readonly Row[], { from, to }: PromotionRequest): Promise<Files> {
  const names = rows.filter(({ kind }) => kind === "add-on").map(({ name }) => name);
  const read = async (name: string) =>
    below(join(environmentTools(to), name), await readFiles(join(checkout, environmentTools(from), name)));
  return Object.assign({}, ...(await Promise.all(names.map(read))));
}

/**
 * What brings `to` to what `from` runs, by the files of a checkout of gitops-system; or every problem of that.
 * Both are environments of the checkout.
 */
export async function promotion(checkout: string, request: PromotionRequest): Promise<Promotion | readonly Problem[]> {
  const opened = [request.from, request.to].map((environment) => openVersions(checkout, environment));
  const unread = opened.filter(isProblem);
  if (unread.length > 0) return unread;
  const [from, to] = opened as [OpenVersions, OpenVersions];
  const addons = addonsMissing(checkout, request.from, request.to);
  const sides: Sides = { from, to, addons, composition: openComposition(checkout) };
  const needs = needsOf(checkout, sides, request);
  const rows = rowsOf(sides, request, needs);
  const problems = [
    ...nameProblems(request, sides),
    ...needProblems(needs, request),
    ...downgradeProblems(rows, request),
  ];
  if (problems.length > 0) return problems;
  const taken = rows.filter(({ stays }) => stays === undefined);
  const versions = taken.filter(({ kind }) => kind === "version").map(({ name }) => name);
  const files = {
    ...(versions.length === 0 ? {} : { [to.path]: withVersionsOf(from, to, versions) }),
    ...(await addonFiles(checkout, taken, request)),
    ...(taken.some(({ kind }) => kind === composition)
      ? { [compositionFile]: withChannelOn(sides.composition, request.to) }
      : {}),
  };
  return { rows, files: changesTo(checkout, files) };
}
