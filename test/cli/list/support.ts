import type { Api } from "../../../cli/kubernetes/api.ts";
import type { Fleet } from "../../../cli/kubernetes/fleet.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";

/** Objects as a hub and its spokes answer them, as far as they are read. */

const yes = { type: "Ready", status: "True", reason: "Succeeded", message: "applied" };
export const no = (message: string, reason = "Failed") => ({ type: "Ready", status: "False", reason, message });

export function spoke(name: string, { spec = {}, status = {} }: { spec?: object; status?: object } = {}): KubeObject {
  return {
    ...{ apiVersion: "fleet.internal/v1alpha1", kind: "Spoke" },
    metadata: { name, namespace: "spokes", creationTimestamp: "2026-11-20T09:00:00Z" },
    spec: { environment: "dev", tenant: "payments", region: "eu-central-1", kubernetesVersion: "1.35", ...spec },
    status: {
      ...{ phase: "Ready", message: "the spoke runs", conditions: [yes] },
      ...{ kubernetesVersion: "1.35", nodesKubernetesVersion: "1.35", cluster: { name: `fleet-spoke-${name}` } },
      ...status,
    },
  };
}

/** The EKS cluster of a spoke on the hub. */
export const cluster = (name: string, status: object = {}): KubeObject => ({
  ...{ apiVersion: "eks.aws.m.upbound.io/v1beta1", kind: "Cluster" },
  metadata: { name: `${name}-cluster`, namespace: "spokes", labels: { "fleet.internal/cluster": name } },
  status: {
    atProvider: { endpoint: `https://${name}.eks`, certificateAuthority: [{ data: "Q0E=" }] },
    conditions: [yes],
    ...status,
  },
});

/** A Kustomization or HelmRelease of Flux. */
export const flux = (kind: string, namespace: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: { HelmRelease: "helm.toolkit.fluxcd.io/v2" }[kind] ?? "kustomize.toolkit.fluxcd.io/v1",
  kind,
  metadata: { name, namespace },
  status: { conditions: [yes] },
  ...more,
});

/** What every spoke's Flux has. */
export const platform = [
  flux("Kustomization", "flux-system", "tools"),
  flux("Kustomization", "flux-system", "workloads"),
];

const pluralOf = (kind: string) => `${kind.toLowerCase().replace(/y$/, "ie")}s`;

/** An API server that has these objects, after some time. */
export const serving = (objects: readonly KubeObject[], ms = 0): Api => ({
  list: async ({ plural, namespace }, { labelSelector } = {}) => {
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    const [key = "", value] = labelSelector?.split("=") ?? [];
    return objects.filter(
      ({ kind, metadata }) =>
        pluralOf(kind) === plural &&
        (namespace === undefined || metadata.namespace === namespace) &&
        metadata.labels?.[key] === value,
    );
  },
  log: async () => "",
  annotate: async () => {
    throw new Error("nothing is to be changed");
  },
  find: async ({ plural, namespace }, name) =>
    objects.find(
      ({ kind, metadata }) => pluralOf(kind) === plural && metadata.name === name && metadata.namespace === namespace,
    ),
});

/** A hub, and spokes that answer by name; any other refuses. */
export function fleetOf(hub: readonly KubeObject[], spokes: Readonly<Record<string, Api>> = {}): Fleet {
  return {
    hub: serving(hub),
    profile: undefined,
    reach: async (name) => {
      const api = spokes[name];
      if (api === undefined) throw new Error("connect ECONNREFUSED");
      return api;
    },
  };
}
