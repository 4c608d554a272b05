import { ACCOUNT } from "../gateway/ministack.ts";
import { labelKeys, spokeApi } from "../product.ts";
import { type Kubectl, type KubernetesObject, objects } from "./flux.ts";

type Conditions = NonNullable<KubernetesObject["status"]>["conditions"];

/** What is read of a Spoke. */
export interface Spoke {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly deletionProtection?: boolean;
    readonly environment?: string;
    readonly account?: { readonly id?: string };
  };
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly conditions?: Conditions;
    readonly cluster?: { readonly name?: string };
  };
}

const inNamespace = ["--namespace", spokeApi.namespace];

/** All Spokes; none where the hub has no Spoke API (yet). */
export async function spokesOf(kubectl: Kubectl): Promise<Spoke[]> {
  const kinds = await kubectl(["api-resources", "--api-group", "fleet.internal", "--output", "name"]);
  if (!kinds.split("\n").includes("spokes.fleet.internal")) return [];
  return objects<Spoke>(kubectl, ["spokes"], inNamespace);
}

/** The steps of a spoke's bootstrap chain on the hub: Flux Kustomizations and HelmReleases. */
export function chainOf(kubectl: Kubectl, spoke: string): Promise<KubernetesObject[]> {
  const kinds = ["kustomizations.kustomize.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io"];
  return objects(kubectl, kinds, [...inNamespace, "--selector", `${labelKeys.cluster}=${spoke}`]);
}

const holds = (conditions: Conditions, type: string) =>
  conditions?.some((condition) => condition.type === type && condition.status === "True") === true;

/** Whether a Spoke is Ready. */
export const isSpokeReady = ({ status }: Spoke): boolean => holds(status?.conditions, "Ready");

/** The account of a Spoke where that is not the hub's: the instance's kubeconfig has no cluster of another. */
export function otherAccountOf({ spec }: Spoke): string | undefined {
  return spec.account?.id === ACCOUNT ? undefined : spec.account?.id;
}

/** One line on how a Spoke is: its phase and its own sentence on what is going on. */
export function spokeLine({ metadata, status }: Spoke): string {
  return `${metadata.name}: ${status?.phase ?? "not begun"}${status?.message ? `: ${status.message}` : ""}`;
}

/** How far a spoke's chain is: the steps that are Ready of those that are there. */
export function chainLine(spoke: string, steps: readonly KubernetesObject[]): string {
  const kustomizations = steps.filter(({ kind }) => kind === "Kustomization");
  const ready = kustomizations.filter(({ status }) => holds(status?.conditions, "Ready"));
  const names = ready.map(({ metadata }) => metadata.name.replace(`${spoke}-`, "")).sort();
  return `chain ${ready.length} of ${kustomizations.length}${names.length === 0 ? "" : ` (${names.join(", ")})`}`;
}
