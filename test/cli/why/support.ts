import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { cluster, flux, no, spoke } from "../list/support.ts";

/** A spoke blue with its chain and an application shop, as the hub and the spoke have them. */

const kustomization = "kustomize.toolkit.fluxcd.io";

/** Adds what a Kustomization has applied, each as `<namespace>/<name> <group> <kind>`. */
function applying(object: KubeObject, ...entries: readonly (readonly [string, string, string])[]): KubeObject {
  const inventory = {
    entries: entries.map(([name, group, kind]) => ({ id: `${name.replace("/", "_")}_${group}_${kind}`, v: "v1" })),
  };
  return { ...object, status: { ...(object.status as object), inventory } };
}

const labels = { "fleet.internal/cluster": "blue" };
const step = (name: string, more: object = {}): KubeObject => {
  const found = flux("Kustomization", "spokes", `blue-${name}`, more);
  return { ...found, metadata: { ...found.metadata, labels } };
};
const toTheSpoke = { spec: { kubeConfig: { configMapRef: { name: "blue-kubeconfig" } } } };

export const failing = (message: string, reason?: string) => ({ status: { conditions: [no(message, reason)] } });

export const hubOf = (more: readonly KubeObject[] = [], status: object = {}): KubeObject[] => [
  spoke("blue", { status }),
  cluster("blue"),
  applying(
    step("bootstrap"),
    ["spokes/blue-tools", kustomization, "Kustomization"],
    ["spokes/blue-workloads", kustomization, "Kustomization"],
  ),
  applying(step("tools", toTheSpoke), ["flux-system/tools", kustomization, "Kustomization"]),
  applying(step("workloads", toTheSpoke), ["flux-system/workloads", kustomization, "Kustomization"]),
  ...more,
];

export const tools = flux("Kustomization", "flux-system", "tools");
export const workloads = applying(flux("Kustomization", "flux-system", "workloads"), [
  "shop/shop",
  kustomization,
  "Kustomization",
]);

export const shop = (more: object = {}): KubeObject =>
  applying(
    flux("Kustomization", "shop", "shop", { spec: { targetNamespace: "shop" }, ...more }),
    ["shop/orders", "dynamodb.aws.m.upbound.io", "Table"],
    ["shop/shop", "apps", "Deployment"],
  );

export const pod = (name: string, status: object): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "shop" } },
  status: { phase: "Pending", ...status },
});

/** A container that waits, and how its predecessor ended. */
export const container = (name: string, reason: string, message?: string, terminated?: object) => ({
  containerStatuses: [
    {
      name,
      ready: false,
      state: { waiting: { reason, message } },
      ...(terminated ? { lastState: { terminated } } : {}),
    },
  ],
});

export const warning = (
  kind: string,
  namespace: string,
  name: string,
  reason: string,
  message: string,
): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Event", metadata: { name: `${name}.${reason}`, namespace } },
  ...{ involvedObject: { kind, namespace, name }, reason, message, type: "Warning" },
  ...{ lastTimestamp: "2026-11-25T09:00:00Z" },
});
