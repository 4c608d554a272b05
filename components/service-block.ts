import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { userError } from "./user-error.ts";

/** The wanted block of Services. @throws a user error when the cluster has another one: EKS takes it at creation only, so Pulumi would replace the cluster. */
export function sameServices(clusterName: string, wanted: string, current: string | undefined): string {
  if (current === undefined || current === wanted) return wanted;
  throw userError(
    `serviceIpv4Cidr: got ${wanted}, but the EKS cluster ${clusterName} has ${current}, which EKS can't change; set it to ${current}, or remove it`,
  );
}

/** The wanted block of Services, compared with that of the cluster of this name, if there is one. */
export function unchangedServices(
  clusterName: string,
  wanted: string,
  opts: pulumi.InvokeOptions,
): pulumi.Output<string> {
  const found = aws.eks
    .getClustersOutput({}, opts)
    .names.apply((names) =>
      names.includes(clusterName) ? aws.eks.getCluster({ name: clusterName }, opts) : undefined,
    );
  return pulumi
    .all([found])
    .apply(([cluster]) => sameServices(clusterName, wanted, cluster?.kubernetesNetworkConfigs[0]?.serviceIpv4Cidr));
}
