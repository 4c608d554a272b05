import { sealedAnnotations } from "../../../lib/labels.ts";
import { hubSealingScope } from "../../../lib/names.ts";
import { sealingScope } from "../../../lib/spoke.ts";
import type { Findings, Warning } from "../../render/findings.ts";
import { type Cluster, isSpoke, type Rendered, type RenderedFleet } from "../../render/fleet.ts";
import type { Workspace } from "../../render/workspace.ts";
import { isSealedSecret } from "../../sealing/sealed-secrets.ts";

/** SealedSecrets are sealed for the scope of the cluster that gets them, as far as they say for which: no other key opens them. */

const note = ["metadata", "annotations", sealedAnnotations.scope] as const;

interface Misfit {
  readonly cluster: Cluster;
  readonly object: Rendered;
  readonly problem: string;
  /** Whether it is sealed for the environment of a spoke that has got keys of its own. */
  readonly isLeftBehind: boolean;
}

/** Scopes of a cluster: that whose keys it reads, and that whose keys it has read before. None where its Spoke does not say. */
function scopesOf(
  { name, isHub }: Cluster,
  { hub }: RenderedFleet,
): { readonly now?: string; readonly before?: string } {
  if (isHub) return { now: hubSealingScope };
  const spec = hub.objects.find(({ manifest }) => isSpoke(manifest) && manifest.metadata.name === name)?.manifest.spec;
  return typeof spec?.environment === "string"
    ? { now: sealingScope({ ...spec, name }), before: spec.environment }
    : {};
}

function misfits(fleet: RenderedFleet): Misfit[] {
  return [...fleet.clusters.values()].flatMap((cluster) => {
    const { now, before } = scopesOf(cluster, fleet);
    if (now === undefined) return [];
    return cluster.objects.flatMap((object) => {
      const { name, namespace, annotations } = object.manifest.metadata;
      const sealedFor = isSealedSecret(object.manifest) ? annotations?.[sealedAnnotations.scope] : undefined;
      if (sealedFor === undefined || sealedFor === now) return [];
      const problem = `SealedSecret ${namespace}/${name} is sealed for ${sealedFor}; the cluster opens only what is sealed for ${now}`;
      return [{ cluster, object, problem, isLeftBehind: sealedFor === before }];
    });
  });
}

const remedy =
  "seal it for that cluster: fleet seal --cluster NAME …, for deploy keys fleet reseal or fleet rotate-deploy-key; clusters of several scopes take it from an overlay of each scope";

export function checkSealing(fleet: RenderedFleet, findings: Findings): void {
  for (const { cluster, object, problem, isLeftBehind } of misfits(fleet))
    if (!isLeftBehind) findings.add("sealing", object.place(note), problem, remedy, cluster.name);
}

/** What a spoke that moves to keys of its own has still to get sealed again: the key comes in a push before (docs/guides/secrets.md#keys-of-a-spoke). */
export function sealingWarnings(fleet: RenderedFleet, { original }: Pick<Workspace, "original">): Warning[] {
  return misfits(fleet)
    .filter(({ isLeftBehind }) => isLeftBehind)
    .map(({ cluster, object, problem }) => {
      const { file, line } = object.place(note);
      return { place: { file: original(file), line }, problem, remedy, clusters: [cluster.name] };
    });
}
