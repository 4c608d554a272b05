import { describe, expect, it } from "vitest";
import { addonBoundary } from "../../../lib/iam/addons.ts";
import { spokeBoundary } from "../../../lib/iam/boundary.ts";
import { clusterApiPolicy } from "../../../lib/iam/cluster-api.ts";
import { clusterApiBoundary } from "../../../lib/iam/cluster-api-boundary.ts";
import { providerPolicies } from "../../../lib/iam/crossplane.ts";
import { arns, type PolicyDocument, policy } from "../../../lib/iam/policy.ts";
import { spokeCrossplanePolicy, tenantBoundary } from "../../../lib/iam/tenants.ts";
import { serviceAccountTrust } from "../../../lib/iam/trust.ts";
import { secretReaderPolicy, spokeViewerPolicy } from "../../../lib/iam/workloads.ts";
import { clusterApiMaker, identityTag, madeByTag, principalTags } from "../../../lib/labels.ts";
import { trusts } from "../../support/iam.ts";
import { type Attack, effective, permits, type Session } from "../../support/iam-effective.ts";
import { crossplaneRights } from "../../support/iam-policies.ts";
import {
  account,
  applications,
  clusterApiTags,
  databasesOf,
  databaseTags,
  iam,
  role,
  secret,
  secretsKey,
  spokes,
  spokeTags,
  targets,
} from "./estate.ts";

const boundaryArn = iam("policy/fleet-boundary");
const tenantBoundaryArn = iam("policy/fleet-tenant-boundary");
const addonBoundaryArn = iam("policy/fleet-addon-boundary");
const clusterApiBoundaryArn = iam("policy/fleet-cluster-api-boundary");
const provider = (cluster: string) => iam(`oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/${cluster}`);
const boundary = spokeBoundary({ ...account, fleet: "fleet", tenantBoundaryArn });
const tenants = tenantBoundary(account);
const addons = addonBoundary({ ...account, fleet: "fleet" }, [
  { actions: ["route53:ChangeResourceRecordSets"], resources: ["*"] },
]);
const ofClusterApiRoles = clusterApiBoundary({ ...account, fleet: "fleet" });
const everything = policy({ Effect: "Allow", Action: ["*"], Resource: ["*"] });

const reader = (...names: readonly string[]) =>
  secretReaderPolicy({
    secretArns: names.map(secret),
    keyArn: secretsKey,
    region: "us-east-1",
    dnsSuffix: "amazonaws.com",
  });

const onHub = (name: string, own: PolicyDocument): Session => ({
  roleArn: role(`fleet-hub-${name}`),
  tags: { "fleet.internal/fleet": "fleet", "fleet.internal/cluster": "hub" },
  policy: own,
});
const onSpoke = (spoke: string, name: string, own: PolicyDocument): Session => ({
  roleArn: role(`fleet-spoke-${spoke}-${name}`),
  tags: {
    ...spokeTags(spoke),
    [identityTag]: name,
    ...(name === "crossplane" ? databaseTags(`fleet-spoke-${spoke}`) : {}),
  },
  policy: own,
  boundary,
});
const ofClusterApi = (identity: string, spoke = "coral"): Session => ({
  roleArn: role(`fleet-spoke-${spoke}.${identity}`),
  tags: { ...clusterApiTags(spoke), [identityTag]: identity },
  policy: everything,
  boundary: ofClusterApiRoles,
});
const ofApplication = (spoke: string, app: string, own: PolicyDocument): Session => ({
  roleArn: role(`fleet-spoke-${spoke}_${app}`),
  tags: { [principalTags.cluster]: `fleet-spoke-${spoke}`, [principalTags.namespace]: app },
  policy: own,
  boundary: tenants,
});

