import { parse, stringify } from "yaml";
import { charts } from "../../components/versions.ts";
import { bridgeData, exampleMetadata } from "../../lib/bridge.ts";
import { contractOf } from "../../lib/bridge-keys.ts";
import { merged } from "../diff/charts.ts";
import { substitute } from "../render/envsubst.ts";
import { contentsOf, isManifest, list, type Manifest, manifestsBelow } from "../render/files.ts";
import { texts, type Values, variables } from "../upstream/repositories.ts";

/** A chart that clusters install, with the values of a release. */
export interface ChartRelease {
  readonly name: string;
  readonly version: string;
  readonly repository: string;
  readonly values: unknown;
}

/** In the place of a mirror: an image that charts render with it is one that clusters take from their mirror. */
export const mark = "mirror.invalid";

/** The bridge of a cluster whose images come from {@link mark}, and its charts from upstream. */
const bridge: Values = new Map(
  Object.entries(bridgeData({ ...exampleMetadata, imagesRegistry: mark, chartsRegistry: "", pullSecrets: [] })).map(
    ([key, value]) => [key, new Set([value])],
  ),
);

/** The values of a release, with each variable's first value; one that only a cluster knows has the example of the contract. */
function valuesOf({ spec }: Manifest, manifests: readonly Manifest[], known: Values): unknown {
  const filled = (text: string): unknown =>
    parse(substitute(text, (name) => [...(known.get(name) ?? [])][0] ?? contractOf(name)?.form.example ?? ""));
  const below = list(spec.valuesFrom).flatMap((source) => {
    const { name } = source as { readonly name: string };
    const text = manifests.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name)?.["data"];
    const values = (text as Readonly<Record<string, string>> | undefined)?.["values.yaml"];
    return values === undefined ? [] : [filled(values)];
  });
  const own = spec.values === undefined ? {} : filled(stringify(spec.values, { lineWidth: 0 }));
  return [...below, own].reduce(merged, {});
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
 * Every chart that a hub or a spoke installs, in each version that an environment has.
 * @param folder in which the GitOps repositories lie side by side
 */
export function chartReleases(folder: string): ChartRelease[] {
  const manifests = manifestsBelow(folder).flatMap(contentsOf).filter(isManifest);
  const known = variables(
    manifests.map((manifest) => ({ manifest })),
    bridge,
  );
  const urls = new Map(
    manifests
      .filter(({ kind }) => kind === "HelmRepository")
      .map(({ metadata, spec }) => [metadata.name, String(spec.url)] as const),
  );
  const releases = manifests
    .filter(({ kind }) => kind === "HelmRelease")
    .flatMap((manifest): ChartRelease[] => {
      const { chart, version, sourceRef } = manifest.spec.chart.spec;
      const values = valuesOf(manifest, manifests, known);
      const repositories = texts(urls.get(sourceRef.name) ?? "", known) ?? [];
      return (texts(String(version), known) ?? []).flatMap((each) =>
        repositories.map((repository) => ({ name: chart, version: each, repository, values })),
      );
    });
  const unique = new Map([...releases, ...ofHub].map((release) => [JSON.stringify(release), release]));
  return [...unique.values()].sort((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version));
}
