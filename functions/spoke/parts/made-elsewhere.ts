import { eksAddons } from "../api.ts";
import type { Context } from "../context.ts";
import { onlyLook } from "../orphan.ts";
import { resources } from "../resources.ts";

/**
 * The cluster as its maker has it, with its VPC, its node group and its add-ons: Crossplane reports what AWS says of them and may do nothing
 * else, whatever is specified. Names are those of charts/eks-cluster.
 */
export function observeCluster({ composer, facts, names, plan, spoke }: Context): void {
  const { region, kubernetesVersion: version } = spoke.spec;
  const ofCluster = { region, clusterName: names.cluster };
  composer.managed(resources.cluster, "Cluster", {}, () => ({
    externalName: names.cluster,
    managementPolicies: onlyLook,
    forProvider: { region, version },
  }));
  const needs = { vpcId: facts.text(resources.cluster, "vpcConfig", "vpcId") };
  composer.managed(resources.vpc, "VPC", needs, ({ vpcId }) => ({
    externalName: vpcId,
    managementPolicies: onlyLook,
    forProvider: { region, cidrBlock: plan.network.cidr },
  }));
  const cluster = { controlPlane: facts.text(resources.cluster, "endpoint") };
  composer.managed(resources.nodeGroup(), "NodeGroup", cluster, () => ({
    externalName: names.nodeGroup,
    managementPolicies: onlyLook,
    forProvider: { ...ofCluster, version },
  }));
  for (const addonName of eksAddons)
    composer.managed(resources.addon(addonName), "Addon", cluster, () => ({
      managementPolicies: onlyLook,
      forProvider: { ...ofCluster, addonName },
    }));
}
