import { addonConflicts } from "../../../lib/eks-baseline.ts";
import { type EksAddon, eksAddons } from "../api.ts";
import type { Context } from "../context.ts";
import { anyNodes } from "../node-groups.ts";
import { addonVersions, runningVersion } from "../plan.ts";
import { controlPlaneFacts } from "./control-plane.ts";

/** Deployments need nodes to become active; the others are daemon sets, which nodes need. */
const needsNodes: readonly EksAddon[] = ["coredns", "aws-ebs-csi-driver"];

function addon(context: Context, name: EksAddon): void {
  const { composer, names, observed, settings, spoke, tags } = context;
  const running = runningVersion(observed);
  const version = running === undefined ? undefined : addonVersions(spoke.spec, settings, running)[name];
  const facts = {
    controlPlane: controlPlaneFacts(context).endpoint,
    kubernetesVersion: running,
    nodes: needsNodes.includes(name) ? anyNodes(context) : true,
    role: name === "aws-ebs-csi-driver" ? driverRole(context) : {},
  };
  composer.managed("addons", `addon-${name}`, "Addon", facts, ({ role }) => ({
    forProvider: {
      region: spoke.spec.region,
      clusterName: names.cluster,
      addonName: name,
      ...(version === undefined ? {} : { addonVersion: version }),
      ...addonConflicts,
      ...configuration(context, name),
      ...role,
      tags: tags(),
    },
  }));
}

/** The interfaces and volumes that an add-on makes carry the spoke's tags too: by these the boundary of its role knows them. */
function configuration({ tags }: Context, name: EksAddon): { configurationValues?: string } {
  const values = {
    "vpc-cni": { enableNetworkPolicy: "true", env: { ADDITIONAL_ENI_TAGS: JSON.stringify(tags()) } },
    "aws-ebs-csi-driver": { controller: { extraVolumeTags: tags() } },
  }[name as string];
  return values === undefined ? {} : { configurationValues: JSON.stringify(values) };
}

/** Role of the EBS CSI driver, once its policy is attached. */
function driverRole({ observed }: Context): { serviceAccountRoleArn: string } | undefined {
  const arn = observed.text("role-aws-ebs-csi-driver", "arn");
  const attached = observed.ready("attachment-aws-ebs-csi-driver-amazonebscsidriverpolicy");
  return arn !== undefined && attached ? { serviceAccountRoleArn: arn } : undefined;
}

/** The EKS add-ons, in the version for the Kubernetes version that the control plane runs. */
export function composeAddons(context: Context): void {
  for (const name of eksAddons) addon(context, name);
}
