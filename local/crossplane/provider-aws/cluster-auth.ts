/** ClusterAuth: a kubeconfig for a cluster in the connection Secret, with a token that is renewed while the object is there. */
import { type Cluster, DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { STSClient } from "@aws-sdk/client-sts";
import { SignatureV4 } from "@smithy/signature-v4";
import type { Aws } from "../../aws/connection.ts";
import { fixed, out } from "../../aws/define/fields.ts";
import { define } from "../../aws/define/resource.ts";
import { orGone } from "../../aws/errors.ts";
import { duration } from "./options.ts";

/** Seconds; EKS takes no token that is older (Amazon EKS User Guide, "Identity and access management"). */
const LIFETIME = 900;

async function find(aws: Aws, name: string): Promise<Cluster | undefined> {
  const cluster = (await orGone(aws.client(EKSClient).send(new DescribeClusterCommand({ name }))))?.cluster;
  return cluster?.certificateAuthority?.data && cluster.endpoint ? cluster : undefined;
}

/** A token for the API server of a cluster: a signed GetCallerIdentity that names the cluster (aws-iam-authenticator's form). */
async function token(aws: Aws, cluster: string): Promise<string> {
  const { credentials, sha256 } = aws.client(STSClient).config;
  const signer = new SignatureV4({ service: "sts", region: aws.region, credentials, sha256 });
  const hostname = `sts.${aws.region}.${aws.dnsSuffix}`;
  const request = {
    method: "GET",
    protocol: "https:",
    hostname,
    path: "/",
    query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
    headers: { host: hostname, "x-k8s-aws-id": cluster },
  };
  const unhoistableHeaders = new Set(["x-k8s-aws-id"]);
  const { query = {} } = await signer.presign(request, { expiresIn: LIFETIME, unhoistableHeaders });
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const url = `https://${hostname}/?${parameters.join("&")}`;
  return `k8s-aws-v1.${Buffer.from(url).toString("base64url")}`;
}

/** What only the connection Secret shows. */
const hidden = { crd: null } as const;

/** A kubeconfig (JSON is YAML) with one context, named like the cluster. */
function kubeconfig(name: string, endpoint: string, authority: string, userToken: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server: endpoint, "certificate-authority-data": authority } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: { token: userToken } }],
  });
}

export const clusterAuth = define({
  token: "crossplane:eks/clusterAuth:ClusterAuth",
  crossplane: {
    kind: "eks/ClusterAuth",
    bare: true,
    connection: ({ kubeconfig, endpoint, authority }) => ({
      kubeconfig: String(kubeconfig),
      endpoint: String(endpoint),
      clusterCA: String(authority),
    }),
    pollMs: ({ refreshPeriod }) => (duration(String(refreshPeriod)) ?? 600_000) / 2,
  },
  idOf: ({ clusterName }) => clusterName as string | undefined,
  case: "camel",
  fields: {
    clusterName: { fixed },
    refreshPeriod: { unread: true, crdDefault: "10m0s" },
    lastRefreshTime: out(undefined, { format: "date-time" }),
    endpoint: out(undefined, hidden),
    authority: out(undefined, hidden),
    kubeconfig: out(undefined, hidden),
  },
  create: (_aws, _request, { clusterName }) =>
    Promise.reject(new Error(`the EKS cluster ${clusterName} does not exist or has no endpoint yet`)),
  // Every look renews the token: the kind is polled twice in its refresh period.
  async find(aws, id) {
    const cluster = await find(aws, id);
    if (!cluster) return undefined;
    const { endpoint = "", certificateAuthority } = cluster;
    const authority = certificateAuthority?.data ?? "";
    return {
      clusterName: id,
      endpoint,
      authority: Buffer.from(authority, "base64").toString("utf8"),
      kubeconfig: kubeconfig(id, endpoint, authority, await token(aws, id)),
      lastRefreshTime: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    };
  },
  delete: () => Promise.resolve(),
});
