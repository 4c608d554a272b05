import type { Kubectl } from "./flux.ts";

/** A condition of a Kubernetes object. */
interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

/** What is read of a Spoke. */
export interface Spoke {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly deletionProtection?: boolean };
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
    readonly cluster?: { readonly name?: string };
  };
}

/** What is read of a step of a spoke's bootstrap chain: a Flux Kustomization or HelmRelease. */
export interface ChainStep {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const NAMESPACE = "spokes";

/** All Spokes; none where the hub has no Spoke API (yet). */
export async function spokesOf(kubectl: Kubectl): Promise<Spoke[]> {
  const kinds = await kubectl(["api-resources", "--api-group", "fleet.internal", "--output", "name"]);
  if (!kinds.split("\n").includes("spokes.fleet.internal")) return [];
  return JSON.parse(await kubectl(["get", "spokes", "--namespace", NAMESPACE, "--output", "json"])).items;
}

/** The chain's steps of a spoke on the hub. */
export async function chainOf(kubectl: Kubectl, spoke: string): Promise<ChainStep[]> {
  const selector = ["--namespace", NAMESPACE, "--selector", `fleet.internal/cluster=${spoke}`];
  return JSON.parse(
    await kubectl([
      "get",
      "kustomizations.kustomize.toolkit.fluxcd.io,helmreleases.helm.toolkit.fluxcd.io",
      ...selector,
      "--output",
      "json",
    ]),
  ).items;
}

const holds = (conditions: readonly Condition[] | undefined, type: string) =>
  conditions?.some((condition) => condition.type === type && condition.status === "True") === true;

/** Whether a Spoke is Ready. Pure. */
export const isSpokeReady = ({ status }: Spoke): boolean => holds(status?.conditions, "Ready");

/** One line on how a Spoke is: its phase and its own sentence on what is going on. Pure. */
export function spokeLine({ metadata, status }: Spoke): string {
  return `${metadata.name}: ${status?.phase ?? "not begun"}${status?.message ? `: ${status.message}` : ""}`;
}

/** How far a spoke's chain is: the steps that are Ready of those that are there. Pure. */
export function chainLine(spoke: string, steps: readonly ChainStep[]): string {
  const kustomizations = steps.filter(({ kind }) => kind === "Kustomization");
  const ready = kustomizations.filter(({ status }) => holds(status?.conditions, "Ready"));
  const names = ready.map(({ metadata }) => metadata.name.replace(`${spoke}-`, "")).sort();
  return `chain ${ready.length} of ${kustomizations.length}${names.length === 0 ? "" : ` (${names.join(", ")})`}`;
}
