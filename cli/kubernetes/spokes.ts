import { STSClient } from "@aws-sdk/client-sts";
import { KubeConfig } from "@kubernetes/client-node";
import type { Spoke } from "../../functions/spoke/api.ts";
import { managedKinds } from "../../functions/spoke/kinds.ts";
import { type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { eksToken } from "../../lib/eks-token.ts";
import type { ClusterAccess } from "../../lib/kubeconfig.ts";
import { labelKeys } from "../../lib/labels.ts";
import { namespaces } from "../../lib/names.ts";
import { type Api, apiOf, type Kind } from "./api.ts";

/** How a person reaches a spoke: by what the hub knows of its control plane, and with their own identity in AWS. */

/** The EKS clusters on the hub: only they have the CA of an API server in both kubeconfig variants of the Composition. */
export const clusterKind = {
  apiVersion: managedKinds.Cluster,
  plural: "clusters",
  namespace: namespaces.spokes,
} as const satisfies Kind;

/** What a client needs to know of a spoke; the reason why that is not known yet. */
export function accessOf(spoke: Spoke, clusters: readonly KubeObject[]): ClusterAccess | string {
  const own = clusters.find(({ metadata }) => metadata.labels?.[labelKeys.cluster] === spoke.metadata.name);
  const name = spoke.status?.cluster?.name;
  const endpoint = textAt(own?.status, "atProvider", "endpoint") ?? spoke.status?.cluster?.endpoint;
  const certificateAuthority = textAt(own?.status, "atProvider", "certificateAuthority", 0, "data");
  if (name === undefined || endpoint === undefined || certificateAuthority === undefined)
    return "its API server is not there yet";
  return { name, region: spoke.spec.region, endpoint, certificateAuthority };
}

/** Makes clients of spokes; each request ends when the signal does. */
export type Reach = (spoke: string, access: ClusterAccess, signal: AbortSignal) => Promise<Api>;

/** With the credentials that the AWS CLI would take, of the environment or of a profile: a program for each token would take a second. */
export function reachWith(profile: string | undefined): Reach {
  // Its region is that of no call: a token is signed for the spoke's.
  const { config: sts } = new STSClient({ region: "us-east-1", ...(profile === undefined ? {} : { profile }) });
  return async (spoke, access, signal) => {
    const { name, region, endpoint, certificateAuthority } = access;
    const { hostname } = sts.endpointProvider({ Region: region, UseDualStack: false, UseFIPS: false }).url;
    const { credentials, sha256 } = sts;
    const token = await eksToken({ cluster: name, region, hostname, credentials, sha256 });
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name, server: endpoint, caData: certificateAuthority, skipTLSVerify: false },
      { name, token },
    );
    const guide = "docs/guides/reach-a-cluster.md says what it takes";
    return apiOf(config, { name: `spoke ${spoke}`, ifForbidden: guide, otherwise: guide }, signal);
  };
}
