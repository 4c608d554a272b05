import { join } from "node:path";
import type { Spoke } from "../../functions/spoke/api.ts";
import { bootstrapKustomization, kubeConfigName } from "../../functions/spoke/parts/handover.ts";
import { readSettings, type Settings } from "../../functions/spoke/settings.ts";
import { bridgeData, type ClusterMetadata, clusterSecretName } from "../../lib/bridge.ts";
import { hubName, namespaces } from "../../lib/names.ts";
import { type Schema, withDefaults } from "../../lib/openapi.ts";
import { credentialVariables, noCredentials, registrySecrets } from "../../lib/registries.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { hubMetadata, spokeData } from "./clusters.ts";
import { type Files, isFolder, isObject, type Manifest, type Path } from "./files.ts";
import type { Findings, Place } from "./findings.ts";
import { Cluster, type Fleet, isFluxKustomization, nameOf, type Rendered, type Step, type Values } from "./fleet.ts";
import type { FluxBuild } from "./generate.ts";
import { inside } from "./inside.ts";
import { BuildError } from "./kustomize.ts";
import { missingPatches } from "./patches.ts";
import { buildProblem } from "./problems.ts";
import { rendered } from "./render.ts";
import { keptFolder, repositoryOf, sourceKey, sourceOf, tellUnresolved, valuesOf } from "./sources.ts";
import { stepTree } from "./step-tree.ts";
import { Trees } from "./tree.ts";
import { missingVariable } from "./variables.ts";
import type { Workspace } from "./workspace.ts";

export interface FollowOptions {
  readonly workspace: Workspace;
  readonly build: FluxBuild;
  readonly files: Files;
  readonly findings: Findings;
  /** The fleet whose hub is followed. */
  readonly fleet: string;
  /** The hub; by default one with facts as AWS would report them. */
  readonly hub?: ClusterMetadata;
  /** What emits the hub's bridge; by default the code that the compiler came with. */
  readonly bridge?: (metadata: ClusterMetadata) => Values;
  /** What the composition function hands over for a Spoke; undefined when it refuses it. By default what it would for any. */
  readonly handover?: (spoke: string) => Handover | undefined;
  /** Folder of other checkouts for a GitRepository's specification; undefined for those of the workspace. */
  readonly root?: (source: Manifest["spec"]) => string | undefined;
}

/** What of a spoke's composed resources Flux on the hub goes on with. */
export interface Handover {
  /** Data of the cluster secret. */
  readonly data: Values;
  /** The Kustomization over the chain. */
  readonly bootstrap: Manifest;
}

const isSpoke = ({ apiVersion, kind }: Manifest) => apiVersion === spokeApi.apiVersion && kind === spokeApi.kind;

/** Follows Flux from the hub's root Kustomization to the applications on every spoke. */
export function follow(options: FollowOptions): Fleet {
  return new Follower(options).follow();
}

class Follower {
  readonly #workspace: Workspace;
  readonly #fleet: string;
  readonly #build: FluxBuild;
  readonly #files: Files;
  readonly #findings: Findings;
  readonly #handover: FollowOptions["handover"];
  readonly #bridge: (metadata: ClusterMetadata) => Values;
  readonly #root: NonNullable<FollowOptions["root"]>;
  readonly #trees = new Map<string, Trees>();
  readonly #hub = new Cluster(hubName);
  readonly #clusters = new Map([[hubName, this.#hub]]);
  readonly #metadata: ClusterMetadata;
  /** Clusters by `namespace/name` of the object by which Flux on the hub reaches them. */
  readonly #kubeConfigs = new Map<string, Cluster>();
  readonly #notes = new Set<string>();
  #steps: Step[] = [];
  #waiting: Step[] = [];
  #spokes: Rendered[] = [];
  #broken = false;
  #settings: Settings | undefined;

  constructor({ workspace, build, files, findings, fleet, ...options }: FollowOptions) {
    this.#workspace = workspace;
    this.#fleet = fleet;
    this.#build = build;
    this.#files = files;
    this.#findings = findings;
    this.#metadata = options.hub ?? hubMetadata(fleet, workspace.environments[0] ?? "dev", workspace.hubAddons);
    this.#bridge = options.bridge ?? bridgeData;
    this.#handover = options.handover;
    this.#root = options.root ?? (() => undefined);
  }

