import { ackDefinitions } from "@eks-gitops-fleet/local/ack";
import { families, familyCrds, managedCrd } from "@eks-gitops-fleet/local/crossplane";
import { startControlPlane } from "@eks-gitops-fleet/local/test";
import type { Toolchain } from "@eks-gitops-fleet/local/toolchain";
import { awsKindsAnnotation, labelKeys } from "../../../lib/labels.ts";
import type { Manifest } from "../../repos/support/kustomize.ts";
import { render, withAddons } from "../../repos/support/spoke.ts";
import { annotatedNamespaces } from "./admission-request.ts";
import { definitionsOf, kubectlOf } from "./kubectl.ts";

/** A real API server without nodes that has what a spoke has of its kinds, policies, namespaces and rights. */

/** What Flux makes of the repositories for a Spoke. */
export const spoke = render(withAddons("minimal", ["rds_instances"]));

export const isPolicy = ({ kind }: Manifest) => kind.startsWith("ValidatingAdmissionPolicy");

/** The definition that Crossplane makes of a provider's managed resource when it is activated. */
function definitionOf(kind: Parameters<typeof managedCrd>[0]) {
  const { spec, metadata } = managedCrd(kind) as { metadata: { name: string }; spec: object };
  return { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata, spec };
}

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** Starts one; `stop` ends it. */
export async function startSpoke(toolchain: Toolchain) {
  const plane = await startControlPlane(toolchain);
  const client = kubectlOf(toolchain, plane);
  client.define([
    ...definitionsOf("github.com/fluxcd/kustomize-controller"),
    ...[families.dynamodb, families.iam, families.rds, families.s3, families.sqs].flatMap((kinds) =>
      kinds.map(definitionOf),
    ),
    ...familyCrds,
    ...ackDefinitions,
  ]);
  client.apply([namespace("spokes"), namespace("flux-system")]);
  client.apply(
    Object.entries(annotatedNamespaces).map(([name, kinds]) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: { [labelKeys.tenant]: "payments" }, annotations: { [awsKindsAnnotation]: kinds } },
    })),
  );
  const base = [...spoke.by("blue-base"), ...spoke.by("tools")];
  client.apply(base.filter(({ metadata }) => metadata.name === "admission-parameters"));
  // They are the hub's, which has no policy `kube-config`, and policies come into force with a delay.
  client.apply(spoke.steps);
  client.apply(base.filter(isPolicy));
  const tenant = new Set(["Namespace", "ServiceAccount", "RoleBinding"]);
  const roles = spoke.by("workloads").filter(({ apiVersion }) => apiVersion.startsWith("rbac."));
  client.apply([...spoke.by("workloads").filter(({ kind }) => tenant.has(kind)), ...roles]);
  const { address, dir, kubeconfigFile } = plane;
  return { ...client, address, dir, kubeconfigFile, stop: () => plane.stop() };
}
