import { addonConflicts } from "../../../lib/eks-baseline.ts";
import { volumeDriverPolicy } from "../../../lib/iam/roles.ts";
import { type EksAddon, eksAddons } from "../api.ts";
import type { Context } from "../context.ts";
import { type Fact, fact } from "../facts.ts";
import { anyNodes } from "../node-groups.ts";
import { addonVersions, runningVersion } from "../plan.ts";
import { resources } from "../resources.ts";
import { controlPlaneFacts } from "./control-plane.ts";
import { type PodNetwork, podNetwork } from "./pods.ts";

/** Deployments need nodes to become active; the others are daemon sets, which nodes need. */
const needsNodes: readonly EksAddon[] = ["coredns", "aws-ebs-csi-driver"];

function addon(context: Context, name: EksAddon): void {
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
  { tags }: Context,
  name: EksAddon,
  { env, eniConfig }: PodNetwork,
): { configurationValues?: string } {
  const values = {
    "vpc-cni": {
      enableNetworkPolicy: "true",
      env: { ADDITIONAL_ENI_TAGS: JSON.stringify(tags()), ...env },
      ...(eniConfig && { eniConfig }),
    },
    "aws-ebs-csi-driver": { controller: { extraVolumeTags: tags() } },
  }[name as string];
  return values === undefined ? {} : { configurationValues: JSON.stringify(values) };
}

/** Role of the EBS CSI driver, once its policy is attached. */
function driverRole({ observed }: Context): Fact<{ serviceAccountRoleArn?: string }> {
  const arn = observed.text(resources.role("aws-ebs-csi-driver"), "arn");
  const attached = observed.ready(resources.attachment("aws-ebs-csi-driver", volumeDriverPolicy));
  return fact("identities", arn !== undefined && attached ? { serviceAccountRoleArn: arn } : undefined);
}

/** The EKS add-ons, in the version for the Kubernetes version that the control plane runs. */
export function composeAddons(context: Context): void {
  for (const name of eksAddons) addon(context, name);
}
