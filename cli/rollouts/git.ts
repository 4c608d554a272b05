import { basename } from "node:path";
import { ringsPolicy } from "../../lib/layout.ts";
import { ringBranch, ringFolders } from "../../lib/rings.ts";
import { commitOf, fileAt, git, remoteGit } from "../diff/git.ts";
import { UsageError } from "../usage.ts";

/** The remote repository of the rings, by way of a clone whose branches, tags and files stay as they are. */
export interface Clone {
  readonly folder: string;
  /** How long the remote may take to answer, in milliseconds; default: two minutes. */
  readonly patience?: number;
  readonly remote: string;
  /** The hub's branch. */
  readonly branch: string;
}

interface Commit {
  readonly commit: string;
  readonly subject: string;
}

/** What Git knows of the rings' branches at one moment. */
export interface History {
  /** Newest commit of the hub's branch. */
  readonly main: string;
  /** Newest commit of each ring's branch, by the ring's name. */
  readonly tips: ReadonlyMap<string, string>;
  /** Says whether two commits have the same for rings. */
  readonly content: (commit: string) => string;
  /** Whether a commit has what Flux applies to the hub for a ring. */
  readonly hasComposition: (commit: string) => boolean;
  /** Whether `commit` is `other` or comes after it. */
  readonly contains: (commit: string, other: string) => boolean;
  /** Commits up to `commit` that the hub's branch lacks, newest first. */
  readonly foreign: (commit: string) => readonly Commit[];
  /** Commits with a change for rings that `to` has and `from` lacks, newest first. */
  readonly changes: (from: string, to: string) => readonly Commit[];
  readonly subject: (commit: string) => string;
}

/** A change of a ring's branch. */
export interface Move {
  readonly ring: string;
  readonly kind: "create" | "promote" | "roll back";
  /** Undefined for a branch that does not exist yet. */
  readonly from: string | undefined;
  readonly to: string;
}

/** What a ring's Kustomization on the hub applies (templates/ring). */
export const compositionFolder = "platform/composition" satisfies (typeof ringFolders)[number];

/** References of this command's own, so that a fetch changes none of the person's. */
const own = "refs/fleet/rollouts";
const ownMain = `${own}/main`;
const ownRings = `${own}/ring`;

const twoMinutes = 120_000;

function answer(folder: string, ...args: string[]): string {
  const { ok, stdout, stderr } = git(folder, ...args);
  if (!ok) throw new Error(`git ${args[0]} failed: ${stderr}`);
  return stdout;
}

/** Whether `commit` is `other` or comes after it; not when the clone has no such commit. */
function contains(folder: string, commit: string, other: string): boolean {
  if (commitOf(folder, other) === undefined) return false;
  const { ok, code, stderr } = git(folder, "merge-base", "--is-ancestor", other, commit);
  if (!ok && code !== 1) throw new Error(`git merge-base failed: ${stderr}`);
  return ok;
}

const remembered = <A extends string[], T>(ask: (...args: A) => T): ((...args: A) => T) => {
  const known = new Map<string, T>();
  return (...args) => {
    const key = args.join(" ");
    if (!known.has(key)) known.set(key, ask(...args));
    return known.get(key) as T;
  };
};

/** Lines of `git log --format=%H %s`. */
const commits = (log: string): Commit[] =>
  log
    .split("\n")
    .filter(Boolean)
    .map((line) => ({ commit: line.slice(0, 40), subject: line.slice(41) }));

/** What never changes of commits, by the folder of the clone: the next look asks for most of it again. */
const ofCommits = {
  content: remembered((folder, commit) => answer(folder, "ls-tree", "--full-tree", commit, "--", ...ringFolders)),
  hasComposition: remembered(
    (folder, commit) =>
      answer(folder, "ls-tree", "--full-tree", "-d", "--name-only", commit, "--", compositionFolder) !== "",
  ),
  foreign: remembered((folder, commit, main) => commits(answer(folder, "log", "--format=%H %s", commit, `^${main}`))),
  changes: remembered((folder, from, to) => {
    const paths = ringFolders.map((path) => `:(top)${path}`);
    return commits(answer(folder, "log", "--format=%H %s", to, `^${from}`, "--", ...paths));
  }),
  subject: remembered((folder, commit) => answer(folder, "log", "--max-count=1", "--format=%s", commit)),
};

