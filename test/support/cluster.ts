import { expect } from "vitest";
import { notApplied } from "../../lib/flux-applied.ts";
import { type Options, type Result, succeeded } from "./process.ts";

// biome-ignore lint/suspicious/noExplicitAny: an object of the API server of any kind
export type KubernetesObject = any;

/** A cluster as kubectl reaches it. */
export interface Cluster {
  /** Whatever its exit code. */
  readonly tryKubectl: (args: readonly string[], options?: Options) => Promise<Result>;
  /** Standard output. Rejects when kubectl fails. */
  readonly kubectl: (args: readonly string[], options?: Options) => Promise<string>;
  /** The JSON of `kubectl get`. */
  readonly get: (args: readonly string[]) => Promise<KubernetesObject>;
}

/** A cluster by what runs kubectl on it. */
export function clusterBy(tryKubectl: Cluster["tryKubectl"]): Cluster {
  const kubectl: Cluster["kubectl"] = async (args, options) =>
    succeeded(["kubectl", ...args], await tryKubectl(args, options));
  return {
    tryKubectl,
    kubectl,
    get: async (args) => JSON.parse(await kubectl(["get", ...args, "--output", "json"])),
  };
}

/** Whether kubectl says that there is no such thing, or no such kind. @throws when it says anything else than that there is */
export async function isMissing(cluster: Cluster, args: readonly string[]): Promise<boolean> {
  const { code, stdout, stderr } = await cluster.tryKubectl(["get", ...args]);
  if (code === 0) return false;
  if (/NotFound|the server doesn't have a resource type/.test(stderr)) return true;
  throw new Error(`kubectl get ${args.join(" ")}: ${stdout}${stderr}`);
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

export const isReady = ({ status }: { readonly status: { readonly conditions?: readonly Condition[] } }): boolean =>
  status.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;

/** The minor version that the API server speaks; an emulated one is told beside its own. */
export async function minorOf({ kubectl }: Cluster): Promise<string> {
  const { serverVersion } = JSON.parse(await kubectl(["version", "--output", "json"]));
  // EKS has told minors such as 35+.
  return `${serverVersion.major}.${String(serverVersion.emulationMinor ?? serverVersion.minor).replace("+", "")}`;
}

/** Every node is Ready, there is one, and the API server speaks this version. */
export async function expectNodes(cluster: Cluster, kubernetesVersion: string): Promise<void> {
  const nodes = (await cluster.get(["nodes"])).items;
  expect(nodes.length).toBeGreaterThan(0);
  for (const node of nodes) expect(isReady(node), node.metadata.name).toBe(true);
  expect(await minorOf(cluster)).toBe(kubernetesVersion);
}

/** Every pod that has not ended well is Ready. */
export async function expectPods({ get }: Cluster): Promise<void> {
  const pods = (await get(["pods", "--all-namespaces"])).items;
  const unready = pods.filter((pod: KubernetesObject) => pod.status.phase !== "Succeeded" && !isReady(pod));
  expect(unready.map(({ metadata }: KubernetesObject) => metadata)).toEqual([]);
}

/** What the program and gitops-system run on a hub: namespaces with Deployments. */
export const hubControllers = [
  ...["crossplane-system/crossplane", "crossplane-system/function-spoke"],
  ...["crossplane-system/provider-aws-cloudwatchlogs", "crossplane-system/provider-aws-ec2"],
  ...["crossplane-system/provider-aws-eks", "crossplane-system/provider-aws-iam"],
  ...["crossplane-system/provider-aws-kms", "crossplane-system/provider-family-aws"],
  ...["external-secrets/external-secrets", "flux-system/helm-controller", "flux-system/kustomize-controller"],
  ...["flux-system/notification-controller", "flux-system/source-controller", "flux-system/source-watcher"],
] as const;

/** Namespaces and names of all Deployments, sorted. */
export async function deploymentsOf({ get }: Cluster): Promise<string[]> {
  const { items } = await get(["deployments", "--all-namespaces"]);
  return items
    .map(
      // A package's deployment ends with the hash of its revision.
      ({ metadata }: KubernetesObject) => `${metadata.namespace}/${metadata.name.replace(/-[0-9a-f]{12}$/, "")}`,
    )
    .sort();
}

/** Everything that Flux on the hub applies is Ready at a commit of the branch, or at what its part of the repository is there. */
export async function expectApplied({ get }: Cluster, branch: string, commit: string): Promise<void> {
  const kinds = ["gitrepositories", "artifactgenerators", "externalartifacts", "kustomizations"];
  const objects: KubernetesObject[] = (await get([kinds.join(","), "--namespace", "flux-system"])).items;
  const named = (kind: string, name: string) =>
    objects.find(({ kind: of, metadata }) => of === kind && metadata.name === name)?.status;
  expect(named("GitRepository", "gitops-system").artifact.revision).toBe(`${branch}@sha1:${commit}`);
  expect(named("Kustomization", "hub").lastAppliedRevision).toBe(`${branch}@sha1:${commit}`);
  for (const { kind, metadata, status } of objects) expect(isReady({ status }), `${kind} ${metadata.name}`).toBe(true);
  expect(notApplied(objects)).toEqual([]);
}

/** Has Flux on a cluster fetch a repository at once and not at its next look, as a webhook of the Git host does. */
export async function fetchNow({ kubectl }: Cluster, repository: string, namespace: string): Promise<void> {
  const now = `reconcile.fluxcd.io/requestedAt=${Date.now()}`;
  await kubectl(["annotate", "gitrepository", repository, "--namespace", namespace, "--overwrite", now]);
}

/** A run of `pulumi up` found nothing to change. */
export function expectUnchanged({ code, stdout, stderr }: Result): void {
  expect(stdout, stderr).toMatch(/Resources:\n\s+\d+ unchanged\n/);
  expect(code).toBe(0);
}
