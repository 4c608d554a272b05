import { type Condition, type PolicyDocument, policy, type Scope } from "./policy.ts";

/**
 * What assumes a role with session tags. A session of EKS Pod Identity has some, and they are transitive: each further role of its chain must
 * let them in, and the one before may only then pass them on (IAM User Guide, "Pass session tags in AWS STS"; EKS User Guide, "Grant Pods access
 * to AWS resources based on tags").
 */
export const assumeWithTags = ["sts:AssumeRole", "sts:TagSession"] as const;

/** Trust policy of a role that an AWS service assumes, e.g. `eks.amazonaws.com`, perhaps for some of its callers only. */
export function serviceTrust(
  service: string,
  actions: readonly string[] = ["sts:AssumeRole"],
  condition?: Condition,
): PolicyDocument {
  const trusted = { Effect: "Allow", Principal: { Service: service }, Action: actions } as const;
  return policy(condition === undefined ? trusted : { ...trusted, Condition: condition });
}

/**
 * Trust policy of a role that other roles of one account assume. The condition names them, not the principal: as a principal AWS would
 * keep the ID of the role that exists now, and no longer trust one that is made again under its name (IAM User Guide, "AWS JSON policy
 * elements: Principal"). The role that assumes it may have its session by EKS Pod Identity.
 */
export function roleTrust(
  { partition, accountId }: Pick<Scope, "partition" | "accountId">,
  roleArns: readonly string[],
): PolicyDocument {
  return policy({
    Effect: "Allow",
    Principal: { AWS: `arn:${partition}:iam::${accountId}:root` },
    Action: assumeWithTags,
    Condition: { ArnEquals: { "aws:PrincipalArn": oneOrAll(roleArns) } },
  });
}

/** An IAM OIDC provider: its ARN and the issuer URL as the cluster reports it, with or without `https://`. */
export interface OidcIssuer {
  readonly providerArn: string;
  readonly issuer: string;
}

/** A Kubernetes service account. */
export interface ServiceAccountRef {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** The service accounts of one namespace that have the same role: one, or several. */
export interface RoleSubject {
  readonly namespace: string;
  readonly serviceAccount: string | readonly string[];
}

/** Each service account of a subject. */
export const accountsOf = ({ namespace, serviceAccount }: RoleSubject): readonly ServiceAccountRef[] =>
  [serviceAccount].flat().map((name) => ({ namespace, serviceAccount: name }));

/** The only audience of web identity tokens that STS accepts. */
export const stsAudience = "sts.amazonaws.com";

// RFC 1123: what Kubernetes accepts as the name of a namespace (label) and of a service account (subdomain).
const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const namespacePattern = new RegExp(`^${label}$`);
const serviceAccountPattern = new RegExp(`^${label}(\\.${label})*$`);

/** One value as IAM returns it, without a list. */
const oneOrAll = ([first = "", ...others]: readonly string[]) => (others.length === 0 ? first : [first, ...others]);

function expectNames({ namespace, serviceAccount }: ServiceAccountRef): void {
  if (!namespacePattern.test(namespace) || namespace.length > 63) {
    throw new RangeError(`namespace ${JSON.stringify(namespace)} is not a Kubernetes namespace name (RFC 1123 label)`);
  }
  if (!serviceAccountPattern.test(serviceAccount) || serviceAccount.length > 253) {
    throw new RangeError(
      `service account ${JSON.stringify(serviceAccount)} is not a Kubernetes name (RFC 1123 subdomain)`,
    );
  }
}

/**
 * Trust policy of a role that service accounts assume: exact subjects and exact audience.
 * The condition keys come from the issuer: its host differs between partitions, regions and IP families.
 * @throws RangeError for a name that is not a Kubernetes name, an issuer without a host, or a provider of another issuer.
 */
export function serviceAccountTrust(issuer: OidcIssuer, subject: RoleSubject): PolicyDocument {
  const accounts = accountsOf(subject);
  accounts.forEach(expectNames);
  const subjects = accounts.map((account) => `system:serviceaccount:${account.namespace}:${account.serviceAccount}`);
  const host = issuer.issuer.replace(/^https:\/\//, "");
  if (!/^[a-z0-9.-]+(\/[A-Za-z0-9./_-]*)?$/.test(host)) {
    throw new RangeError(`issuer ${JSON.stringify(issuer.issuer)} is not an https URL of an OIDC issuer`);
  }
  if (!issuer.providerArn.endsWith(`:oidc-provider/${host}`)) {
    throw new RangeError(`OIDC provider ${issuer.providerArn} is not the provider of issuer ${host}`);
  }
  return policy({
    Effect: "Allow",
    Principal: { Federated: issuer.providerArn },
    Action: ["sts:AssumeRoleWithWebIdentity"],
    Condition: {
      StringEquals: {
        [`${host}:sub`]: oneOrAll(subjects),
        [`${host}:aud`]: stsAudience,
      },
    },
  });
}

/** The service that assumes roles for pods by EKS Pod Identity: their trust policies and `iam:PassedToService` name it. */
export const podIdentityService = "pods.eks.amazonaws.com";

/**
 * Trust policy of a role that the pods of a subject of one cluster get by EKS Pod Identity. An association alone would let in any
 * service account: the tags with which EKS asks for the session say whose it is (EKS User Guide, "Create IAM role with trust policy required
 * by EKS Pod Identity", and "Grant Pods access to AWS resources based on tags").
 * @throws RangeError for a name that is not a Kubernetes name.
 */
export function podIdentityTrust(clusterArn: string, subject: RoleSubject): PolicyDocument {
  const accounts = accountsOf(subject);
  accounts.forEach(expectNames);
  return serviceTrust(podIdentityService, assumeWithTags, {
    StringEquals: {
      "aws:RequestTag/eks-cluster-arn": clusterArn,
      "aws:RequestTag/kubernetes-namespace": subject.namespace,
      "aws:RequestTag/kubernetes-service-account": oneOrAll(accounts.map(({ serviceAccount }) => serviceAccount)),
    },
  });
}
