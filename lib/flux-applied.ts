import { createHash } from "node:crypto";

/** Whether Flux on a cluster has applied what its sources have by now, through the artifacts that are cut out of them. */

interface Artifact {
  readonly revision?: string;
  readonly digest?: string;
  readonly url?: string;
}

/** What is read of a source, an ArtifactGenerator or a Kustomization. */
interface FluxObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: {
    readonly sourceRef?: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
    readonly sources?: readonly {
      readonly alias: string;
      readonly kind: string;
      readonly name: string;
      readonly namespace?: string;
    }[];
  };
  readonly status?: {
    readonly artifact?: Artifact;
    readonly lastAppliedRevision?: string;
    readonly observedSourcesDigest?: string;
  };
}

const keyOf = (kind: string, namespace: string | undefined, name: string): string => `${kind} ${namespace}/${name}`;

/** The digest of its sources that a generator reports (fluxcd/source-watcher v2.2.2, api/v1beta1/observed_source.go). */
function digestOf({ metadata, spec }: FluxObject, artifacts: ReadonlyMap<string, Artifact>): string {
  const parts = (spec?.sources ?? []).map(({ alias, kind, name, namespace = metadata.namespace }) => {
    const { digest, revision, url } = artifacts.get(keyOf(kind, namespace, name)) ?? {};
    return `${alias}=[digest=${digest},revision=${revision},url=${url}]`;
  });
  return `sha256:${createHash("sha256").update(parts.sort().join("|")).digest("hex")}`;
}

/** What a Kustomization lacks, whose revision is not that of its artifact. */
function difference(applied: string | undefined, wanted: string | undefined): string {
  if (wanted === undefined) return "its artifact is not there yet";
  return applied === undefined ? `nothing has been applied yet of ${wanted}` : `has ${applied}, not yet ${wanted}`;
}

/**
 * What is not applied yet of what these sources have: generators that have not cut their newest revision, Kustomizations that have not
 * applied that of their artifact. Whether the sources are up to date is not looked at.
 */
export function notApplied(objects: readonly FluxObject[]): string[] {
  const artifacts = new Map(
    objects.flatMap(({ kind, metadata, status }) =>
      status?.artifact ? [[keyOf(kind, metadata.namespace, metadata.name), status.artifact] as const] : [],
    ),
  );
  return objects.flatMap((object) => {
    const { kind, metadata, spec, status } = object;
    const name = keyOf(kind, metadata.namespace, metadata.name);
    if (kind === "ArtifactGenerator")
      return status?.observedSourcesDigest === digestOf(object, artifacts)
        ? []
        : [`${name}: has not cut the newest revision of its source`];
    const { sourceRef } = spec ?? {};
    if (kind !== "Kustomization" || sourceRef?.kind !== "ExternalArtifact") return [];
    const wanted = artifacts.get(
      keyOf(sourceRef.kind, sourceRef.namespace ?? metadata.namespace, sourceRef.name ?? ""),
    )?.revision;
    const applied = status?.lastAppliedRevision;
    return applied === wanted ? [] : [`${name}: ${difference(applied, wanted)}`];
  });
}
