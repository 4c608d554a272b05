import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "yaml";
import { unfitForHelm } from "../helm.ts";
import { isObject, type Manifest } from "../render/files.ts";
import { isHelmRelease } from "../render/fleet.ts";
import { documents } from "../render/render.ts";
import { type Item, itemId } from "./state.ts";

/** Renders what a HelmRelease installs, with the real `helm template`. */

export interface ChartOptions {
  /** The helm program; undefined if there is none, or none is to run. */
  readonly helm?: string;
  /** Why no helm runs. @default there is none on PATH */
  readonly withoutHelm?: string;
  /** Folder with charts as `<name>-<version>.tgz`, which replaces the chart repositories. */
  readonly charts?: string;
  /** Whether helm may fetch from repositories that the earlier state doesn't name. @default false */
  readonly newRepositories?: boolean;
  /** Kubernetes minor of a cluster, for charts that look at it. */
  readonly kubernetesVersion: (item: Item) => string | undefined;
}

/** The helm on PATH, if there is one. */
export function helmProgram(path = process.env["PATH"] ?? ""): Pick<ChartOptions, "helm"> {
  const candidates = path.split(delimiter).map((folder) => join(folder, "helm"));
  const helm = candidates.find((file) => existsSync(file));
  return helm === undefined ? {} : { helm };
}

/** How to reach the network; all other variables, in which credentials may be, stay here. */
const networkVariables = [
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
  ...["SSL_CERT_DIR", "SSL_CERT_FILE"],
];

/** Helm keeps its settings, plugins, repositories and registry credentials below HOME. */
const environment = (HOME: string): NodeJS.ProcessEnv => ({
  HOME,
  ...Object.fromEntries(
    networkVariables.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  ),
});

/** Everything that determines what a release installs. */
interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly chart: string;
  readonly version: string;
  readonly repository: string;
  readonly values: unknown;
  readonly kubernetesVersion?: string;
}

/** What a release would install can't be determined. */
class Unrendered extends Error {
  override name = "Unrendered";
}

/** @throws Unrendered */
function checked(release: Release): Release {
  const [unfit] = unfitForHelm(release);
  if (unfit === undefined) return release;
  const { member, value, form } = unfit;
  throw new Unrendered(`its ${member} is ${JSON.stringify(value)}, which is not passed to helm; it must match ${form}`);
}

/** Helm's values `above` over those `below`. */
export function merged(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above)) return above ?? below;
  const keys = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries([...keys].map((key) => [key, merged(below[key], above[key])]));
}

const repositoryOf = ({ manifest }: Item): string | undefined =>
  manifest.kind === "HelmRepository" ? manifest["spec"]?.url : undefined;

class Charts {
  readonly #items: readonly Item[];
  readonly #options: ChartOptions;
  /** Repositories from which helm may fetch. */
  readonly #allowed: ReadonlySet<string | undefined>;

  constructor(items: readonly Item[], allowed: readonly Item[], options: ChartOptions) {
    this.#items = items;
    this.#options = options;
    this.#allowed = new Set(allowed.map(repositoryOf));
  }

