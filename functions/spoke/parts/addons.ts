import { podAnnotations } from "../../../lib/bridge-facts.ts";
import { addonConflicts } from "../../../lib/eks-baseline.ts";
import { volumeDriverPolicy } from "../../../lib/iam/roles.ts";
import { type AnyEksAddon, podIdentityAgent } from "../api.ts";
import type { Context } from "../context.ts";
import { type Fact, fact } from "../facts.ts";
import { condition, type KubeObject } from "../kube.ts";
import { anyNodes } from "../node-groups.ts";
import { withoutLateInitialize } from "../orphan.ts";
import { addonVersions, runningVersion } from "../plan.ts";
import { eksAddonsOf, leavesPodIdentity, usesPodIdentity } from "../pod-identity.ts";
import { resources } from "../resources.ts";
import { volumeKeysOf } from "../volume-key.ts";
import { controlPlaneFacts } from "./control-plane.ts";
import { type PodNetwork, podNetwork } from "./pods.ts";

/** Deployments need nodes to become active; the others are daemon sets, which nodes need. */
const needsNodes: readonly AnyEksAddon[] = ["coredns", "aws-ebs-csi-driver"];

/**
 * Whether an object is an add-on that needs nodes and is still being created or, from that state, deleted. The provider deletes nothing that it
 * is still creating (upjet 2, pkg/controller/external_async_tfpluginsdk.go), and waits 20 minutes for pods that never run (pulumi/pulumi-eks
 * issue 1819).
 */
export const isUnfinishedAddon = (key: string, object: KubeObject | undefined): boolean =>
  object !== undefined &&
  needsNodes.some((name) => resources.addon(name).key === key) &&
  (object.metadata.deletionTimestamp !== undefined || condition(object, "Ready")?.status !== "True");

function addon(context: Context, name: AnyEksAddon): void {
  const { composer, names, observed, settings, spoke, tags } = context;
  const running = runningVersion(observed);
  const version = running === undefined ? undefined : addonVersions(spoke.spec, settings, running)[name];
  const needs = {
    controlPlane: controlPlaneFacts(context).endpoint,
    kubernetesVersion: fact("controlPlane", running),
    nodes: needsNodes.includes(name) ? anyNodes(context) : fact("nodes", true),
    role: name === "aws-ebs-csi-driver" ? driverRole(context) : fact("identities", {}),
    pods: name === "vpc-cni" ? podNetwork(context) : fact<PodNetwork>("network", { env: {} }),
  };
  composer.managed(resources.addon(name), "Addon", needs, ({ role, pods }) => ({
    // Late initialization would restore a role, values or a version that the function no longer requests.
    managementPolicies: withoutLateInitialize,
    forProvider: {
      region: spoke.spec.region,
      clusterName: names.cluster,
      addonName: name,
      ...(version === undefined ? {} : { addonVersion: version }),
      ...addonConflicts,
      ...configuration(context, name, pods),
      ...role,
      tags: tags(),
    },
  }));
}

/** The interfaces and volumes that an add-on creates carry the spoke's tags too: its role's boundary recognizes them by these. */
function configuration(
  context: Context,
  name: AnyEksAddon,
  { env, eniConfig }: PodNetwork,
): { configurationValues?: string } {
  const tags = context.tags();
  // The value of the driver's chart, whose schema the add-on has (kubernetes-sigs/aws-ebs-csi-driver, values.schema.json).
  const pods = usesPodIdentity(context) ? { podAnnotations: podAnnotations("PodIdentity") } : {};
  const values = {
    "vpc-cni": {
      enableNetworkPolicy: "true",
      env: { ADDITIONAL_ENI_TAGS: JSON.stringify(tags), ...env },
      ...(eniConfig && { eniConfig }),
    },
    "aws-ebs-csi-driver": { controller: { extraVolumeTags: tags, ...pods } },
  }[name as string];
  return values === undefined ? {} : { configurationValues: JSON.stringify(values) };
}

interface DriverRole {
  readonly serviceAccountRoleArn?: string;
}

/** Role of the EBS CSI driver, once its policy is attached; with EKS Pod Identity its association is enough. */
function driverRole(context: Context): Fact<DriverRole> {
  const { observed } = context;
  const policies = [
    resources.attachment("aws-ebs-csi-driver", volumeDriverPolicy),
    ...(volumeKeysOf(context).length > 0 ? [resources.rolePolicy("aws-ebs-csi-driver")] : []),
  ];
  // Its pods start anew with what else changes, and would get the association that is about to go.
  if (leavesPodIdentity(context)) return fact<DriverRole>("identities", undefined);
  if (usesPodIdentity(context))
    return fact("identities", observed.ready(resources.podIdentity("aws-ebs-csi-driver")) ? {} : undefined);
  const arn = observed.text(resources.role("aws-ebs-csi-driver"), "arn");
  const attached = policies.every((resource) => observed.ready(resource));
  return fact("identities", arn !== undefined && attached ? { serviceAccountRoleArn: arn } : undefined);
}

/** The EKS add-ons, in the version for the Kubernetes version that the control plane runs. */
export function composeAddons(context: Context): void {
  for (const name of eksAddonsOf(context)) addon(context, name);
  if (leavesPodIdentity(context)) context.composer.keep(resources.addon(podIdentityAgent));
}
