import { STSClient } from "@aws-sdk/client-sts";
import { KubeConfig } from "@kubernetes/client-node";
import { eksToken } from "../../lib/eks-token.ts";
import type { ClusterAccess } from "../../lib/kubeconfig.ts";
import { type Api, apiOf } from "./api.ts";

/** How a person reaches a spoke: by what the hub knows of its control plane, and with their own identity in AWS. */

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
    const guide = "docs/guides/clusters.md#reach-a-cluster-with-kubectl says what it takes";
    return apiOf(config, { name: `spoke ${spoke}`, ifForbidden: guide, otherwise: guide }, signal);
  };
}
