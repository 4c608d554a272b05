import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { KubernetesObject } from "../support/cluster.ts";
import { root } from "../support/process.ts";

type Versions = Readonly<Record<string, string>>;

/** What the Composition offers: versions of the EKS add-ons by Kubernetes minor, the oldest minor first. */
export function offeredVersions(): readonly (readonly [minor: string, addons: Versions])[] {
  const file = join(root, "repos", "gitops-system", "platform", "composition", "composition.yaml");
  const { pipeline } = parse(readFileSync(file, "utf8")).spec;
  const offered: Readonly<Record<string, { readonly nodes?: object } & Versions>> =
    pipeline[0].input.kubernetesVersions;
  const number = (minor: string) => Number(minor.split(".")[1]);
  return Object.entries(offered)
    .map(([minor, { nodes: _, ...addons }]) => [minor, addons] as const)
    .sort(([a], [b]) => number(a) - number(b));
}

/** Kinds of which {@link outOfOrder} judges, in the order in which they must be read: what comes last is read first. */
export const upgradedKinds = ["nodegroups", "addons", "clusters"].map((kind) => `${kind}.eks.aws.m.upbound.io`).join();

/** What of a spoke's objects has gone to a Kubernetes version before its turn: the control plane, then the add-ons, then the nodes. */
export function outOfOrder(objects: readonly KubernetesObject[], to: string, addons: Versions): string[] {
  const of = (kind: string) => objects.filter((object) => object.kind === kind);
  const at = ({ status }: KubernetesObject) => status?.atProvider ?? {};
  const controlPlane = of("Cluster").every((object) => at(object).version === to);
  const late = of("Addon").filter((object) => {
    const wanted = addons[object.spec.forProvider.addonName];
    return wanted !== undefined && at(object).addonVersion !== wanted;
  });
  const early = of("NodeGroup").filter(({ spec }) => spec.forProvider.version === to);
  return early.flatMap(({ metadata }) => [
    ...(controlPlane ? [] : [`node group ${metadata.name} is asked for ${to} before the control plane runs it`]),
    ...late.map(
      (addon) =>
        `node group ${metadata.name} is asked for ${to} before add-on ${addon.spec.forProvider.addonName} is up to date`,
    ),
  ]);
}
