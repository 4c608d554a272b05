import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { argocdClusterFolder, argocdElsewhereFolder, bridgeFile, platformHub, ringsPolicy } from "../../lib/layout.ts";
import { Files, isFolder, manifestsBelow } from "../render/files.ts";
import { type Finding, Findings, type Warning } from "../render/findings.ts";
import { allObjects, type RenderedFleet } from "../render/fleet.ts";
import { follow } from "../render/follow.ts";
import { FluxBuild } from "../render/generate.ts";
import { inCheckouts, type RecordedFacts, recordedFacts, withEverything } from "../render/hub-facts.ts";
import { isBelow } from "../render/inside.ts";
import type { Build } from "../render/kustomize.ts";
import { unsubstituted, unusedKeys } from "../render/variables.ts";
import { openWorkspace, type Workspace } from "../render/workspace.ts";
import { isAlternative } from "./alternatives.ts";
import { Definitions } from "./definitions.ts";
import { factsWarnings } from "./facts.ts";
import { checkApplications } from "./rules/applications.ts";
import { checkArgocd } from "./rules/argocd.ts";
import { checkFleets } from "./rules/fleets.ts";
import { checkKinds } from "./rules/kinds.ts";
import { checkManifests, unknownKinds } from "./rules/manifests.ts";
import { checkNetworks } from "./rules/networks.ts";
import { checkOrder } from "./rules/order.ts";
import { checkPinned } from "./rules/pinned.ts";
import { checkRings } from "./rules/rings.ts";
import { checkSealing, sealingWarnings } from "./rules/sealing.ts";
import { checkSecrets } from "./rules/secrets.ts";
import { checkSpokes } from "./rules/spokes.ts";
import { checkTeams } from "./rules/teams.ts";
import { checkValidations } from "./rules/validations.ts";
import { supportWarnings } from "./support.ts";

export interface CompileOptions {
  /** Folder with the repositories side by side. */
  readonly repos: string;
  /** Folders and files with CustomResourceDefinitions and OpenAPI documents. */
  readonly definitions?: readonly string[];
  readonly build: Build;
}

export interface CheckOptions extends CompileOptions {
  /** The day for which ends of support are reported. */
  readonly today?: Date;
  /** Whether every kind without a definition is named. */
  readonly listsUnchecked?: boolean;
}

export interface Report {
  readonly findings: readonly Finding[];
  readonly warnings: readonly Warning[];
  /** What was not checked, and why. */
  readonly notes: readonly string[];
  readonly clusters: readonly string[];
  /** Number of objects that Flux applies to the clusters. */
  readonly objects: number;
}

/** What the rules read of one fleet, and where they report. */
interface Compiled {
  readonly root: string;
  readonly files: Files;
  readonly fleet: RenderedFleet;
  readonly definitions: Definitions;
  readonly findings: Findings;
  /** What the rules could not check. */
  readonly notes: Set<string>;
  /** The real facts about the hub; undefined where samples stand for them. */
  readonly recorded: RecordedFacts | undefined;
}

/** What the rules read of all fleets in the repositories, and what was found so far. */
interface Compilation extends Omit<Compiled, "fleet" | "recorded"> {
  readonly workspace: Workspace;
  readonly compiled: readonly Compiled[];
}

const isWhole = ({ steps }: RenderedFleet): boolean => steps.every(({ complete }) => complete);

/** Runs the rules on the repositories and on what Flux renders from them; rendering itself adds findings too. */
export const rules = {
  secrets: ({ root, files, findings }: Compiled) => checkSecrets(root, files, findings),
  order: ({ fleet, findings }: Compiled) => checkOrder(fleet, findings),
  kinds: ({ fleet, definitions, findings }: Compiled) => checkKinds(fleet, definitions, findings),
  pinned: ({ fleet, findings }: Compiled) => checkPinned(fleet, findings),
  networks: ({ fleet, findings }: Compiled) => checkNetworks(fleet, findings),
  unsubstituted: ({ fleet, findings }: Compiled) => unsubstituted(fleet, findings),
  // A key may be used in a part that could not be built.
  unusedKeys: ({ fleet, findings }: Compiled) => isWhole(fleet) && unusedKeys(fleet, findings),
  manifests: ({ fleet, definitions, findings }: Compiled) => checkManifests(fleet, definitions, findings),
  validations: ({ fleet, definitions, findings, notes }: Compiled) =>
    checkValidations(fleet, definitions, findings, notes),
  fleets: ({ root, fleet, findings }: Compiled) => checkFleets(join(root, "gitops-system"), fleet, findings),
  spokes: ({ fleet, findings }: Compiled) => checkSpokes(fleet, findings),
  rings: ({ root, files, fleet, findings }: Compiled) =>
    checkRings(join(root, "gitops-system"), files, fleet, findings),
  sealing: ({ fleet, findings }: Compiled) => checkSealing(fleet, findings),
  teams: ({ fleet, findings }: Compiled) => checkTeams(fleet, findings),
  applications: ({ root, fleet, findings }: Compiled) => checkApplications(root, fleet, findings),
  argocd: ({ fleet, recorded, findings }: Compiled) => checkArgocd(fleet, recorded, findings),
} as const;

/**
 * Manifests of the platform and governance teams that are applied to no cluster, whatever the stack's configuration; an application's
 * repository may contain other YAML too.
 */
