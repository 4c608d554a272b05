import { existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseDocument } from "yaml";
import { defaultVersion } from "../../functions/spoke/versions.ts";
import { hubFolder, spokeFolder, spokesFolder } from "../../lib/layout.ts";
import { imageAddon } from "../app/auto-update.ts";
import { foldersIn } from "../fleet/folders.ts";
import { region as anyRegion, repositoryUrl } from "./clusters.ts";
import { copyFiles, removeFiles } from "./copy.ts";
import { uncut } from "./cutter.ts";
import { contentsOf, filesBelow, isFolder, isManifest, isYaml, type Manifest } from "./files.ts";
import { componentsIn } from "./generate.ts";
import { isBelow } from "./inside.ts";
import {
  appAck,
  appAutoUpdate,
  appCommitStatus,
  appReceiver,
  instantiate,
  sealedSecret,
  spokeReceiver,
  WorkspaceError,
} from "./templates.ts";
import { kustomizationFile } from "./tree.ts";

/**
 * A copy of the repositories in which each environment has one more spoke, made from the templates, with every add-on and every
 * application: so the chain and the templates are compiled before there is a spoke at all.
 */
export interface Workspace {
  readonly folder: string;
  readonly system: string;
  readonly workloads: string;
  /** Names of the repositories. */
  readonly repositories: readonly string[];
  readonly environments: readonly string[];
  /** Fleets whose hubs are looked at. */
  readonly fleets: readonly string[];
  /** Add-ons that the hub can enable: components of `platform/policies`, which takes those that the bridge names. */
  readonly hubAddons: readonly string[];
  /** What the copy leaves out, and why. */
  readonly notes: readonly string[];
  /** The file that a file of the copy comes from. */
  original(file: string): string;
  /** Makes the spoke of an environment again, with another Kubernetes version than the newest that the files name. */
  remake(environment: string, kubernetesVersion: string): void;
  remove(): void;
}

const systemName = "gitops-system";
const workloadsName = "gitops-workloads";

/** Name of the spoke that stands for all of an environment. */
const specimenName = (environment: string): string => `check-${environment}`;

/** The environment of which a spoke only stands for the template; undefined for a real one. */
export const specimenOf = (name: string, { environments }: Pick<Workspace, "environments">): string | undefined =>
  environments.find((environment) => specimenName(environment) === name);

const isSpecimen = (name: string): boolean => name.startsWith("check-");

/** The Kubernetes version that Compositions give a new spoke. */
export const versionOfNewSpokes = (...compositions: readonly Manifest[]): string | undefined =>
  defaultVersion(Object.assign({}, ...compositions.map(({ spec }) => spec?.pipeline?.[0]?.input?.kubernetesVersions)));

/** The Kubernetes version that the files give a new spoke; any where none can be read, which the compiler says elsewhere. */
function versionIn(system: string): string {
  const objects = filesBelow(join(system, "platform")).filter(isYaml).flatMap(contentsOf).filter(isManifest);
  return versionOfNewSpokes(...objects.filter(({ kind }) => kind === "Composition")) ?? "1.36";
}

/** Name of the fleet where the files say none. */
export const madeUpFleet = "fleet";

/** Fleets that have a hub in a checkout of gitops-system; none where the project's own templates stand for them. */
export const fleetsIn = (system: string): string[] =>
  foldersIn(join(system, "clusters")).filter((name) => kustomizationFile(join(system, hubFolder(name))) !== undefined);

function addFleet(system: string, fleet: string): void {
  for (const [part, folder] of [
    ["clusters", hubFolder(fleet)],
    ["spokes", spokesFolder(fleet)],
  ] as const) {
    const template = join(system, "templates", "fleet", part);
    if (isFolder(template) && !isFolder(join(system, folder))) instantiate(template, join(system, folder), { fleet });
  }
}

interface Specimen {
  readonly fleet: string;
  readonly environment: string;
  readonly region: string;
  readonly kubernetesVersion: string;
}

function addSpoke(system: string, { environment, fleet, region, kubernetesVersion }: Specimen): void {
  const folder = join(system, spokeFolder(fleet, specimenName(environment)));
  instantiate(join(system, "templates", "spoke"), folder, {
    fleet,
    name: specimenName(environment),
    environment,
    region,
    kubernetesVersion,
    tenant: "platform",
  });
  const file = join(folder, "spoke.yaml");
  if (existsSync(file)) {
    const spoke = parseDocument(readFileSync(file, "utf8"));
    const more = { addons: componentsIn(join(system, "tools", environment)), ...spokeReceiver(system, folder) };
    if (spoke.hasIn(["spec"])) for (const [name, value] of Object.entries(more)) spoke.setIn(["spec", name], value);
    writeFileSync(file, spoke.toString({ lineWidth: 0 }));
  }
  if (!isFolder(join(folder, "secrets"))) return;
  for (const name of [systemName, workloadsName])
    sealedSecret(join(folder, "secrets", `${name}.yaml`), name, "flux-system");
}

/** Whether the application in a repository is for an environment: its overlays, if it has any, say for which. */
const isFor = (environment: string, repository: string): boolean =>
  !isFolder(join(repository, "overlays")) || isFolder(join(repository, "overlays", environment));