  #find(on: string, kind: string, namespace: string | undefined, name: string): Manifest | undefined {
    return this.#items.find(
      (item) =>
        item.on === on &&
        item.manifest.kind === kind &&
        item.manifest.metadata.name === name &&
        item.manifest.metadata.namespace === namespace,
    )?.manifest;
  }

  /** @throws Unrendered */
  release(item: Item): Release {
    const { metadata, spec } = item.manifest;
    const chart = spec?.chart?.spec;
    if (!chart) throw new Unrendered("it takes its chart by chartRef");
    if (chart.valuesFiles?.length) throw new Unrendered("it takes values from files of its chart");
    if (spec.postRenderers) throw new Unrendered("it has postRenderers");
    const { kind, name, namespace = metadata.namespace } = chart.sourceRef ?? {};
    const source = kind === "HelmRepository" ? this.#find(item.on, kind, namespace, name) : undefined;
    if (!source) throw new Unrendered(`its ${kind} ${namespace}/${name} is not among what is rendered`);
    const kubernetesVersion = this.#options.kubernetesVersion(item);
    return checked({
      name: spec.releaseName ?? [spec.targetNamespace, metadata.name].filter(Boolean).join("-"),
      namespace: spec.targetNamespace ?? metadata.namespace ?? "default",
      chart: chart.chart,
      version: String(chart.version),
      repository: source.spec.url,
      values: this.#values(item),
      ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
    });
  }

  #values({ manifest: { metadata, spec }, on }: Item): unknown {
    const sources = (spec.valuesFrom ?? []) as Record<string, string>[];
    return sources.reduceRight<unknown>((above, { kind = "", name = "", valuesKey = "values.yaml", targetPath }) => {
      const data = this.#find(on, kind, metadata.namespace, name)?.["data"] as Record<string, string> | undefined;
      if (kind !== "ConfigMap" || targetPath !== undefined || data?.[valuesKey] === undefined)
        throw new Unrendered(`its values come from ${kind} ${name}, which is not among what is rendered`);
      return merged(parse(data[valuesKey]), above);
    }, spec.values ?? {});
  }

  /** @throws Unrendered */
  template(release: Release): Manifest[] {
    const { helm, charts, withoutHelm = "there is no helm on PATH" } = this.#options;
    if (helm === undefined) throw new Unrendered(withoutHelm);
    const local = charts === undefined ? undefined : join(charts, `${release.chart}-${release.version}.tgz`);
    if (local !== undefined && !existsSync(local))
      throw new Unrendered(`${release.chart}-${release.version}.tgz is not in ${charts}`);
    const where = local === undefined ? this.#remote(release) : [local];
    const folder = mkdtempSync(join(tmpdir(), "fleet-chart-"));
    try {
      const values = join(folder, "values.yaml");
      writeFileSync(values, stringify(release.values));
      const version = release.kubernetesVersion === undefined ? [] : ["--kube-version", release.kubernetesVersion];
      const args = ["template", release.name, ...where, "--namespace", release.namespace, "--include-crds", ...version];
      const run = spawnSync(helm, [...args, "--values", values], {
        // An empty folder, so that helm can't take the name of a chart for a file in it.
        cwd: folder,
        env: environment(folder),
        encoding: "utf8",
        maxBuffer: 2 ** 28,
        timeout: 120_000,
      });
      if (run.status !== 0)
        throw new Unrendered(`helm says: ${run.error?.message ?? run.stderr.trim().split("\n").at(-1)}`);
      return documents(run.stdout).map(({ manifest }) => manifest);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  #remote({ repository, chart, version }: Release): string[] {
    if (!this.#options.newRepositories && !this.#allowed.has(repository))
      throw new Unrendered(
        `its repository ${repository} is not in the base; if you trust it, let helm fetch from it with --new-repositories`,
      );
    if (repository.startsWith("oci://")) return [`${repository.replace(/\/$/, "")}/${chart}`, "--version", version];
    return [chart, "--repo", repository, "--version", version];
  }

  /** What a release installs, as items of the cluster. */
  items(item: Item, release: Release): Item[] {
    const by = `HelmRelease ${item.manifest.metadata.namespace}/${item.manifest.metadata.name}`;
    return this.template(release).map((manifest) => ({
      id: itemId(item.on, manifest, by),
      manifest,
      on: item.on,
      by,
      steps: item.steps,
    }));
  }
}

export interface ChartItems {
  readonly before: readonly Item[];
  readonly after: readonly Item[];
  readonly notes: readonly string[];
}

/**
 * What the releases install whose chart or values differ between two states of a cluster; the others render the same. If a
 * chart can't be rendered, a note says so, and only the HelmRelease itself, with its values, is compared.
 * @param everything all objects of the two states: a release of a spoke takes its chart from a repository of the hub
 */
export function chartItems(
  before: readonly Item[],
  after: readonly Item[],
  options: ChartOptions,
  everything: readonly (readonly Item[])[] = [before, after],
): ChartItems {
  const sides = [before, after].map((items, index) => ({
    charts: new Charts(everything[index] ?? items, everything[0] ?? before, options),
    releases: new Map(items.filter(({ manifest }) => isHelmRelease(manifest)).map((item) => [item.id, item])),
  }));
  const [old, fresh] = sides as [(typeof sides)[0], (typeof sides)[0]];
  const found: { before: Item[]; after: Item[]; notes: string[] } = { before: [], after: [], notes: [] };
  for (const id of new Set([...old.releases.keys(), ...fresh.releases.keys()])) {
    const [was, is] = [old.releases.get(id), fresh.releases.get(id)];
    try {
      const [from, to] = [was && old.charts.release(was), is && fresh.charts.release(is)];
      if (isDeepStrictEqual(from, to)) continue;
      const [gone, come] = [was && from ? old.charts.items(was, from) : [], is && to ? fresh.charts.items(is, to) : []];
      found.before.push(...gone);
      found.after.push(...come);
    } catch (error) {
      if (!(error instanceof Unrendered)) throw error;
      if (isDeepStrictEqual(was?.manifest, is?.manifest)) continue;
      const { namespace, name } = (is ?? (was as Item)).manifest.metadata;
      found.notes.push(
        `HelmRelease ${namespace}/${name} is not rendered, only its own fields are compared: ${error.message}`,
      );
    }
  }
  return found;
}