const viewer = spokeViewerPolicy(account, "fleet-spoke-");
const maker = { ...account, fleet: "fleet", dnsSuffix: "amazonaws.com", spokePrefix: "fleet-spoke-" };
const ofCrossplane = { ...maker, boundaryArn, hubOidcProviderArn: provider("HUB") };
const providers = Object.fromEntries(
  Object.entries(providerPolicies(ofCrossplane)).map(([service, own]) => [
    service,
    onHub(`crossplane-${service}`, own),
  ]),
);
const hub = {
  crossplane: onHub("crossplane", crossplaneRights(ofCrossplane)),
  "cluster-api": onHub(
    "cluster-api",
    clusterApiPolicy({
      ...{ ...maker, boundaryArn: clusterApiBoundaryArn },
      keyArn: "arn:aws:kms:us-east-1:000000000000:key/cluster-api",
    }),
  ),
  "external-secrets": onHub(
    "external-secrets",
    reader("fleet/git/gitops-system", "fleet/git/receivers/hub", "fleet/hub-sealing-keys/cluster-hub/1"),
  ),
  "kustomize-controller": onHub("kustomize-controller", viewer),
  "helm-controller": onHub("helm-controller", viewer),
};

/** The identities of a spoke of environment dev. What AWS's managed policies give is taken to be everything. */
const ofSpoke = (spoke: string) => ({
  crossplane: onSpoke(
    spoke,
    "crossplane",
    spokeCrossplanePolicy({
      ...account,
      cluster: `fleet-spoke-${spoke}`,
      tenantBoundaryArn,
      buckets: true,
      databases: { prefix: databasesOf(`fleet-spoke-${spoke}`), removal: false },
    }),
  ),
  "external-secrets": onSpoke(
    spoke,
    "external-secrets",
    reader("fleet/sealing-keys/dev/1", `fleet/git/spokes/${spoke}`),
  ),
  cluster: onSpoke(spoke, "cluster", everything),
  node: onSpoke(spoke, "node", everything),
  "aws-ebs-csi-driver": onSpoke(spoke, "aws-ebs-csi-driver", everything),
});
const blue = ofSpoke("blue");
const green = ofSpoke("green");

const clusterTags = [
  ...["fleet-spoke-blue", "fleet-spoke-blue-2", "fleet-spoke-green", "fleet-hub", "other-spoke-blue", "shop", ""],
];
const namespaces = ["billing", "payment-eu", ""];
const tagsOf = (cluster: string, namespace: string, identity: string) => ({
  [principalTags.cluster]: cluster,
  [principalTags.namespace]: namespace,
  [identityTag]: identity,
});
const attack: Attack = {
  roleArns: [
    ...Object.keys(hub).map((name) => `fleet-hub-${name}`),
    "fleet-spoke-x",
    "fleet-spoke-green.node",
    "other-spoke-blue-x",
    "admin",
    ...["blue", "green", "blue-2"].flatMap((spoke) => [
      `fleet-spoke-${spoke}-crossplane`,
      `fleet-spoke-${spoke}`,
      `fleet-spoke-${spoke}_`,
      ...applications.map((app) => `fleet-spoke-${spoke}_${app}`),
      `fleet-spoke-${spoke}_payment-eu_x`,
    ]),
  ].map(role),
  makerTags: { [identityTag]: "node", [madeByTag]: clusterApiMaker },
  // The fleet's boundary asks for the identity, the tenants' for the namespace.
  tags: clusterTags.flatMap((cluster) => [
    ...["external-secrets", "cluster", "crossplane"].map((identity) => tagsOf(cluster, "payment", identity)),
    ...namespaces.map((namespace) => tagsOf(cluster, namespace, "crossplane")),
    ...["fleet-spoke-green", "other-spoke-blue", ""].map((of) => ({
      ...tagsOf(cluster, "payment", "crossplane"),
      ...databaseTags(of),
    })),
    { ...tagsOf(cluster, "payment", "crossplane"), ...databaseTags(cluster) },
  ]),
  boundaries: {
    [boundaryArn]: boundary,
    [tenantBoundaryArn]: tenants,
    [addonBoundaryArn]: addons,
    [clusterApiBoundaryArn]: ofClusterApiRoles,
  },
  attachable: ["AdministratorAccess", "AmazonEKSClusterPolicy", "IAMFullAccess"].map(arns(account).managedPolicy),
  existing: [
    ...[hub, blue, green].flatMap((roles): Session[] => Object.values(roles)),
    ...["cluster", "node"].map((identity) => ofClusterApi(identity)),
    onSpoke("multi-node-a", "crossplane", everything),
  ],
};