function unapplied(root: string, fleets: readonly RenderedFleet[], files: Files, { original }: Workspace): string[] {
  const steps = fleets.flatMap((fleet) => fleet.steps);
  const sources = steps.flatMap(({ tree }) =>
    tree ? [...tree.kustomizations, ...tree.resources, ...tree.patches] : [],
  );
  const applied = new Set(sources.map(({ file }) => original(file)));
  const system = join(root, "gitops-system");
  const data = fleets.flatMap(({ name }) => [ringsPolicy(name), bridgeFile(name)].map((file) => join(system, file)));
  // What rings are made of, and what people copy.
  const copied = [
    ...["ring", "argocd-elsewhere", "cluster-api"].map((name) => join(system, "templates", name)),
    join(root, "gitops-workloads", "templates", "argocd"),
    // The composition function adds it for spokes with EKS Auto Mode.
    ...["access", "base"].map((step) => join(system, "spoke-bootstrap", step, "auto-mode")),
  ];
  const isData = (file: string) => data.includes(file) || copied.some((folder) => isBelow(folder, file));
  const isOfSomeHubs = (file: string) => {
    const [folder = ""] = relative(join(system, platformHub), file).split("/");
    const isChosen = existsSync(join(system, platformHub, folder, "kustomization.yaml"));
    const ofArgocd = [argocdClusterFolder, argocdElsewhereFolder].map((each) => join(system, each));
    return isChosen || ofArgocd.some((each) => isBelow(each, file));
  };
  return ["gitops-system", "gitops-workloads"]
    .map((name) => join(root, name))
    .filter(isFolder)
    .flatMap((repository) => {
      const yaml = manifestsBelow(repository);
      const left = yaml.filter((file) => !applied.has(file) && !isData(file) && !isOfSomeHubs(file));
      const chosen = left.length === 0 ? () => false : isAlternative(repository, yaml, files);
      return left.filter((file) => !chosen(file));
    })
    .map((file) => relative(root, file));
}

/** The note that fields were not checked, and how to have them checked. */
function unchecked(kinds: readonly string[], given: boolean): string {
  const how = given
    ? "give their definitions with another --crds"
    : "npm run crds -- crds, then fleet check --crds crds; or on a hub kubectl get crds -o yaml > crds.yaml";
  return `the fields of ${kinds.length} kinds were not checked, for lack of definitions: ${how}; --list-unchecked names them`;
}

/**
 * Compiles the repositories: what `use` makes of everything that Flux would apply to the hub and every spoke, before the rules run.
 * @throws WorkspaceError when the repositories are missing; KustomizeMissing
 */
export function compile<T>(
  { repos, definitions: paths = [], build }: CompileOptions,
  use: (compilation: Compilation) => T,
): T {
  const root = resolve(repos);
  // Of the copy, in which there are no links.
  const region = (fleet: string, system: string) => recordedFacts(system, fleet)?.hub?.aws.region;
  const workspace = openWorkspace(root, { region });
  const factsOf = (fleet: string) => recordedFacts(workspace.system, fleet);
  try {
    const findings = new Findings(workspace.original);
    const files = new Files();
    const of = (fleet: string) => (workspace.fleets.length > 1 ? findings.of(fleet) : findings);
    const common = { workspace, build: new FluxBuild(build), files };
    const fleets = workspace.fleets.map((fleet) => {
      const real = factsOf(fleet)?.hub;
      const hub = real && withEverything(inCheckouts(real), workspace.hubAddons);
      return follow({ ...common, findings: of(fleet), fleet, ...(hub ? { hub } : {}) });
    });
    const definitions = new Definitions(paths);
    for (const { manifest } of fleets.flatMap(allObjects)) definitions.add(manifest);
    const notes = new Set<string>(fleets.flatMap((fleet) => fleet.notes));
    const shared = { root, files, definitions, notes };
    const compiled = fleets.map((fleet) => {
      const recorded = factsOf(fleet.name);
      if (recorded?.hub)
        notes.add(`the facts about the hub of ${fleet.name} are those of gitops-system/${recorded.file}`);
      return { ...shared, fleet, recorded, findings: of(fleet.name) };
    });
    return use({ ...shared, findings, workspace, compiled });
  } finally {
    workspace.remove();
  }
}

/**
 * Runs the rules on what is compiled of the repositories.
 * @throws WorkspaceError when the repositories are missing; KustomizeMissing
 */
export function check({ today = new Date(), listsUnchecked = false, ...options }: CheckOptions): Report {
  return compile(options, ({ root, files, definitions, notes, findings, workspace, compiled }) => {
    for (const each of compiled) for (const rule of Object.values(rules)) rule(each);
    const fleets = compiled.map(({ fleet }) => fleet);
    const found = findings.sorted();
    if (!fleets.every(isWhole) && found.length === 0 && fleets.every((fleet) => fleet.notes.length === 0))
      throw new Error("a Kustomization was not checked, and no finding says why: this is a bug in fleet check");
    const unknown = [...new Set(fleets.flatMap((fleet) => unknownKinds(fleet, definitions)))];
    return {
      findings: found,
      warnings: compiled.flatMap((each) => [
        ...factsWarnings(each),
        ...sealingWarnings(each.fleet, workspace),
        ...supportWarnings(each.fleet, workspace, today),
      ]),
      notes: [
        ...(options.build.notes ?? []),
        ...workspace.notes,
        ...notes,
        ...(fleets.every(isWhole)
          ? unapplied(root, fleets, files, workspace).map((file) => `nothing applies ${file}`)
          : []),
        ...(unknown.length > 0 ? [unchecked(unknown, (options.definitions ?? []).length > 0)] : []),
        ...(listsUnchecked ? unknown.map((kind) => `not checked: the fields of ${kind}`) : []),
      ],
      clusters: fleets.flatMap(({ name, clusters }) =>
        [...clusters.keys()].map((cluster) => (fleets.length > 1 ? `${name}/${cluster}` : cluster)),
      ),
      objects: fleets.flatMap(allObjects).length,
    };
  });
}
