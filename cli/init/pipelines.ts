import { existsSync } from "node:fs";
import { join } from "node:path";
import { isGitHubCloud } from "../../lib/github-api.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { fillTemplate } from "../../lib/template.ts";
import type { Run } from "../doctor/process.ts";
import type { Files } from "../folder.ts";
import type { InitRequest } from "./request.ts";

/** What runs on a change of the new repositories at their host, and who reviews it. Of repos/ only these files have placeholders. */

export const pipelinesGuide = "docs/guides/checks.md#pull-requests-of-repositories";

const workflow = ".github/workflows/fleet.yml";
const pipeline = ".gitlab-ci.yml";
const codeOwners = "CODEOWNERS";

/** The files in which fleet init fills in placeholders, or which it leaves out. */
export const filledIn: readonly string[] = [workflow, pipeline, codeOwners];

/** The repository of the sample application. */
export const sampleApp = "payment-app-manifests";

/** The teams that repos/ says own the repositories, as the host would know them. */
const teams = { "gitops-system": "platform", "gitops-workloads": "governance", [sampleApp]: "payments" } as const;
type Name = keyof typeof teams;
const names = Object.keys(teams) as Name[];

/** A repository at its host. */
interface Place {
  readonly host: string;
  /** `<owner>/<name>`, or at GitLab `<group>/<subgroup>/<name>`. */
  readonly path: string;
}

/** What a Git URL names, in git's short form too (git@host:path); undefined if it is not a repository of an owner at a host. */
export function placeOf(url: string): Place | undefined {
  const [, host, path] = /^(?:[\w.-]+@)?([\w.-]+):(?!\/)(.+)$/.exec(url) ?? [];
  const full = host === undefined ? url : `ssh://${host}/${path}`;
  if (!/^(ssh|https):/.test(full) || !URL.canParse(full)) return undefined;
  const { hostname, host: withPort, pathname, protocol } = new URL(full);
  const name = pathname.replace(/^\/+|\/+$|(\.git)?\/*$/g, "");
  if (!/^[\w.-]+(\/[\w.-]+)+$/.test(name)) return undefined;
  // The port of an ssh:// URL is not that of the host's pages.
  return { host: protocol === "https:" ? withPort : hostname, path: name };
}

/** The copy of this project that the pipelines run. */
export interface ProjectCopy extends Place {
  readonly commit: string;
  /** What `git describe` calls the commit. */
  readonly version: string;
}

/** This checkout's commit at the URL, or else at its remote origin; undefined if it is no Git repository, or has no such remote. */
export async function projectCopy(root: string, url: string | undefined, run: Run): Promise<ProjectCopy | undefined> {
  if (!existsSync(join(root, ".git"))) return undefined;
  const ask = async (...args: string[]): Promise<string> => {
    const ended = await run("git", ["-C", root, ...args]);
    return ended?.code === 0 ? ended.stdout.trim() : "";
  };
  const place = placeOf(url ?? (await ask("config", "--get", "remote.origin.url")));
  const commit = await ask("rev-parse", "HEAD");
  if (place === undefined || commit === "") return undefined;
  return { ...place, commit, version: await ask("describe", "--tags", "--always") };
}

/**
 * GitHub takes actions from its own server only; GitLab clones the project from anywhere. Not an Enterprise Server: `gh` and
 * actions/upload-artifact are set up otherwise there (cli.github.com, "gh environment"; actions/upload-artifact, README).
 */
const isGitHub = ({ host }: Place): boolean => isGitHubCloud(host);
const isAtGitHub = (place: Place, project: Place): boolean => isGitHub(place) && place.host === project.host;
const isAtGitLab = (place: Place): boolean => !isGitHub(place);

/** Whether a repository at this URL gets a workflow or a pipeline. */
export function hasPipeline(url: string, project: ProjectCopy | undefined): boolean {
  const place = placeOf(url);
  return place !== undefined && project !== undefined && (isAtGitHub(place, project) || isAtGitLab(place));
}

type Asked = Pick<InitRequest, "systemUrl" | "workloadsUrl" | "sampleAppUrl" | "owners">;

const urlsOf = ({ systemUrl, workloadsUrl, sampleAppUrl }: Asked): Readonly<Record<Name, string | undefined>> => ({
  "gitops-system": systemUrl,
  "gitops-workloads": workloadsUrl,
  [sampleApp]: sampleAppUrl,
});

/** Who owns a repository: as asked, or the team of repos/ in the organization that the repository is in. */
function ownerOf(name: Name, asked: Asked, { path }: Place): string {
  const given = (asked.owners ?? []).find((each) => each.startsWith(`${name}=`));
  return given?.slice(name.length + 1) ?? `@${organizationOf(path)}/${teams[name]}`;
}

/** The fleet's repositories at a host, with the folder of each. */
const repositoriesAt = (host: string, asked: Asked) =>
  Object.entries(urlsOf(asked)).flatMap(([folder, url]) => {
    const place = url === undefined ? undefined : placeOf(url);
    return place?.host === host ? [{ folder, path: place.path }] : [];
  });

const organizationOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));

