import { join, relative } from "node:path";
import { parse, stringify } from "yaml";
import { charts } from "../../components/versions.ts";
import { bridgeData, exampleMetadata } from "../../lib/bridge.ts";
import { contractOf } from "../../lib/bridge-keys.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { merged } from "../diff/charts.ts";
import { unfitForHelm } from "../helm.ts";
import { substitute } from "../render/envsubst.ts";
import { contentsOf, isManifest, isObject, list, type Manifest, manifestsBelow } from "../render/files.ts";
import { isHelmRelease } from "../render/fleet.ts";
import { texts, type Values, variables } from "../upstream/repositories.ts";

/** A chart that clusters install, with the values of a release. */
export interface ChartRelease {
  readonly name: string;
  readonly version: string;
  readonly repository: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A manifest with the file that contains it. */
interface Written {
  readonly file: string;
  readonly manifest: Manifest;
}

/** In the place of a mirror: an image that charts render with it is one that clusters take from their mirror. */
export const mark = "mirror.invalid";

/** The bridge of a cluster whose images come from {@link mark}, and its charts from upstream. */
const bridge: Values = new Map(
  Object.entries(bridgeData({ ...exampleMetadata, imagesRegistry: mark, chartsRegistry: "", pullSecrets: [] })).map(
    ([key, value]) => [key, new Set([value])],
  ),
);

/**
 * Returns the values of a release with each variable's first value; a variable that only a cluster sets has the example of the contract.
 * Flux and helm accept maps only.
 */
function valuesOf(
  { spec }: Manifest,
  manifests: readonly Manifest[],
  known: Values,
): { readonly values: ChartRelease["values"]; readonly problems: readonly Omit<Problem, "key">[] } {
  const filled = (text: string): unknown =>
    parse(substitute(text, (name) => [...(known.get(name) ?? [])][0] ?? contractOf(name)?.form.example ?? ""));
  const below = list(spec.valuesFrom).flatMap((source) => {
    const { name } = source as { readonly name: string };
    const text = manifests.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name)?.["data"];
    const values = (text as Readonly<Record<string, string>> | undefined)?.["values.yaml"];
    return values === undefined ? [] : [{ of: `values.yaml of ConfigMap ${name}`, values: filled(values) }];
  });
  const own = spec.values === undefined ? {} : filled(stringify(spec.values, { lineWidth: 0 }));
  const all = [...below, { of: "spec.values", values: own }];
  return {
    values: all.map(({ values }) => values).reduce(merged, {}) as ChartRelease["values"],
    problems: all
      .filter(({ values }) => !isObject(values))
      .map(({ of, values }) => ({
        what: `${of} is not a map`,
        got: shown(values),
        allowed: "a map with the values of the chart",
        remedy: "correct the manifest",
      })),
  };
}

/**
 * What the hub has besides, for `pulumi up`: its Flux cuts artifacts (components/flux.ts). Its other charts and images are those of spokes too.
 */
const ofHub: readonly ChartRelease[] = [
  {
    ...charts.flux,
    values: { sourceWatcher: { create: true, image: `${mark}/ghcr.io/fluxcd/source-watcher` } },
  },
];

/**
 * Returns every chart that a hub or a spoke installs, in each version that an environment has. Repositories of applications are not read:
 * clusters don't take their charts from the mirror.
 * @param folder directory that contains gitops-system
 */
export function chartReleases(folder: string): { readonly charts: ChartRelease[]; readonly problems: Problem[] } {
  const written = manifestsBelow(join(folder, "gitops-system")).flatMap((file): Written[] =>
    contentsOf(file)
      .filter(isManifest)
      .map((manifest) => ({ file, manifest })),
  );
  const manifests = written.map(({ manifest }) => manifest);
  const known = variables(written, bridge);
  const urls = new Map(
    manifests
      .filter(({ kind }) => kind === "HelmRepository")
      .map(({ metadata, spec }) => [metadata.name, String(spec.url)] as const),
  );
  const problems: Problem[] = [];
  const releases = written
    .filter(({ manifest }) => isHelmRelease(manifest))
    .flatMap(({ file, manifest }): ChartRelease[] => {
      const key = `${relative(folder, file)}: HelmRelease ${manifest.metadata.name}`;
      const { chart, version, sourceRef } = manifest.spec?.chart?.spec ?? {};
      const { values, problems: ofValues } = valuesOf(manifest, manifests, known);
      const repositories = texts(urls.get(sourceRef?.name) ?? "", known) ?? [];
      const found = (texts(String(version ?? ""), known) ?? []).flatMap((each) =>
        repositories.map((repository) => ({ chart, version: each, repository })),
      );
      problems.push(
        ...[
          ...ofValues,
          ...found.flatMap(unfitForHelm).map(({ member, value, form }) => ({
            what: `its ${member} can't be passed to helm`,
            got: shown(value),
            allowed: `a string that matches ${form}`,
            remedy: "correct the manifest or its source",
          })),
        ].map((problem) => ({ key, ...problem })),
      );
      return found.map(({ chart: name, ...rest }) => ({ name, ...rest, values }));
    });
  const unique = new Map([...releases, ...ofHub].map((release) => [JSON.stringify(release), release]));
  return {
    charts: [...unique.values()].sort((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version)),
    problems,
  };
}