/** An application whose manifests are in the repository `name`. */
function addApplication(
  workspace: Pick<Workspace, "folder" | "system" | "workloads">,
  name: string,
  environment: string,
): void {
  const app = name.replace(/-manifests$/, "");
  const folder = join(workspace.workloads, "clusters", specimenName(environment), app);
  const overlay = join("overlays", environment);
  const source = {
    repositoryUrl: repositoryUrl(name),
    path: existsSync(join(workspace.folder, name, overlay)) ? `./${overlay}` : "./",
  };
  instantiate(join(workspace.workloads, "templates", "app"), folder, {
    ...{ app, tenant: "platform", provider: "generic", revision: "main" },
    ...source,
  });
  sealedSecret(join(folder, "credential.yaml"), `${app}-git`, app);
  appAck(workspace.workloads, folder, app);
  appReceiver(workspace.workloads, folder, app);
  appCommitStatus(workspace.workloads, folder, { app, cluster: specimenName(environment) });
  if (componentsIn(join(workspace.system, "tools", environment)).includes(imageAddon))
    appAutoUpdate(workspace.workloads, folder, { app, cluster: specimenName(environment), ...source });
}

/** The path in the repositories of the template that a made-up file comes from. */
function written(path: string): string {
  const [repository, ...parts] = path.split("/");
  const specimen = parts.findIndex(isSpecimen);
  if (specimen < 1) return path;
  const rest = parts.slice(specimen + 1);
  if (repository === systemName && parts[0] === "spokes") return join(systemName, "templates", "spoke", ...rest);
  if (repository === workloadsName && parts[0] === "clusters") {
    const [, part, ...inPart] = rest;
    if (part === "ack" || part === "receiver" || part === "commit-status" || part === "auto-update")
      return join(workloadsName, "templates", `app-${part}`, ...inPart);
    return join(workloadsName, "templates", "app", ...rest.slice(1));
  }
  return path;
}

/** The path in the repositories of a file of the copy. */
function source(repos: string, path: string): string {
  const [repository, part, , ...rest] = path.split("/");
  const isMadeUp = repository === systemName && part === "clusters" && !existsSync(join(repos, path));
  return isMadeUp ? join(systemName, "templates", "fleet", part, ...rest) : written(path);
}

export interface WorkspaceOptions {
  /** Region of a fleet's hub and of the added spokes. @param system the copy of gitops-system */
  readonly region?: ((fleet: string, system: string) => string | undefined) | undefined;
  /** The one fleet that is looked at; default: all that have a hub, or a sample where none has. */
  readonly fleet?: string | undefined;
}

/**
 * Copies the repositories that are folders of `repos`.
 * @throws WorkspaceError
 */
export function openWorkspace(repos: string, { region, fleet }: WorkspaceOptions = {}): Workspace {
  const repositories = foldersIn(repos);
  if (!repositories.includes(systemName))
    throw new WorkspaceError(
      `${repos} has no folder ${systemName}: --repos must name the folder in which the checkouts of ${systemName}, ${workloadsName} and of the applications lie side by side; got ${repositories.join(", ") || "no folder"}`,
    );
  const spokes = join(repos, systemName, "spokes");
  const taken = foldersIn(spokes)
    .flatMap((name) => [name, ...foldersIn(join(spokes, name))])
    .find(isSpecimen);
  if (taken)
    throw new WorkspaceError(`the spoke ${taken} has a name that the compiler needs: names must not begin with check-`);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fleet-check-")));
  // Flux fetches files and folders, not links (github.com/fluxcd/pkg/artifact, storage/archive.go): nothing in the copy leads out.
  const links: string[] = [];
  for (const name of repositories)
    copyFiles(join(repos, name), join(folder, name), new Set([".git"]), (link) => links.push(link));
  const system = join(folder, systemName);
  const workloads = join(folder, workloadsName);
  const tools = foldersIn(join(system, "tools"));
  const environments = tools.filter((name) => name !== "base" && kustomizationFile(join(system, "tools", name)));
  const hubAddons = componentsIn(join(system, "platform", "policies"));
  const notes = links.map(
    (link) => `${relative(repos, link)} is a symbolic link, which Flux does not fetch: it was not looked at`,
  );
  const known = fleetsIn(system);
  const fleets = fleet !== undefined ? [fleet] : known.length > 0 ? known : [madeUpFleet];
  if (known.length === 0) for (const name of fleets) addFleet(system, name);
  const workspace = { folder, system, workloads, repositories, environments, fleets, hubAddons, notes };
  const remake = (environment: string, kubernetesVersion: string): void => {
    for (const name of fleets)
      addSpoke(system, { fleet: name, environment, region: region?.(name, system) ?? anyRegion, kubernetesVersion });
  };
  if (isFolder(join(system, "templates", "spoke"))) {
    const version = versionIn(system);
    for (const environment of environments) remake(environment, version);
  }
  const applications = repositories.filter((name) => name !== systemName && name !== workloadsName);
  if (isFolder(join(workloads, "templates", "app")))
    for (const environment of environments)
      for (const name of applications)
        if (isFor(environment, join(folder, name))) addApplication(workspace, name, environment);
        else notes.push(`${name} has no overlays/${environment}: no sample spoke of ${environment} runs it`);
  return {
    ...workspace,
    original: (file) => (isBelow(folder, file) ? join(repos, source(repos, uncut(relative(folder, file)))) : file),
    remake,
    remove: () => removeFiles(folder),
  };
}
