import type { STSClientResolvedConfig } from "@aws-sdk/client-sts";
import { SignatureV4 } from "@smithy/signature-v4";

/** For what, and with which credentials, a token is made. */
export interface TokenRequest extends Pick<STSClientResolvedConfig, "credentials" | "sha256"> {
  /** Name of the EKS cluster. */
  readonly cluster: string;
  readonly region: string;
  /** Host of STS in the region. */
  readonly hostname: string;
}

/** Seconds; EKS takes no token that is older (Amazon EKS User Guide, "Identity and access management"). */
const LIFETIME = 900;

/**
 * A token for the API server of an EKS cluster, as `aws eks get-token` makes it and without a program for each cluster: a signed
 * GetCallerIdentity that names the cluster (aws-iam-authenticator's form).
 */
export async function eksToken({ cluster, region, hostname, credentials, sha256 }: TokenRequest): Promise<string> {
  const signer = new SignatureV4({ service: "sts", region, credentials, sha256 });
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