/** As a pipeline lists them. */
const listed = (host: string, asked: Asked): string =>
  repositoriesAt(host, asked)
    .map(({ folder, path }) => `${folder}=${path}`)
    .join(" ");

/** Those in the organization of a repository, by name: a token of a GitHub App is for one organization. */
const besides = ({ host, path: own }: Place, asked: Asked): string =>
  repositoriesAt(host, asked)
    .filter(({ path }) => organizationOf(path) === organizationOf(own))
    .map(({ path }) => path.slice(path.lastIndexOf("/") + 1))
    .join(",");

/** The content of a repository with what its host runs and reads, filled in; without what it can't. */
export function withPipelines(name: Name, files: Files, asked: Asked, project: ProjectCopy | undefined): Files {
  const place = placeOf(urlsOf(asked)[name] ?? "");
  const system = placeOf(asked.systemUrl);
  const kept: Readonly<Record<string, boolean>> = {
    [workflow]: place !== undefined && project !== undefined && isAtGitHub(place, project),
    [pipeline]: place !== undefined && project !== undefined && isAtGitLab(place),
    [codeOwners]: place !== undefined && system !== undefined,
  };
  const values = {
    ...(place === undefined
      ? {}
      : {
          owner: ownerOf(name, asked, place),
          repositories: listed(place.host, asked),
          appRepositories: besides(place, asked),
        }),
    ...(system === undefined ? {} : { platformOwner: ownerOf("gitops-system", asked, system) }),
    ...(project === undefined
      ? {}
      : {
          commit: project.commit,
          version: project.version,
          project: project.path,
          projectUrl: `https://${project.host}/${project.path}.git`,
        }),
  };
  const entries = Object.entries(files).filter(([path]) => kept[path] !== false);
  return Object.fromEntries(entries.map(([path, text]) => [path, path in kept ? fillTemplate(text, values) : text]));
}

/** A text without the commits that it pins, which a fleet raises by itself. */
export const withoutPins = (text: string): string => text.replaceAll(/\b[0-9a-f]{40} # \S+$/gm, "");

function ownerProblems(owners: readonly string[]): Problem[] {
  const known = owners.map((each) => each.split("=")[0]);
  return owners.flatMap((each, index) => {
    const [name = "", ...rest] = each.split("=");
    const isTeam = /^(@[\w.-]+(\/[\w.-]+)*|[^\s@]+@[\w.-]+)$/.test(rest.join("="));
    if ((names as string[]).includes(name) && isTeam && known.indexOf(name) === index) return [];
    const repeated = known.indexOf(name) !== index;
    return [
      {
        key: "--owner",
        what: repeated ? "names a repository again" : "has another form",
        got: shown(each),
        allowed: `REPOSITORY=@<organization>/<team>, once for each of ${names.join(", ")}`,
        remedy: "correct it; several owners of one repository are written into its CODEOWNERS by hand",
      },
    ];
  });
}

/** The problems of the flags about pipelines and owners. */
export function pipelineProblems(root: string, { projectUrl, owners = [], systemUrl }: InitRequest): Problem[] {
  if (projectUrl === undefined) return ownerProblems(owners);
  const told = (what: string, allowed: string, remedy: string): Problem[] => [
    { key: "--project-url", what, got: shown(projectUrl), allowed, remedy },
  ];
  const ofUrl = (): Problem[] => {
    const project = placeOf(projectUrl);
    const system = placeOf(systemUrl);
    if (project === undefined)
      return told("has another form", "ssh://git@<host>/<path>.git or https://<host>/<path>.git", "correct it");
    if (!existsSync(join(root, ".git")))
      return told(
        "is of no use here: this folder is no Git checkout, so its commit is not known",
        "a clone of the project",
        "clone the project and run fleet init there, or leave --project-url out: the repositories then get no workflows",
      );
    if (system?.host === "github.com" && project.host !== system.host)
      return told(
        "is at another host than the repositories: GitHub takes actions from its own server only",
        `a repository at ${system.host}`,
        "push this project there, or leave --project-url out: the repositories then get no workflows",
      );
    return [];
  };
  return [...ownerProblems(owners), ...ofUrl()];
}