/** @throws UsageError when the folder is not a clone with its whole history. */
export function requireClone(folder: string): void {
  const shallow = git(folder, "rev-parse", "--is-shallow-repository");
  if (!shallow.ok)
    throw new UsageError(
      `${folder} is not a clone of gitops-system: ${shallow.stderr}. Run this in one, or name it with --repository DIR`,
    );
  if (shallow.stdout === "true")
    throw new UsageError(
      `${folder} is a shallow clone, and rings are judged by the whole history. ` +
        "Run git fetch --unshallow, or set fetch-depth: 0 of actions/checkout",
    );
}

/** Fetches the hub's branch and those of rings. */
export function fetchHistory({ folder, remote, branch, patience = twoMinutes }: Clone): History {
  const refspecs = [`+refs/heads/${branch}:${ownMain}`, `+refs/heads/${ringBranch("*")}:${ownRings}/*`];
  const quiet = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--prune"];
  const fetched = remoteGit(patience, folder, "fetch", ...quiet, "--end-of-options", remote, ...refspecs);
  if (!fetched.ok)
    throw new Error(
      `git can't fetch the branch ${branch} and the rings' from ${remote}: ${fetched.stderr}. ` +
        "--remote and --branch name others; git fetch says whether you may read it",
    );
  const refs = answer(folder, "for-each-ref", "--format=%(refname) %(objectname)", own);
  const all = new Map(refs.split("\n").map((line) => line.split(" ") as [string, string]));
  const main = all.get(ownMain) as string;
  const rings = [...all].filter(([name]) => name.startsWith(`${ownRings}/`));
  return {
    main,
    tips: new Map(rings.map(([name, commit]) => [name.slice(ownRings.length + 1), commit])),
    content: (commit) => ofCommits.content(folder, commit),
    hasComposition: (commit) => ofCommits.hasComposition(folder, commit),
    contains: remembered((commit, other) => contains(folder, commit, other)),
    foreign: (commit) => ofCommits.foreign(folder, commit, main),
    changes: (from, to) => ofCommits.changes(folder, from, to),
    subject: (commit) => ofCommits.subject(folder, commit),
  };
}

/** Fleets that have a folder on the hub's branch. */
export const fleetsAt = ({ folder }: Clone, commit: string): string[] =>
  answer(folder, "ls-tree", "--full-tree", "-d", "--name-only", commit, "--", "clusters/")
    .split("\n")
    .filter(Boolean)
    .map((path) => basename(path));

/** The rings' file of a fleet at a commit. */
export const policyAt = ({ folder }: Clone, commit: string, fleet: string): string | undefined =>
  fileAt(folder, commit, ringsPolicy(fleet));

/**
 * Moves a ring's branch, unless somebody else has moved it since it was fetched.
 * @returns whether it was moved.
 */
export function push({ folder, remote, patience = twoMinutes }: Clone, { ring, from = "", to }: Move): boolean {
  const ref = `refs/heads/${ringBranch(ring)}`;
  const lease = `--force-with-lease=${ref}:${from}`;
  const options = ["--quiet", "--no-verify", lease, "--end-of-options"];
  const pushed = remoteGit(patience, folder, "push", ...options, remote, `${to}:${ref}`);
  if (pushed.ok) return true;
  const there = remoteGit(patience, folder, "ls-remote", "--end-of-options", remote, ref);
  if (there.ok && there.stdout.slice(0, 40) !== from) return false;
  throw new Error(
    `git can't push ${ringBranch(ring)} to ${remote}: ${pushed.stderr}. ` +
      "Whoever runs this needs the right to push the branches ring/*, also backwards",
  );
}