/** Whose things the session reaches, by itself or through roles; each owner with what was reached, if that is not all. */
function reached(session: Session): string[] {
  const sessions = effective(session, attack);
  return Object.entries(targets).flatMap(([owner, requests]) => {
    const open = requests.filter((request) => sessions.some((each) => permits(each, request)));
    if (open.length === 0) return [];
    if (open.length === requests.length) return [owner];
    return [`${owner}: ${open.map(({ action }) => action).join(", ")}`];
  });
}

const spokeParts = (spoke: string) => [
  `spoke ${spoke}`,
  `machines of ${spoke}`,
  `orders of ${spoke}`,
  `flow log of ${spoke}`,
  `Git credential of ${spoke}`,
  ...applications.map((app) => `${app} of ${spoke}`),
];

/**
 * The group that EKS made for a cluster carries EKS's tag alone. Only interfaces of its VPC can join it, and the interfaces and subnets there, of
 * which the same call is evaluated too, carry the fleet's tag.
 */
const groupsOf = (spoke: string) =>
  `machines of ${spoke}: ec2:CreateNetworkInterface, ec2:ModifyNetworkInterfaceAttribute`;

describe("through every role that it could make, take over or assume", () => {
  // By clusters the one for EKS reaches what their pods and nodes do, and by roles the one for IAM what it gives them.
  it.each(
    Object.entries({
      ec2: [
        "machines of blue: ec2:CreateTags, ec2:CreateTags, ec2:CreateTags, ec2:CreateTags",
        "machines of coral, which Cluster API made: ec2:CreateTags, ec2:CreateTags, ec2:CreateTags, ec2:CreateTags",
        "machines of green: ec2:CreateTags, ec2:CreateTags, ec2:CreateTags, ec2:CreateTags",
        "spoke blue: ec2:DeleteVpc, ec2:CreateSubnet, ec2:CreateRoute, ec2:AttachInternetGateway, ec2:CreateFlowLogs, ec2:DeleteFlowLogs, ec2:CreateLaunchTemplateVersion, ec2:ReleaseAddress",
        "spoke green: ec2:DeleteVpc, ec2:CreateSubnet, ec2:CreateRoute, ec2:AttachInternetGateway, ec2:CreateFlowLogs, ec2:DeleteFlowLogs, ec2:CreateLaunchTemplateVersion, ec2:ReleaseAddress",
      ],
      eks: [
        "Git credential of blue",
        "Git credential of green",
        "billing of blue",
        "billing of green",
        "flow log of blue",
        "flow log of green",
        "load balancers without a hub's tag",
        "machines of blue",
        "machines of coral, which Cluster API made",
        "machines of green",
        "orders of blue",
        "orders of green",
        "payment of blue",
        "payment of green",
        "payment-eu of blue",
        "roles of pods on spokes",
        "sealing keys of dev",
        "spoke blue: eks:CreateAccessEntry, eks:AssociateAccessPolicy, eks:DeleteCluster, ec2:RunInstances, kms:CreateGrant",
        "spoke green: eks:CreateAccessEntry, eks:AssociateAccessPolicy, eks:DeleteCluster, ec2:RunInstances, kms:CreateGrant",
        "the key of the fleet's secrets",
        "use of a shared network",
      ],
      iam: [
        "Git credential of blue",
        "Git credential of green",
        "billing of blue",
        "billing of green",
        "flow log of blue",
        "flow log of green",
        "load balancers without a hub's tag",
        "machines of blue",
        "machines of green",
        "orders of blue",
        "orders of green",
        "payment of blue",
        "payment of blue-2",
        "payment of green",
        "payment-eu of blue",
        "sealing keys of dev",
        "sealing keys of prod",
        "the key of the fleet's secrets",
        "use of a shared network",
      ],
      kms: [
        "spoke blue: kms:ScheduleKeyDeletion, kms:CreateAlias",
        "spoke green: kms:ScheduleKeyDeletion, kms:CreateAlias",
      ],
      logs: [],
    }),
  )(
    "Crossplane's provider for %s on the hub reaches what is of its service, and no other provider's role",
    (service, expected) => {
      expect(reached(providers[service] as Session).sort()).toEqual(expected);
    },
  );

  it("the providers of Crossplane on the hub together reach the fleet's spokes and what is theirs, and nothing of the hub, of another fleet or of other people", () => {
    expect(reached(hub.crossplane).sort()).toEqual(
      [
        ...spokes.flatMap(spokeParts),
        "payment of blue-2",
        "payment-eu of blue",
        "sealing keys of dev",
        "sealing keys of prod",
        "the key of the fleet's secrets",
        "load balancers without a hub's tag",
        "machines of coral, which Cluster API made",
        "roles of pods on spokes",
        "use of a shared network",
      ].sort(),
    );
  });

  it("Crossplane of a spoke reaches its own applications, and no other spoke, no key and no secret", () => {
    expect(reached(blue.crossplane).sort()).toEqual(
      ["orders of blue", "payment of blue", "billing of blue", "payment-eu of blue"].sort(),
    );
  });

  it.each([
    ["External Secrets of the hub", hub["external-secrets"], ["the hub's secrets", "the key of the fleet's secrets"]],
    ["kustomize-controller of the hub", hub["kustomize-controller"], []],
    ["helm-controller of the hub", hub["helm-controller"], []],
    [
      "External Secrets of a spoke",
      blue["external-secrets"],
      ["sealing keys of dev", "Git credential of blue", "the key of the fleet's secrets"],
    ],
    [
      "a node, were it given all rights",
      blue.node,
      ["machines of blue", "flow log of blue", "use of a shared network"],
    ],
    [
      "Cluster API on the hub, through any role, tag and node of its clusters",
      hub["cluster-api"],
      ["machines of coral, which Cluster API made", "load balancers without a hub's tag", ...spokes.map(groupsOf)],
    ],
    [
      "a node that Cluster API made, were it given all rights",
      ofClusterApi("node"),
      ["machines of coral, which Cluster API made"],
    ],
    ["a node that Cluster API made with another spoke's tag", ofClusterApi("node", "blue"), [groupsOf("blue")]],
    [
      "the volume driver, were it given all rights",
      blue["aws-ebs-csi-driver"],
      ["machines of blue", "flow log of blue", "use of a shared network"],
    ],
    [
      "a control plane, were it given all rights",
      blue.cluster,
      ["machines of blue", "flow log of blue", "load balancers without a hub's tag", "use of a shared network"],
    ],
    ["an application, were it given all rights", ofApplication("blue", "payment", everything), ["payment of blue"]],
  ])("%s reaches only what is its own", (_name, session, expected) => {
    const own = reached(session);
    expect(own.sort()).toEqual([...expected].sort());
  });
});

