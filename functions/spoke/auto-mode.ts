import { volumeProvisioners } from "../../lib/eks-baseline.ts";
import type { Spoke } from "./api.ts";

/**
 * EKS Auto Mode (`spec.compute: auto`): EKS starts nodes for pods that fit nowhere, replaces and removes them, and has the pod network,
 * DNS, volumes, load balancers and pod identities built in, so that there are neither node groups nor EKS add-ons (EKS User Guide,
 * "Automate cluster infrastructure with EKS Auto Mode"). What can't stand beside it, the rules of the definition refuse.
 */

export const isAuto = ({ spec }: { readonly spec: Pick<Spoke["spec"], "compute"> }): boolean => spec.compute === "auto";

/** The one that a spoke has: that of EKS Auto Mode, or of the EKS add-on aws-ebs-csi-driver. */
export const volumeProvisioner = (spoke: Parameters<typeof isAuto>[0]) =>
  isAuto(spoke) ? volumeProvisioners.auto : volumeProvisioners.addon;

/**
 * What a cluster of EKS Auto Mode says: EKS refuses one of the three without the others ("Enable EKS Auto Mode on an existing cluster").
 * Its own node pools have on-demand instances of the families C, M and R; that called system takes pods alone that tolerate
 * CriticalAddonsOnly ("Enable or disable built-in NodePools").
 */
export const autoMode = (nodeRoleArn: string) => ({
  computeConfig: { enabled: true, nodePools: ["general-purpose", "system"], nodeRoleArn },
  kubernetesNetworkConfig: { elasticLoadBalancing: { enabled: true } },
  storageConfig: { blockStorage: { enabled: true } },
});