  follow(): Fleet {
    this.#hub.emitted.set(`${namespaces.flux}/${clusterSecretName(hubName)}`, this.#bridge(this.#metadata));
    this.#hub.emitted.set(`${namespaces.flux}/${registrySecrets.variables}`, credentialVariables(noCredentials));
    const { url, revision } = this.#metadata.repositories.gitopsSystem;
    this.#hub.sources.set(sourceKey("GitRepository", namespaces.flux, "gitops-system"), {
      url,
      ref: { branch: revision },
    });
    this.#addRoot();
    for (const isLast of [false, true])
      while (this.#waiting.some((step) => this.#take(step, isLast)) || this.#addSpokes());
    this.#leftOver();
    const settings = this.#settings;
    return {
      name: this.#fleet,
      hub: this.#hub,
      clusters: this.#clusters,
      steps: this.#steps,
      ...(settings ? { settings } : {}),
      notes: [...this.#notes].sort(),
    };
  }

  /** The GitRepository and the Kustomization that the Pulumi program makes. */
  #addRoot(): void {
    const folder = this.#workspace.hubFolder(this.#fleet);
    const file = join(this.#workspace.system, folder, "kustomization.yaml");
    const place = (): Place => ({ file, line: 1 });
    const metadata = { name: "flux-system", namespace: namespaces.flux };
    const spec = {
      path: `./${folder}`,
      sourceRef: { kind: "GitRepository", name: "gitops-system" },
      wait: true,
      postBuild: { substituteFrom: [{ kind: "Secret", name: clusterSecretName(hubName) }] },
    };
    const manifest = { apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization", metadata, spec };
    this.#addStep({ manifest, raw: manifest, place }, this.#hub);
  }

  #addStep({ manifest, raw, place }: Omit<Rendered, "by">, home: Cluster, parent?: Step): void {
    const { name, namespace = "default" } = manifest.metadata;
    const on = this.#target(manifest, namespace, home, place);
    if (!on) return;
    const step: Step = {
      ...{ name, namespace, home, on, manifest, raw, place },
      ...(parent ? { parent } : {}),
      ...{ children: [], objects: [], complete: false },
    };
    parent?.children.push(step);
    home.steps.push(step);
    this.#steps.push(step);
    this.#waiting.push(step);
  }

  #target({ spec }: Manifest, namespace: string, home: Cluster, place: (path: Path) => Place): Cluster | undefined {
    if (!isObject(spec?.kubeConfig)) return home;
    const { configMapRef, secretRef } = spec.kubeConfig as Record<string, { name?: string } | undefined>;
    const name = configMapRef?.name ?? secretRef?.name ?? "";
    const found = this.#kubeConfigs.get(`${namespace}/${name}`);
    if (!found && !this.#broken)
      this.#findings.add(
        "source",
        place(["spec", "kubeConfig", configMapRef ? "configMapRef" : "secretRef", "name"]),
        `no Spoke makes ${namespace}/${name}, by which this is to reach a cluster`,
        "a Spoke makes <name>-kubeconfig in its own namespace",
        home.name,
      );
    return found;
  }

  /** Whether the step could be taken. On the last round optional sources are no longer waited for. */
  #take(step: Step, isLast: boolean): boolean {
    const repository = repositoryOf(step);
    if (repository === undefined) return false;
    const values = valuesOf(step, isLast);
    if (values === "unknown") return false;
    this.#waiting = this.#waiting.filter((other) => other !== step);
    if (values) step.values = values;
    if (!this.#workspace.repositories.includes(repository)) {
      this.#notes.add(`${repository} is not among the repositories: what comes from it was not looked at`);
      return true;
    }
    const source = sourceOf(step);
    const root = this.#root(source) ?? this.#workspace.folder;
    const checkout = join(root, repository);
    const path = join(".", keptFolder(source), String(step.manifest.spec.path ?? "."));
    const folder = inside(checkout, checkout, path);
    if (folder === undefined) this.#wrongPath(step, `is outside ${repository}`);
    else if (isFolder(folder)) this.#apply(step, folder, { root, checkout });
    else this.#missingPath(step, repository, path);
    return true;
  }

  #missingPath(step: Step, repository: string, path: string): void {
    const { wait } = step.manifest.spec;
    // A spoke without applications has no folder in gitops-workloads; nothing waits for one.
    if (wait !== true && path.split("/").includes(step.on.name)) {
      this.#notes.add(`${repository} has no ${path}: ${step.on.name} gets nothing from there`);
      step.complete = true;
      return;
    }
    this.#wrongPath(step, `${repository} does not have`);
  }

  #wrongPath(step: Step, problem: string): void {
    this.#broken = true;
    this.#findings.add(
      "path",
      step.place(["spec", "path"]),
      `Kustomization ${nameOf(step)} applies ${step.raw.spec.path}, which ${problem}`,
      "name a folder of the repository, from its root",
      step.on.name,
      "path",
    );
  }

  #treesOf(root: string): Trees {
    const trees = this.#trees.get(root) ?? new Trees(root, this.#files, this.#findings);
    this.#trees.set(root, trees);
    return trees;
  }

  #apply(step: Step, folder: string, { root, checkout }: { readonly root: string; readonly checkout: string }): void {
    const tree = stepTree(step, folder, checkout, this.#treesOf(root), this.#findings);
    step.tree = tree;
    if (tree.broken) {
      this.#broken = true;
      return;
    }
    try {
      const reading = { tree, checkout };
      if (missingPatches(reading, this.#build, this.#files, this.#findings)) {
        this.#broken = true;
        return;
      }
      const built = this.#build.build(folder, step.manifest.spec, reading);
      const variables = step.values && {
        values: step.values,
        findings: this.#findings,
        missing: (name: string) => missingVariable(name, step),
      };
      step.objects.push(...rendered(built, step, tree, folder, variables));
      step.complete = true;
    } catch (error) {
      if (!(error instanceof BuildError)) throw error;
      this.#broken = true;
      buildProblem(error, { step, tree, folder, workspace: this.#workspace, findings: this.#findings });
    }
    step.on.objects.push(...step.objects);
    for (const object of step.objects) {
      if (isFluxKustomization(object.manifest)) this.#addStep(object, step.on, step);
      if (isSpoke(object.manifest) && step.on.isHub) this.#spokes.push(object);
    }
  }

  /** What the composition function makes of the Spokes, once the API and its Composition are known. Whether there were any. */
  #addSpokes(): boolean {
    const composition = this.#hub.objects.find(
      ({ manifest: { kind, spec } }) => kind === "Composition" && spec?.compositeTypeRef?.kind === spokeApi.kind,
    );
    const definition = this.#hub.objects.find(
      ({ manifest: { kind, spec } }) => kind === "CompositeResourceDefinition" && spec?.names?.kind === spokeApi.kind,
    );
    if (!composition || !definition || this.#spokes.length === 0) return false;
    if (!this.#handover) this.#settings ??= this.#readSettings(composition);
    const schema = definition.manifest.spec.versions?.[0]?.schema?.openAPIV3Schema as Schema;
    const spokes = this.#spokes.splice(0);
    for (const spoke of spokes) this.#addSpoke(spoke, schema);
    return true;
  }

  #readSettings({ manifest, place }: Rendered): Settings | undefined {
    const path = ["spec", "pipeline", 0, "input"];
    try {
      return readSettings(manifest.spec.pipeline?.[0]?.input);
    } catch (error) {
      this.#broken = true;
      this.#findings.add(
        "schema",
        place(path),
        (error as Error).message,
        "functions/spoke/settings.ts describes it",
        hubName,
      );
      return undefined;
    }
  }

  #handedOver(spoke: Spoke): Handover | undefined {
    if (this.#handover) return this.#handover(spoke.metadata.name);
    const settings = this.#settings;
    return (
      settings && {
        data: spokeData(spoke, this.#metadata, settings),
        bootstrap: bootstrapKustomization(spoke, settings, this.#metadata.fleet) as Manifest,
      }
    );
  }

  #addSpoke({ manifest, place }: Rendered, schema: Schema): void {
    const spoke = withDefaults(schema, manifest) as unknown as Spoke;
    const { name, namespace } = spoke.metadata;
    // Without these the definition's schema has more to say.
    if (![spoke.spec?.region, spoke.spec?.environment, spoke.spec?.kubernetesVersion].every(Boolean)) return;
    const handover = this.#handedOver(spoke);
    const cluster = new Cluster(name);
    this.#clusters.set(name, cluster);
    if (!handover) return;
    this.#kubeConfigs.set(`${namespace}/${kubeConfigName(spoke)}`, cluster);
    this.#hub.emitted.set(`${namespace}/${clusterSecretName(name)}`, handover.data);
    const { bootstrap } = handover;
    const made = { ...bootstrap, metadata: { ...bootstrap.metadata, namespace } };
    this.#addStep({ manifest: made, raw: made, place }, this.#hub);
  }

  /** What nobody can apply: its source or its variables come from nowhere. */
  #leftOver(): void {
    if (this.#broken) {
      if (this.#waiting.length > 0)
        this.#notes.add(
          `${this.#waiting.length} Kustomizations were not looked at: what they need is among what is broken`,
        );
      return;
    }
    for (const step of this.#waiting) tellUnresolved(step, this.#findings);
    for (const { place, manifest } of this.#spokes)
      this.#findings.add(
        "source",
        place([]),
        `Spoke ${manifest.metadata.name}: the hub applies no Composition or no CompositeResourceDefinition for Spokes`,
        "name platform/api in a Kustomization of platform/hub",
        hubName,
        "composition",
      );
  }
}