describe("who may be whom", () => {
  const roles = Object.entries({
    "external-secrets": { namespace: "flux-system", serviceAccount: "aws-secrets-manager" },
    "crossplane-iam": { namespace: "crossplane-system", serviceAccount: "provider-aws-iam" },
  });
  const sub = (namespace: string, name: string) => `system:serviceaccount:${namespace}:${name}`;

  it.each(roles)("%s of the hub is assumed by its own service account on the hub only", (_name, subject) => {
    const issuer = "oidc.eks.us-east-1.amazonaws.com/id/HUB";
    const trust = serviceAccountTrust({ providerArn: provider("HUB"), issuer }, subject);
    const claims = (name: string, audience = "sts.amazonaws.com", from = issuer) => ({
      [`${from}:sub`]: sub(subject.namespace, name),
      [`${from}:aud`]: audience,
    });
    expect(trusts(trust, provider("HUB"), claims(subject.serviceAccount))).toBe(true);
    expect(trusts(trust, provider("HUB"), claims("default"))).toBe(false);
    expect(trusts(trust, provider("HUB"), claims(subject.serviceAccount, "kubernetes"))).toBe(false);
    const other = issuer.replace("HUB", "BLUE");
    expect(trusts(trust, provider("BLUE"), claims(subject.serviceAccount, "sts.amazonaws.com", other))).toBe(false);
  });
});
