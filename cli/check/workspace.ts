import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseAllDocuments, parseDocument, stringify } from "yaml";
import { compareVersions } from "../../functions/spoke/versions.ts";
import { fillTemplate } from "../../lib/template.ts";
import { region as anyRegion, repositoryUrl } from "./clusters.ts";
import { copyFiles } from "./copy.ts";
import { filesBelow, isFolder, isYaml, type Manifest } from "./files.ts";
import { componentsIn } from "./generate.ts";
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
  /** Add-ons that the hub can enable: components of its platform's folders. */
  readonly hubAddons: readonly string[];
  /** What the copy leaves out, and why. */
  readonly notes: readonly string[];
  /** The file that a file of the copy comes from. */
  original(file: string): string;
  /** Makes the spoke of an environment anew, with another Kubernetes version than the newest that the files name. */
  remake(environment: string, kubernetesVersion: string): void;
  remove(): void;
}

/** The repositories are not as the compiler needs them. */
export class WorkspaceError extends Error {
  override name = "WorkspaceError";
}

const systemName = "gitops-system";
const workloadsName = "gitops-workloads";

/** Name of the spoke that stands for all of an environment. */
export const specimenName = (environment: string): string => `check-${environment}`;

/** The environment of which a spoke only stands for the template; undefined for a real one. */
export const specimenOf = (name: string, { environments }: Pick<Workspace, "environments">): string | undefined =>
  environments.find((environment) => specimenName(environment) === name);

const isSpecimen = (name: string): boolean => name.startsWith("check-");

/** SealedSecrets are made when a spoke or an application is; what they hold is none of the compiler's business. */
function sealedSecret(file: string, name: string, namespace: string): void {
  if (existsSync(file)) return;
  const metadata = { name, namespace };
  const spec = { encryptedData: { identity: "AgA=" }, template: { metadata } };
  writeFileSync(file, stringify({ apiVersion: "bitnami.com/v1alpha1", kind: "SealedSecret", metadata, spec }));
}

function instantiate(template: string, to: string, values: Readonly<Record<string, string>>): void {
  mkdirSync(to, { recursive: true });
  cpSync(template, to, { recursive: true });
  for (const file of filesBelow(to).filter(isYaml)) {
    try {
      writeFileSync(file, fillTemplate(readFileSync(file, "utf8"), values));
    } catch (error) {
      throw new WorkspaceError(`${join(template, relative(to, file))}: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** The newest Kubernetes version that Compositions support. */
export const newestVersion = (...compositions: readonly Manifest[]): string | undefined =>
  compositions
    .flatMap(({ spec }) => Object.keys(spec?.pipeline?.[0]?.input?.kubernetesVersions ?? {}))
    .sort(compareVersions)
    .at(-1);

/** The newest Kubernetes version that the files name; any where none can be read, which the compiler says elsewhere. */
function versionIn(system: string): string {
  const objects = filesBelow(join(system, "platform"))
    .filter(isYaml)
    .flatMap((file) => parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS()));
  return newestVersion(...objects.filter((object) => object?.kind === "Composition")) ?? "1.34";
}

function addSpoke(system: string, environment: string, region: string, kubernetesVersion: string): void {
  const folder = join(system, "spokes", specimenName(environment));
  instantiate(join(system, "templates", "spoke"), folder, {
    name: specimenName(environment),
    environment,
    region,
    kubernetesVersion,
    tenant: "platform",
  });
  const file = join(folder, "spoke.yaml");
  if (existsSync(file)) {
    const spoke = parseDocument(readFileSync(file, "utf8"));
    if (spoke.hasIn(["spec"])) spoke.setIn(["spec", "addons"], componentsIn(join(system, "tools", environment)));
    writeFileSync(file, spoke.toString({ lineWidth: 0 }));
  }
  if (!isFolder(join(folder, "secrets"))) return;
  for (const name of [systemName, workloadsName])
    sealedSecret(join(folder, "secrets", `${name}.yaml`), name, "flux-system");
}

/** An application whose manifests are in the repository `name`. */
function addApplication(
  workspace: Omit<Workspace, "original" | "remake" | "remove">,
  name: string,
  environment: string,
): void {
  const app = name.replace(/-manifests$/, "");
  const folder = join(workspace.workloads, "clusters", specimenName(environment), app);
  const overlay = join("overlays", environment);
  instantiate(join(workspace.workloads, "templates", "app"), folder, {
    app,
    tenant: "platform",
    repositoryUrl: repositoryUrl(name),
    revision: "main",
    path: existsSync(join(workspace.folder, name, overlay)) ? `./${overlay}` : "./",
  });
  sealedSecret(join(folder, "credential.yaml"), `${app}-git`, app);
}

const folders = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
        .map(({ name }) => name)
        .sort()
    : [];

/** The path in the repositories of the template that a specimen's file comes from. */
function written(path: string): string {
  const [repository, parent, cluster, ...rest] = path.split("/");
  if (cluster === undefined || !isSpecimen(cluster)) return path;
  if (repository === systemName && parent === "spokes") return join(systemName, "templates", "spoke", ...rest);
  if (repository === workloadsName && parent === "clusters")
    return join(workloadsName, "templates", "app", ...rest.slice(1));
  return path;
}

/**
 * Copies the repositories that are folders of `repos`.
 * @param region of the hub and of the added spokes
 * @throws WorkspaceError
 */
export function openWorkspace(repos: string, region: string = anyRegion): Workspace {
  const repositories = folders(repos);
  if (!repositories.includes(systemName))
    throw new WorkspaceError(
      `${repos} has no folder ${systemName}: --repos must name the folder in which the checkouts of ${systemName}, ${workloadsName} and of the applications lie side by side; got ${repositories.join(", ") || "no folder"}`,
    );
  const taken = folders(join(repos, systemName, "spokes")).find(isSpecimen);
  if (taken)
    throw new WorkspaceError(`the spoke ${taken} has a name that the compiler needs: names must not begin with check-`);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fleet-check-")));
  // Flux fetches files and folders, not links (github.com/fluxcd/pkg/artifact, storage/archive.go): nothing in the copy leads out.
  const links: string[] = [];
  for (const name of repositories)
    copyFiles(join(repos, name), join(folder, name), new Set([".git"]), (link) => links.push(link));
  const system = join(folder, systemName);
  const workloads = join(folder, workloadsName);
  const tools = folders(join(system, "tools"));
  const environments = tools.filter((name) => name !== "base" && kustomizationFile(join(system, "tools", name)));
  const platform = join(system, "platform");
  const hubAddons = folders(platform).flatMap((name) => componentsIn(join(platform, name)));
  const notes = links.map(
    (link) => `${relative(repos, link)} is a symbolic link, which Flux does not fetch: it was not looked at`,
  );
  const workspace = { folder, system, workloads, repositories, environments, hubAddons, notes };
  if (isFolder(join(system, "templates", "spoke"))) {
    const version = versionIn(system);
    for (const environment of environments) addSpoke(system, environment, region, version);
  }
  const applications = repositories.filter((name) => name !== systemName && name !== workloadsName);
  if (isFolder(join(workloads, "templates", "app")))
    for (const environment of environments)
      for (const name of applications) addApplication(workspace, name, environment);
  return {
    ...workspace,
    original: (file) => (relative(folder, file).startsWith("..") ? file : join(repos, written(relative(folder, file)))),
    remake: (environment, kubernetesVersion) => addSpoke(system, environment, region, kubernetesVersion),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
