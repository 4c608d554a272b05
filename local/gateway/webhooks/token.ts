import type { Forward } from "../aws/forward.ts";
import { accessGroup } from "../eks/cluster-objects/access.ts";
import type { AccessEntryRecord, ClusterRecord } from "../eks/model.ts";
import { parsePrincipal, parseSession } from "../eks/principals.ts";

const PREFIX = "k8s-aws-v1.";
/** How long an EKS token is good (aws-iam-authenticator: 15 minutes), and how far clocks may differ, in seconds. */
const LIFETIME_SECONDS = 900;
const SKEW_SECONDS = 60;
/** The hosts of STS that a token may have been signed for. */
const STS_HOST = /^sts(-fips)?(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?$|^sts\.[a-z0-9-]+\.api\.aws$/;

/** EKS would refuse the token; the message says why. */
export class TokenRefused extends Error {}

/** The presigned sts:GetCallerIdentity URL in a token, after every check that needs no STS. Throws TokenRefused. */
export function presignedUrl(token: string, options: { gatewayHost: string; now: Date }): URL {
  if (!token.startsWith(PREFIX))
    throw new TokenRefused(`the token does not begin with ${PREFIX}: it is not an EKS token`);
  const url = parseUrl(Buffer.from(token.slice(PREFIX.length), "base64url").toString("utf8"));
  if (!(url.protocol === "https:" && STS_HOST.test(url.host)) && url.host !== options.gatewayHost)
    throw new TokenRefused(`the token was signed for ${url.host}, which is not an STS endpoint`);
  if (url.pathname !== "/") throw new TokenRefused(`the token's URL has the path ${url.pathname}, allowed is /`);
  expectQuery(url.searchParams);
  const signedAt =
    Date.parse(
      (url.searchParams.get("X-Amz-Date") ?? "").replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5"),
    ) / 1000;
  const now = options.now.getTime() / 1000;
  if (!(signedAt <= now + SKEW_SECONDS))
    throw new TokenRefused("X-Amz-Date of the token is missing or lies in the future");
  if (signedAt + LIFETIME_SECONDS < now)
    throw new TokenRefused("the token has expired: EKS tokens are good for 15 minutes");
  return url;
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new TokenRefused("the token does not hold a URL");
  }
}

const ALLOWED_QUERY =
  /^(Action|Version|X-Amz-(Algorithm|Credential|Date|Expires|Security-Token|Signature|SignedHeaders|user-agent))$/i;

function expectQuery(query: URLSearchParams): void {
  for (const name of new Set(query.keys())) {
    if (!ALLOWED_QUERY.test(name))
      throw new TokenRefused(`the token's URL has the parameter ${name}, which is not allowed`);
    if (query.getAll(name).length > 1) throw new TokenRefused(`the token's URL has ${name} more than once`);
  }
  if (query.get("Action") !== "GetCallerIdentity") throw new TokenRefused("the token's URL is not a GetCallerIdentity");
  if (!(query.get("X-Amz-SignedHeaders") ?? "").split(";").includes("x-k8s-aws-id"))
    throw new TokenRefused("x-k8s-aws-id is not among the signed headers: the token names no cluster");
  const expires = Number(query.get("X-Amz-Expires") ?? 0);
  if (!(expires >= 0 && expires <= LIFETIME_SECONDS))
    throw new TokenRefused(`X-Amz-Expires of the token: allowed are 0 to ${LIFETIME_SECONDS}`);
}

/** Asks ministack's STS whose token it is, with the cluster's name as the signed header. Rejects with TokenRefused. */
async function callerOf(url: URL, cluster: string, forward: Forward) {
  const answer = await forward({
    method: "GET",
    url: `${url.pathname}${url.search}`,
    rawHeaders: ["Host", url.host, "x-k8s-aws-id", cluster],
    headers: {},
    body: Buffer.alloc(0),
  });
  const xml = answer.body.toString();
  const element = (name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "";
  if (answer.status !== 200) throw new TokenRefused(`STS refused the token: ${element("Code")} ${element("Message")}`);
  return { arn: element("Arn"), userId: element("UserId"), account: element("Account") };
}

/** The Kubernetes user of a caller by the cluster's access entries. Throws TokenRefused where no entry is for it. */
export function userOf(record: ClusterRecord, caller: Awaited<ReturnType<typeof callerOf>>, accessKeyId: string) {
  const session = parseSession(caller.arn);
  const found = entryFor(record, caller.arn);
  if (found === undefined)
    throw new TokenRefused(`cluster ${record.cluster.name} has no access entry for ${caller.arn}`);
  const { entry, policies, roleId } = found;
  const callerId = caller.userId.split(":")[0] ?? "";
  if (roleId !== undefined && roleId !== callerId)
    throw new TokenRefused(
      `the access entry of ${entry.principalArn} was made for a former role of this ARN (${roleId}), not for ${callerId}: delete it and create it again`,
    );
  if (entry.type !== "STANDARD")
    throw new TokenRefused(
      `the access entry of ${entry.principalArn} is of type ${entry.type}: nodes have certificates here`,
    );
  const raw = session?.session ?? "";
  const username = entry.username
    .replaceAll("{{SessionNameRaw}}", raw)
    // An "@" is not part of a user name here, as in aws-iam-authenticator.
    .replaceAll("{{SessionName}}", raw.replaceAll("@", "-"))
    .replaceAll("{{AccountID}}", caller.account);
  return {
    username,
    uid: `aws-iam-authenticator:${caller.account}:${callerId}`,
    groups: [...new Set([...entry.kubernetesGroups, ...policies.map(accessGroup)])],
    extra: {
      accessKeyId: [accessKeyId],
      arn: [caller.arn],
      canonicalArn: [entry.principalArn],
      principalId: [caller.userId],
      sessionName: [raw],
    },
  };
}

/** A session belongs to its role; names of roles are unique in an account whatever their path. */
function entryFor(record: ClusterRecord, arn: string): AccessEntryRecord | undefined {
  const session = parseSession(arn);
  if (session === undefined) return record.accessEntries[arn];
  return Object.values(record.accessEntries).find(({ entry }) => {
    const principal = parsePrincipal(entry.principalArn);
    return principal?.kind === "role" && principal.name === session.role && principal.account === session.account;
  });
}

/** Answers a TokenReview of a cluster's API server. */
export async function reviewToken(
  body: unknown,
  cluster: ClusterRecord | undefined,
  options: { forward: Forward; gatewayHost: string; now: Date },
): Promise<object> {
  const review = body as { apiVersion?: string; spec?: { token?: string } };
  const answer = (status: object): object => ({
    apiVersion: review.apiVersion ?? "authentication.k8s.io/v1",
    kind: "TokenReview",
    status,
  });
  try {
    if (cluster === undefined) throw new TokenRefused("there is no such cluster");
    const url = presignedUrl(review.spec?.token ?? "", options);
    const caller = await callerOf(url, cluster.cluster.name, options.forward);
    const accessKeyId = (url.searchParams.get("X-Amz-Credential") ?? "").split("/")[0] ?? "";
    return answer({ authenticated: true, user: userOf(cluster, caller, accessKeyId) });
  } catch (error) {
    if (error instanceof TokenRefused) return answer({ authenticated: false, error: error.message });
    throw error;
  }
}
