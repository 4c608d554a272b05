import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { describeConfigProblems, readConfig, supportNotice } from "../../infra/config.ts";
import { keys } from "../../infra/settings.ts";
import { type ConfigText, committedConfig, defaultConfig, project, stackConfig } from "../support/program.ts";
import { besideReserved, beyondLimit, refused, withinLimit } from "../support/public-networks.ts";

const own = (key: string) => `${project}:${key}`;

/** The problems that `changes` make in the dev stack; undefined removes a key. */
function problems(
  changes: Record<string, string | undefined>,
  options: { secrets?: string[]; region?: string | undefined } = { region: "us-east-1" },
) {
  const values: ConfigText = { ...stackConfig("dev") };
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) delete values[own(key)];
    else values[own(key)] = value;
  }
  const isSecret = (key: string) => (options.secrets ?? []).map(own).includes(key);
  return readConfig({ project, values, isSecret, region: options.region }).problems;
}

const region = { region: "us-east-1" };
const ssh = "ssh://git@git.example:2222/a.git";

const pkcs8 = { format: "pem", type: "pkcs8" } as const;
const rsaKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(pkcs8).toString();
const ellipticKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(pkcs8).toString();

/** A sealing key that no state has, with a certificate of anybody's. */
const former = {
  ...{ scope: "dev", generation: "0", certificate: rootCertificates[0] ?? "" },
  arn: "arn:aws:secretsmanager:eu-central-1:111111111111:secret:fleet-dev/sealing-keys/dev/0-AbCdEf",
};

const volumeKeys = (...ids: readonly number[]) =>
  JSON.stringify(ids.map((id) => `arn:aws:kms:us-east-1:111122223333:key/${id}234abcd-12ab-34cd-56ef-1234567890ab`));

/** The value of the blamed key, or what else is changed in a good configuration, and a part of the message. */
type Fault = readonly [fault: string, change: string | undefined | Record<string, string | undefined>, message: string];

/** By the key that is blamed. */
const faults: Record<string, readonly Fault[]> = {
  volumeKeys: [
    ["a key for volumes that is an alias", '["alias/ebs"]', "not of an alias"],
    ["a key for volumes twice", volumeKeys(1, 1), "names a key twice"],
    [
      "a first key for volumes of another region",
      volumeKeys(1).replaceAll("us-east-1", "eu-west-1"),
      "begins with a key of another region than the hub's",
    ],
    [
      "more keys for volumes than a boundary has room for",
      volumeKeys(1, 2, 3, 4, 5, 6, 7, 8),
      "makes the fleet's permissions boundary too long for IAM",
    ],
  ],
  logKey: [
    ["a key for logs that is an alias", "alias/logs", "not of an alias"],
    [
      "a key for logs of another region",
      "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
      "is a key of another region than the hub's log groups",
    ],
  ],
  accounts: [
    [
      "a key for volumes of another account that is an alias",
      '[{"id":"333333333333","scopes":["dev"],"volumeKeys":["alias/ebs"]}]',
      "volumeKeys: [<ARN of a KMS key>",
    ],
    [
      "an account without the scopes that it may read",
      '[{"id":"333333333333","regions":["eu-west-1"]}]',
      "scopes: [<environment or cluster-<spoke>>, …]",
    ],
    ["an account with no scope", '[{"id":"333333333333","scopes":[]}]', "a list of {id"],
    ["an account with a scope of another form", '[{"id":"333333333333","scopes":["dev/*"]}]', "a list of {id"],
  ],
  "tags.Environment": [["a tag that is the fleet's own", '{"Environment":"prod"}', "of a controller"]],
  "tags.a=b": [["a tag that a controller can't take", '{"a=b":"c"}', "has a key that not every AWS service"]],
  tags: [["a tag whose value is a number", '{"cost-center":4711}', "values that look like numbers in quotes"]],
  vpcCidr: [
    ["a VPC block with host bits", "10.0.0.1/16", "has a value that is not allowed"],
    ["a VPC block that is too large", "10.0.0.0/8", "from /16 to /24"],
    ["a key that was removed", undefined, "is missing"],
  ],
  "privateSubnetCidrs[1]": [
    ["overlapping subnets", '["10.0.0.0/18","10.0.32.0/19"]', "overlaps privateSubnetCidrs[0]"],
    ["a subnet outside the VPC", '["10.0.0.0/18","10.1.0.0/18"]', "is not inside the VPC"],
  ],
  "publicSubnetCidrs[0]": [
    [
      "a private subnet that overlaps a public one",
      { privateSubnetCidrs: '["10.0.0.0/18","10.0.64.0/18"]', publicSubnetCidrs: '["10.0.64.0/20","10.0.128.0/20"]' },
      "overlaps privateSubnetCidrs[1]",
    ],
  ],
  "publicSubnetCidrs[1]": [
    ["a subnet that is too small", '["10.0.0.0/28","10.0.0.16/29"]', "has a size that EC2 refuses"],
  ],
  grafanaAdminGroups: [
    [
      "the name of a group in place of its ID",
      { metrics: "amp", grafana: "amg", grafanaAdminGroups: '["platform"]' },
      "has a value that is not allowed",
    ],
  ],
  grafanaAuthentication: [["a way to sign in that AWS doesn't have", "OIDC", "AWS_SSO, SAML"]],
  spokeCidrPool: [
    ["a pool that overlaps the VPC", "10.0.0.0/8", "overlaps the hub's VPC"],
    ["a pool smaller than a spoke's network", "10.64.0.0/19", "each spoke takes a /18"],
  ],
  serviceIpv4Cidr: [
    [
      "a block for Services that EKS rejects",
      "100.64.0.0/16",
      "from /12 to /24 inside 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16",
    ],
    ["Services in the VPC", "10.0.128.0/20", "overlaps vpcCidr"],
    ["Services in the pool", "10.64.0.0/16", "overlaps spokeCidrPool"],
  ],
  availabilityZones: [
    ["fewer zone names than zones", '["eu-central-1a"]', "does not have one item for each zone"],
    ["a zone twice", '["eu-central-1a","eu-central-1a"]', "names a zone twice"],
  ],
  zones: [["one zone", "1", "2 or 3"]],
  nodeMin: [["a word where a number belongs", "two", "a whole number"]],
  natGateways: [["an unknown NAT strategy", "many", "single, per-zone, none"]],
  privateSubnetIds: [
    ["an existing VPC without subnets", { vpcId: "vpc-0123456789abcdef0" }, "has too few subnets"],
    [
      "subnet ids without a VPC",
      '["subnet-0123456789abcdef0","subnet-0123456789abcdef1"]',
      "belongs to an existing VPC",
    ],
  ],
  kubernetesVersion: [["an unknown Kubernetes version", "1.20", "1.35, 1.36"]],
  endpointPrivateAccess: [
    [
      "no endpoint",
      { endpointPublicAccess: "false", endpointPrivateAccess: "false" },
      "leaves the cluster without an endpoint",
    ],
  ],
  endpointPublicAccessCidrs: [
    ["a public endpoint for nobody", "[]", "names no address"],
    ["a public endpoint for everybody", '["5.6.7.0/24","0.0.0.0/0"]', "whole Internet"],
    [
      "a list with a wrong item, by a command that can be pasted",
      '["100.64.0.0/33"]',
      "pulumi config set --path 'endpointPublicAccessCidrs[0]' \\\"$(curl -s https://checkip.amazonaws.com)/32\\\"",
    ],
    ...beyondLimit.map(
      ({ title, cidrs, addresses }): Fault => [
        `a public endpoint for ${title}`,
        JSON.stringify(cidrs),
        addresses === 2 ** 32 ? "whole Internet" : `opens the Kubernetes API to ${addresses} public addresses`,
      ],
    ),
  ],
  nodeDesired: [["more nodes wanted than allowed", "9", "nodeMin <= nodeDesired <= nodeMax"]],
  nodeInstanceTypes: [
    ["x86 nodes with an ARM image", '["m7g.large","m6i.large"]', "another processor"],
    ["no instance type", "[]", "names no instance type"],
  ],
  clusterAdmins: [
    ["an administrator who is a session", '["arn:aws:sts::111111111111:assumed-role/a/b"]', "not of an sts session"],
    [
      "an administrator twice",
      '["arn:aws:iam::111111111111:role/a","arn:aws:iam::111111111111:role/a"]',
      "names a principal twice",
    ],
  ],
  clusterViewers: [
    [
      "a viewer who is an administrator",
      {
        clusterAdmins: '["arn:aws:iam::111111111111:role/a"]',
        clusterViewers: '["arn:aws:iam::111111111111:role/b","arn:aws:iam::111111111111:role/a"]',
      },
      "names an administrator of the hub",
    ],
    [
      "a viewer twice",
      '["arn:aws:iam::111111111111:role/a","arn:aws:iam::111111111111:role/a"]',
      "names a principal twice",
    ],
  ],
  sealingKeys: [
    [
      "two active generations",
      '[{"scope":"dev","generation":"1","active":true},{"scope":"dev","generation":"2","active":true}]',
      "has 2 active generations for scope dev",
    ],
    [
      "no active generation",
      '[{"scope":"dev","generation":"1","active":false}]',
      "has no active generation for scope dev",
    ],
    [
      "a generation twice",
      '[{"scope":"dev","generation":"1","active":true},{"scope":"dev","generation":1,"active":false}]',
      "has a generation twice",
    ],
    [
      "a sealing key of a cluster that no Spoke can be",
      '[{"scope":"cluster-cluster-a","generation":"1","active":true}]',
      "has the scope of a cluster whose name is not allowed",
    ],
    [
      "a sealing key with an unknown member",
      '[{"scope":"dev","generation":"1","active":true,"colour":"red"}]',
      "a list of {scope",
    ],
  ],
  environment: [
    [
      "an environment that reads like a cluster's own sealing scope",
      "cluster-blue",
      "begins like the sealing scope of a single cluster",
    ],
  ],
  formerSealingKeys: [
    [
      "a former sealing key with its private half",
      JSON.stringify([{ ...former, certificate: `${former.certificate}\n${ellipticKey}` }]),
      "and no private key",
    ],
    [
      "a former sealing key whose certificate is none",
      JSON.stringify([{ ...former, certificate: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" }]),
      "as fleet adopt-hub prints it",
    ],
    [
      "a former sealing key by its name alone",
      JSON.stringify([{ ...former, arn: "fleet-dev/sealing-keys/dev/0" }]),
      "whole ARN of its secret",
    ],
    ["a former sealing key that is to seal", JSON.stringify([{ ...former, active: true }]), "a list of {scope"],
  ],
  serviceQuotas: [
    ["quotas without a workspace that evaluates alerts", '{"vpcs":20}', "has no effect without a workspace"],
    ["a quota that nobody counts", '{"subnets":5}', "vpcs (VPCs per Region)"],
    ["a quota of nothing", '{"vpcs":0}', "a whole number above 0"],
    ["a quota that is text", '{"vpcs":"many"}', "a whole number above 0"],
    ["quotas as a list", "[5]", "an object with"],
  ],
  secretRecoveryWindowDays: [["a secret deleted after three days", "3", "0, or 7 to 30"]],
  kmsDeletionWindowDays: [["a key deleted at once", "0", "7 to 30"]],
  logRetentionDays: [["a retention that CloudWatch lacks", "31", "30, 60"]],
  nodeReleaseVersion: [
    ["no release of nodes", "latest", "a release of the EKS optimized AMIs"],
    [
      "a release of nodes for another Kubernetes version",
      { kubernetesVersion: "1.36", nodeReleaseVersion: "1.35.4-20261101" },
      "is a release for another Kubernetes version",
    ],
  ],
  logTypes: [["a log that EKS does not write", '["kubelet"]', "api, audit, authenticator"]],
  fleet: [
    ["a fleet name too long for a role", "f".repeat(41), "at most 64 characters"],
    ["a fleet name too long for a node group", "f".repeat(54), "at most 63 characters"],
    ["a fleet name with a reserved word", "a-spoke", "tells hub and spoke names apart"],
    ["a fleet name in capitals", "Fleet", "lower-case letters"],
  ],
  gitKnownHosts: [
    ["missing known_hosts", "", "has no key of the Git host github.com"],
    ["known_hosts of another host", "gitlab.com ssh-ed25519 AAAA", "has no key of the Git host github.com"],
    [
      "known_hosts without the port",
      { gitopsSystemRepoUrl: ssh, gitKnownHosts: "github.com,git.example ssh-ed25519 AAAA" },
      "[git.example]:2222",
    ],
  ],
  gitopsSystemRepoUrl: [
    ["no Git URL", "", "is not set"],
    ["a Git URL in scp form", "git@github.com:a/b.git", "ssh://user@host/path.git"],
    [
      "a Git URL with a password, which would stand in the cluster secret",
      { gitAuthentication: "token", gitopsSystemRepoUrl: "https://ci:pass@github.com/a/b.git" },
      "https://***@github.com/a/b.git",
    ],
    ["an HTTPS URL with deploy keys", "https://github.com/a/b.git", "does not fit gitAuthentication deploy-key"],
  ],
  functionPackage: [
    ["a function package with a tag", "ghcr.io/a/function-spoke:v1.0.0", "a tag"],
    ["a function package with a tag and a digest", `ghcr.io/a/function-spoke:v1.0.0@sha256:${"1".repeat(64)}`, "a tag"],
    ["a function package with half a digest", "ghcr.io/a/function-spoke@sha256:1234", "64 hexadecimal digits"],
    ["a function package of a Docker Hub user", "a/function-spoke", "host/path"],
    ["a function package in capitals", "ghcr.io/Org/function-spoke", "lower case"],
  ],
  chartsRegistry: [
    ["a chart mirror with a password", "https://ci:pass@registry.example.com", "https://***@registry.example.com"],
    ["a chart mirror without a scheme", "registry.example.com", "oci://host/path"],
    [
      "a chart mirror in Amazon ECR at https://",
      "https://111111111111.dkr.ecr.eu-central-1.amazonaws.com/charts",
      "pulumi config set chartsRegistry oci://111111111111.dkr.ecr.eu-central-1.amazonaws.com/charts",
    ],
  ],
  gitopsWorkloadsRepoUrl: [["an SSH URL with a token", { gitAuthentication: "token" }, "begins with https://"]],
  gitInterval: [["a duration without a unit", "10", "a duration"]],
  gitReceiver: [["a way of calling that Flux does not know", "bitbucket", "generic-hmac"]],
  gitReceiverCidrs: [
    ["networks for calls that nothing takes", '["10.0.0.0/16"]', "no effect"],
    [
      "a network for calls with bits after its prefix",
      { gitReceiver: "github", gitReceiverCidrs: '["10.0.0.1/16"]' },
      "no bits set",
    ],
  ],
  chartsUsername: [
    [
      "a password for charts in Amazon ECR, which expires",
      { chartsRegistry: "oci://111111111111.dkr.ecr.eu-central-1.amazonaws.com/charts", chartsUsername: "AWS" },
      "Flux logs in with its role",
    ],
  ],
  registry: [
    ["one registry with a scheme", "oci://111111111111.dkr.ecr.eu-central-1.amazonaws.com", "without a scheme"],
  ],
  imagesRegistry: [
    ["an image mirror with a scheme", "https://registry.example.com", "without a scheme"],
    ["an image mirror with a tag", "registry.example.com/a:1", "host or host/path"],
  ],
  chartsPassword: [
    [
      "a user name of a chart mirror without its password",
      { chartsRegistry: "https://charts.example.com", chartsUsername: "fleet" },
      "is required with chartsUsername",
    ],
  ],
  permissionsBoundary: [
    ["a boundary that is not a policy", "arn:aws:iam::111111111111:role/a", "the ARN of an IAM policy"],
    [
      "statements for spokes while the roles of the hub have no boundary",
      { boundaryStatements: '[{"Effect":"Deny","Action":"organizations:*","Resource":"*"}]' },
      "the roles that the stack makes would have no boundary",
    ],
  ],
  boundaryStatements: [
    [
      "a statement for boundaries that allows",
      '[{"Effect":"Allow","Action":"*","Resource":"*"}]',
      "one that allows would give roles more",
    ],
    [
      "a statement for boundaries with a misspelt element",
      '[{"Effect":"Deny","Action":"sts:*","Resource":"*","Conditions":{}}]',
      "{Effect: Deny, Action or NotAction, Resource, Condition}",
    ],
    [
      "a statement for boundaries with two lists of actions",
      '[{"Effect":"Deny","Action":"sts:*","NotAction":"iam:*","Resource":"*"}]',
      "Action or NotAction",
    ],
    [
      "statements for which a boundary has no room",
      `[{"Effect":"Deny","Action":"ec2:${"a".repeat(600)}","Resource":"*"}]`,
      "makes the permissions boundary fleet-dev-boundary too long for IAM",
    ],
  ],
  rolePath: [
    ["a path for roles without its last slash", "/company", "begins and ends with a slash"],
    ["a path for roles that is AWS's", "/aws-service-role/a/", "not /aws-service-role/"],
    ["a path for roles that is too long", `/${"a".repeat(63)}/`, "at most 64 characters"],
  ],
  addonPermissions: [
    [
      "rights to pass roles that don't have the fleet's path",
      {
        rolePath: "/company/",
        addonPermissions:
          '[{"actions":["iam:PassRole"],"resources":["arn:aws:iam::111111111111:role/fleet-dev-spoke-*"]}]',
      },
      "role/company/fleet-dev-spoke-",
    ],
    ["a permission of add-ons without actions", '[{"resources":["*"]}]', "a list of {actions"],
    [
      "a permission of add-ons with another key",
      '[{"actions":["ec2:DescribeVpcs"],"condition":{}}]',
      "a list of {actions",
    ],
    ["rights for add-ons", '[{"actions":["sts:AssumeRole"]}]', "no add-on may have"],
    [
      "instance profiles that are nobody's, for add-ons",
      '[{"actions":["iam:AddRoleToInstanceProfile"]}]',
      "instance-profile/karpenter/<region>/fleet-dev-spoke-",
    ],
  ],
  argocdRoleArn: [
    ["an Argo CD role without its cluster secret", "arn:aws:iam::111111111111:role/argocd", "has no effect"],
    [
      "an Argo CD role for neither the spokes nor the hub",
      { argocdClusterSecret: "true", argocdRoleArn: "arn:aws:iam::111111111111:role/argocd" },
      "names a role that would have access to no cluster",
    ],
  ],
  argocdHubAdmin: [
    [
      "an administrator of the hub without its role",
      { argocdClusterSecret: "true", argocdHubAdmin: "true" },
      "names no role",
    ],
  ],
  argocdNamespace: [
    [
      "a namespace for Argo CD that is there already",
      { argocdClusterSecret: "true", argocdNamespace: "flux-system" },
      "is a namespace of the platform or of Kubernetes",
    ],
  ],
  argocdSpokes: [
    ["Argo CD on spokes without the hub's cluster secret", "true", "needs the Argo CD cluster secret of the hub"],
  ],
  metricsAlertTopicArn: [
    [
      "a topic for alerts without a workspace that evaluates them",
      "arn:aws:sns:us-east-1:111111111111:alerts",
      "has no effect",
    ],
    [
      "a topic for alerts that orders messages",
      { metrics: "amp", metricsAlertTopicArn: "arn:aws:sns:us-east-1:111111111111:alerts.fifo" },
      "a standard SNS topic",
    ],
  ],
  [`${project}:vpc_cidr`]: [["a key that does not exist", { vpc_cidr: "10.0.0.0/16" }, "use vpcCidr"]],
};

const bad = Object.entries(faults).flatMap(([key, rows]) =>
  rows.map(([fault, change, message]) => {
    const changes = typeof change === "object" ? change : { [key.replace(/[.[].*/, "")]: change };
    return [fault, changes, key, message] as const;
  }),
);

describe("the configuration", () => {
  it.each(["local", "dev", "prod"])(
    "of the committed stack %s is good (known_hosts of the local Git server aside, which is made per instance)",
    (stack) => {
      const values = stackConfig(stack);
      if (stack === "local") values[own("gitKnownHosts")] = "[git.fleet.internal]:2222 ssh-ed25519 AAAA";
      expect(readConfig({ project, values, isSecret: () => false, region: "us-east-1" }).problems).toEqual([]);
    },
  );

  it("of the sample for development refuses its network for documentation, and says how to find one's own", () => {
    const values = committedConfig("dev");
    expect(readConfig({ project, values, isSecret: () => false, region: "us-east-1" }).problems).toEqual([
      {
        key: "endpointPublicAccessCidrs[0]",
        what: "names addresses that EKS refuses on a public endpoint, reserved for documentation (RFC 5737)",
        got: "203.0.113.0/24",
        allowed: "public addresses of your networks",
        remedy: `pulumi config set --path 'endpointPublicAccessCidrs[0]' "$(curl -s https://checkip.amazonaws.com)/32"`,
      },
    ]);
  });

  it.each(["endpointPublicAccessCidrs", "egressCidrs"])(
    "refuses all that EKS refuses in %s, and no neighbour",
    (key) => {
      const vpc = {
        vpcId: "vpc-0123456789abcdef0",
        privateSubnetIds: '["subnet-0123456789abcdef0","subnet-0123456789abcdef1"]',
      };
      const keys = (cidrs: readonly string[]) =>
        problems({ ...vpc, [key]: JSON.stringify(cidrs) })
          .filter(({ what }) => what.startsWith("names addresses that EKS refuses"))
          .map((problem) => problem.key);
      expect(keys(refused)).toEqual(refused.map((_, index) => `${key}[${index}]`));
      expect(keys(besideReserved)).toEqual([]);
    },
  );

  it("tells for egressCidrs how to find the addresses of the VPC's NAT gateways, not one's own", () => {
    const vpc = {
      vpcId: "vpc-0123456789abcdef0",
      privateSubnetIds: '["subnet-0123456789abcdef0","subnet-0123456789abcdef1"]',
    };
    const [reserved] = problems({ ...vpc, egressCidrs: '["5.6.7.8/32","10.0.0.1/32"]' });
    expect(reserved).toMatchObject({
      key: "egressCidrs[1]",
      allowed: "the public source addresses of the hub's traffic, each as /32",
      remedy: expect.stringMatching(
        /^pulumi config set --path 'egressCidrs\[1\]' "\$\(aws ec2 describe-nat-gateways --filter Name=vpc-id,Values=vpc-0123456789abcdef0 .*PublicIp'\)\/32"/,
      ),
    });
    const [unreadable] = problems({ ...vpc, egressCidrs: '["10.0.0.0/33"]' });
    expect(unreadable?.remedy).toMatch(
      /^pulumi config set --path 'egressCidrs\[0\]' "\$\(aws ec2 describe-nat-gateways /,
    );
    expect(`${reserved?.remedy} ${unreadable?.remedy}`).not.toContain("checkip");
  });

  it("of the sample for production rejects its network for documentation, and names the ways of a first pulumi up", () => {
    const values = committedConfig("prod");
    expect(readConfig({ project, values, isSecret: () => false, region: "us-east-1" }).problems).toMatchObject([
      {
        key: "endpointPrivateAccessCidrs",
        what: "names a network for documentation (RFC 5737), which connects to nothing",
        remedy: expect.stringContaining("the first pulumi up needs a public endpoint, or a VPC that exists"),
      },
    ]);
  });

  it("takes what is left of a public endpoint that is off, which EKS is not told of; spokes admit egressCidrs all the same", () => {
    const off = {
      ...{ endpointPublicAccess: "false", endpointPrivateAccess: "true" },
      endpointPrivateAccessCidrs: '["10.20.0.0/16"]',
    };
    expect(problems({ ...off, endpointPublicAccessCidrs: '["203.0.113.0/24"]' })).toEqual([]);
    const vpc = {
      vpcId: "vpc-0123456789abcdef0",
      privateSubnetIds: '["subnet-0123456789abcdef0","subnet-0123456789abcdef1"]',
    };
    expect(problems({ ...off, ...vpc, egressCidrs: '["203.0.113.7/32"]' }).map(({ key }) => key)).toEqual([
      "egressCidrs[0]",
    ]);
  });

  it("takes a path for roles, and rights to pass those that have it", () => {
    const resources = ["arn:aws:iam::111111111111:role/company/fleet-dev-spoke-*"];
    const addonPermissions = JSON.stringify([{ actions: ["iam:PassRole"], resources }]);
    for (const rolePath of ["/company/", `/${"a".repeat(62)}/`])
      expect(problems({ rolePath, ...(rolePath === "/company/" && { addonPermissions }) })).toEqual([]);
  });

  it("takes a company's statements in IAM's own form, without their Sids, which could be there twice", () => {
    const statements = [
      { Sid: "Read", Effect: "Deny", Action: "organizations:*", Resource: "*" },
      {
        Effect: "Deny",
        NotAction: ["iam:*", "sts:*"],
        Resource: ["*"],
        Condition: { StringNotEquals: { "aws:RequestedRegion": "eu-central-1" } },
      },
    ];
    const values = {
      ...stackConfig("dev"),
      [own("permissionsBoundary")]: "arn:aws:iam::111111111111:policy/company",
      [own("boundaryStatements")]: JSON.stringify(statements),
    };
    const { problems: found, settings } = readConfig({ project, values, isSecret: () => false, ...region });
    expect(found).toEqual([]);
    expect(settings.boundaryStatements).toEqual([
      { Effect: "Deny", Action: ["organizations:*"], Resource: ["*"] },
      statements[1],
    ]);
  });

  it.each(bad)("refuses %s", (_name, changes, key, message) => {
    const found = problems(changes).filter((problem) => problem.key === key);
    expect(found).not.toEqual([]);
    expect(found.map((problem) => JSON.stringify(problem)).join("\n")).toContain(message);
  });

  describe("with one registry", () => {
    const registry = "111111111111.dkr.ecr.eu-central-1.amazonaws.com/mirror";
    const fromRegistry = (changes: Record<string, string>) => {
      const named = Object.fromEntries(
        Object.entries({ registry, ...changes }).map(([key, value]) => [own(key), value]),
      );
      const values = { ...stackConfig("dev"), ...named };
      const { settings, problems: found } = readConfig({ project, values, isSecret: () => false, ...region });
      expect(found).toEqual([]);
      const { chartsRegistry, imagesRegistry, packagesRegistry, functionPackage } = settings;
      return { chartsRegistry, imagesRegistry, packagesRegistry, functionPackage };
    };

    it("takes charts, images, packages and the composition function from it", () => {
      expect(fromRegistry({ functionPackage: "ghcr.io/example/function-spoke" })).toEqual({
        chartsRegistry: `oci://${registry}/charts`,
        imagesRegistry: registry,
        packagesRegistry: registry,
        functionPackage: `${registry}/ghcr.io/example/function-spoke`,
      });
    });

    it("keeps the digest of the composition function", () => {
      const functionPackage = `ghcr.io/example/function-spoke@sha256:${"1".repeat(64)}`;
      expect(fromRegistry({ functionPackage })).toMatchObject({ functionPackage: `${registry}/${functionPackage}` });
    });

    it("keeps a mirror that the stack names, and a function on the same host", () => {
      const functionPackage = "111111111111.dkr.ecr.eu-central-1.amazonaws.com/own/function-spoke";
      const chartsRegistry = "oci://registry.example/charts";
      expect(fromRegistry({ functionPackage, chartsRegistry })).toMatchObject({
        chartsRegistry,
        imagesRegistry: registry,
        functionPackage,
      });
    });
  });

  it("reports every problem at once: what was got, what is allowed, what to do", () => {
    const changes = {
      vpcCidr: "10.0.0.1/16",
      kubernetesVersion: "1.20",
      gitKnownHosts: "",
      fleet: "f".repeat(41),
      nodeDesired: "9",
      colour: "red",
    };
    const found = problems(changes, { region: undefined });
    expect(new Set(found.map(({ key }) => key))).toEqual(
      new Set([
        ...["vpcCidr", "kubernetesVersion", "gitKnownHosts", "fleet", "nodeDesired"],
        ...[`${project}:colour`, "aws:region"],
      ]),
    );
    const text = describeConfigProblems(project, "dev", found);
    expect(text).toContain(`${found.length} problems in the configuration of stack dev, nothing was changed:`);
    expect(text).toContain(
      [
        "eks-gitops-fleet:kubernetesVersion: is not a supported Kubernetes version",
        "       got:     1.20",
        "       allowed: 1.35, 1.36, 1.37",
        "       do:      pulumi config set kubernetesVersion 1.35",
      ].join("\n"),
    );
    expect(text.match(/do: {6}\S/g)).toHaveLength(found.length);
  });

  it("a good change makes no problem", () => {
    expect(
      problems({ gitopsSystemRepoUrl: ssh, gitKnownHosts: "[git.example]:2222,github.com ssh-ed25519 AAAA" }),
    ).toEqual([]);
    expect(problems({ gitKnownHosts: "|1|c2FsdA==|aGFzaA== ssh-ed25519 AAAA" })).toEqual([]);
    const existing = {
      vpcId: "vpc-0123456789abcdef0",
      privateSubnetIds: '["subnet-0123456789abcdef0","subnet-0123456789abcdef1"]',
      egressCidrs: '["5.6.7.8/32"]',
    };
    expect(problems(existing)).toEqual([]);
  });

  it.each(withinLimit)("a public endpoint for $title makes no problem", ({ cidrs }) => {
    expect(problems({ endpointPublicAccessCidrs: JSON.stringify(cidrs) })).toEqual([]);
  });

  it("takes the quotas that were raised, any of them", () => {
    for (const serviceQuotas of ['{"vpcs":20}', '{"addresses":40,"clusters":200}'])
      expect(problems({ metrics: "amp", serviceQuotas })).toEqual([]);
  });

  it("takes a former sealing key as fleet adopt-hub prints it, and a generation that Pulumi stored as a number", () => {
    expect(problems({ formerSealingKeys: JSON.stringify([former]) })).toEqual([]);
    expect(problems({ formerSealingKeys: JSON.stringify([{ ...former, generation: 0 }]) })).toEqual([]);
  });

  it("takes sealing keys of single clusters beside those of environments, for the longest name of a spoke too", () => {
    const keys = ["dev", "cluster-blue", `cluster-${"a".repeat(40)}`].map((scope) => ({
      scope,
      generation: "1",
      active: true,
    }));
    expect(problems({ sealingKeys: JSON.stringify(keys) })).toEqual([]);
  });

  it("takes a block for Services beside the VPC and the pool, and in an existing VPC leaves the VPC's to AWS", () => {
    expect(problems({ serviceIpv4Cidr: "172.20.0.0/16" })).toEqual([]);
  });

  it("a pool of exactly one spoke's network is large enough", () => {
    expect(problems({ spokeCidrPool: "10.64.0.0/18" })).toEqual([]);
  });

  /** The problems of a stack with a GitHub App and repositories at a host, or at two. */
  const byApp = (host: string, more: Readonly<Record<string, string>> = {}, other = host) =>
    problems(
      {
        gitopsSystemRepoUrl: `https://${host}/a.git`,
        gitopsWorkloadsRepoUrl: `https://${other}/b.git`,
        gitAuthentication: "github-app",
        githubAppId: "1",
        githubAppInstallationId: "2",
        githubAppPrivateKey: rsaKey,
        ...more,
      },
      { ...region, secrets: ["githubAppPrivateKey"] },
    );

  it.each([
    ["github.com", "https://api.github.com"],
    ["octocorp.ghe.com", "https://api.octocorp.ghe.com"],
    ["git.example", "https://git.example/api/v3"],
    ["git.example:8443", "https://git.example:8443/api/v3"],
  ])("asks for the API of the GitHub server %s: %s", (host, githubAppBaseUrl) => {
    expect(byApp(host, { githubAppBaseUrl })).toEqual([]);
    const remedy = `pulumi config set githubAppBaseUrl ${githubAppBaseUrl}`;
    expect(byApp(host, { githubAppBaseUrl: "https://other.example/api/v3" })).toMatchObject([
      { key: "githubAppBaseUrl", got: "https://other.example/api/v3", remedy },
    ]);
    expect(byApp(host)).toMatchObject(host === "github.com" ? [] : [{ key: "githubAppBaseUrl", remedy }]);
  });

  it("refuses a GitHub App whose API is a page of GitHub's, or no URL, or whose repositories lie at two servers", () => {
    expect(byApp("github.com", { githubAppBaseUrl: "https://github.com" })).toHaveLength(1);
    expect(byApp("git.example", { githubAppBaseUrl: "https://git.example/api/v3/" })).toHaveLength(1);
    expect(byApp("git.example", { githubAppBaseUrl: "https://git.example:port" })).toHaveLength(1);
    expect(byApp("github.com", {}, "git.example")).toMatchObject([{ key: "gitopsWorkloadsRepoUrl" }]);
  });

  it.each([
    ["an elliptic key, which Flux can't read", ellipticKey],
    ["a key that lost its line breaks", rsaKey.replaceAll("\n", " ")],
  ])("refuses %s of a GitHub App, and does not show it", (_what, githubAppPrivateKey) => {
    const found = problems({ githubAppPrivateKey }, { ...region, secrets: ["githubAppPrivateKey"] });
    expect(found).toMatchObject([{ key: "githubAppPrivateKey", got: "(not shown)" }]);
  });

  it("takes the certificates of a private authority, and nothing else, as such", () => {
    const [one = ""] = rootCertificates;
    for (const gitCaCertificate of ["", one, `${one}\n${rootCertificates[1]}\n`])
      expect(problems({ gitCaCertificate })).toEqual([]);
    const cut = one.slice(0, -30);
    for (const gitCaCertificate of ["ca.crt", rsaKey, one.replace("MII", "AAA"), `${one}\n${rsaKey}`, `${one}\n${cut}`])
      expect(problems({ gitCaCertificate })).toMatchObject([{ key: "gitCaCertificate" }]);
    expect(problems({ gitCaCertificate: `# Our authority\n${one}` })).toEqual([]);
  });

  it("says how to set what begins with dashes, or has many lines, by a command that does it", () => {
    const remedies = (changes: Record<string, string>, secrets: string[] = []) =>
      problems(changes, { ...region, secrets }).map(({ remedy }) => remedy);
    // Without -- Pulumi takes the first line for a flag: "bad flag syntax: -----BEGIN".
    expect(remedies({ gitCaCertificate: "ca.crt" })).toEqual(['pulumi config set gitCaCertificate -- "$(cat ca.crt)"']);
    const key = "pulumi config set --secret githubAppPrivateKey < app.private-key.pem";
    expect(remedies({ githubAppPrivateKey: rsaKey })).toEqual([key]);
    expect(remedies({ githubAppPrivateKey: "PEM" }, ["githubAppPrivateKey"])).toEqual([key]);
    expect(byApp("github.com", { githubAppPrivateKey: "" }).map(({ remedy }) => remedy)).toEqual([key]);
    expect(remedies({ pullSecret: "{}" })).toEqual(["pulumi config set --secret pullSecret < config.json"]);
  });

  it("says how to remove a key that is not one of the project", () => {
    expect(problems({ constructor: "x" }).map(({ remedy }) => remedy)).toEqual(["pulumi config rm constructor"]);
  });

  it("asks for a credential with each method, and refuses one in plain text without showing it", () => {
    const urls = {
      gitopsSystemRepoUrl: "https://git.example/a.git",
      gitopsWorkloadsRepoUrl: "https://git.example/b.git",
    };
    expect(problems({ ...urls, gitAuthentication: "token" }).map(({ key }) => key)).toEqual(["gitToken"]);
    expect(problems({ ...urls, gitAuthentication: "github-app" }).map(({ key }) => key)).toEqual([
      "githubAppId",
      "githubAppInstallationId",
      "githubAppPrivateKey",
      "githubAppBaseUrl",
    ]);
    const plain = problems({ ...urls, gitAuthentication: "token", gitToken: "t0ps3cret" });
    expect(plain).toMatchObject([{ key: "gitToken", what: "is a secret and is in plain text" }]);
    expect(JSON.stringify(plain)).not.toContain("t0ps3cret");
    expect(
      problems({ ...urls, gitAuthentication: "token", gitToken: "t0ps3cret" }, { ...region, secrets: ["gitToken"] }),
    ).toEqual([]);
  });

  it.for([
    ["that is not JSON", "ghcr.io: t0ps3cret"],
    ["with a credential helper in place of credentials", '{"auths":{"ghcr.io":{}},"credsStore":"t0ps3cret"}'],
    ["without a registry", '{"auths":{},"note":"t0ps3cret"}'],
    ["without a password", '{"auths":{"ghcr.io":{"username":"t0ps3cret"}}}'],
    ["with an auth that is not a user and a password", '{"auths":{"ghcr.io":{"auth":"t0ps3cret"}}}'],
  ] as const)("refuses a pull secret %s, and does not show it", ([, pullSecret]) => {
    const found = problems({ pullSecret }, { ...region, secrets: ["pullSecret"] });
    expect(found).toMatchObject([{ key: "pullSecret", got: "(not shown)" }]);
    expect(JSON.stringify(found)).not.toContain("t0ps3cret");
  });

  it.for([
    '{"auths":{"ghcr.io":{"username":"fleet","password":"t0ps3cret"}}}',
    `{"auths":{"ghcr.io":{"auth":"${Buffer.from("fleet:t0ps3cret").toString("base64")}"}}}`,
  ])("takes a pull secret as docker and kubectl write it", (pullSecret) => {
    expect(problems({ pullSecret }, { ...region, secrets: ["pullSecret"] })).toEqual([]);
    expect(problems({ pullSecret })).toMatchObject([{ what: "is a secret and is in plain text" }]);
  });

  const withPullSecret = (registries: readonly string[], changes: Record<string, string> = {}) => {
    const auths = Object.fromEntries(registries.map((name) => [name, { username: "fleet", password: "t0ps3cret" }]));
    return problems({ ...changes, pullSecret: JSON.stringify({ auths }) }, { ...region, secrets: ["pullSecret"] });
  };
  const mirrored = {
    imagesRegistry: "registry.example.com/mirror",
    packagesRegistry: "packages.example.com:5000/mirror",
    functionPackage: "ghcr.io/example/function-spoke",
  };

  it.for([
    "111111111111.dkr.ecr.eu-central-1.amazonaws.com",
    "https://111111111111.dkr-ecr.eu-central-1.on.aws",
    "*.dkr.ecr.eu-central-1.amazonaws.com",
    "public.ecr.aws",
  ])("refuses a pull secret for %s, whose password ends after twelve hours", (registry) => {
    const found = withPullSecret(["ghcr.io", registry], { imagesRegistry: registry.startsWith("1") ? registry : "" });
    expect(found).toMatchObject([{ key: "pullSecret", what: expect.stringContaining("twelve hours") }]);
    expect(found[0]?.remedy).toContain(registry.replace("https://", ""));
    expect(JSON.stringify(found)).not.toContain("t0ps3cret");
  });

  it.for([
    ...["registry.example.com", "https://registry.example.com/v2/", "registry.example.com/mirror/ghcr.io"],
    ...["*.example.com", "packages.example.com:5000", "ghcr.io/example", "ghcr.io/example/function-spoke"],
  ])("takes a pull secret for %s, which a mirror is at", (registry) => {
    expect(withPullSecret(["other.example", registry], mirrored)).toEqual([]);
  });

  it.for([
    ...["registry.example.org", "packages.example.com", "registry.example.com/other"],
    ...["ghcr.io/examples", "docker.io"],
  ])("refuses a pull secret for %s alone, which nothing is pulled from", (registry) => {
    const found = withPullSecret([registry], mirrored);
    expect(found).toMatchObject([
      {
        key: "pullSecret",
        what: "names no registry that images or packages come from",
        got: `auths for ${registry}`,
        allowed: expect.stringContaining(Object.values(mirrored).join(", ")),
      },
    ]);
    expect(JSON.stringify(found)).not.toContain("t0ps3cret");
  });

  it("takes a pull secret for every upstream host while there is no mirror", () => {
    const repos = new URL("../../repos/", import.meta.url);
    const manifests = readdirSync(repos, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".yaml"),
    );
    const hosts = new Set(
      manifests.flatMap((name) =>
        [...readFileSync(new URL(name, repos), "utf8").matchAll(/\$\{(?:images|packages)_prefix\}([a-z0-9.-]+)/g)].map(
          ([, host = ""]) => host,
        ),
      ),
    );
    // Nobody logs in there.
    for (const host of ["public.ecr.aws", "ecr-public.aws.com"]) hosts.delete(host);
    expect(hosts.size).toBeGreaterThan(3);
    for (const host of [...hosts, "https://index.docker.io/v1/"]) expect(withPullSecret([host]), host).toEqual([]);
  });

  it.for([
    { imagesRegistry: "registry.example.com" },
    { imagesRegistry: "localhost:5000/a/b.c" },
    // Nodes log in to it by their role.
    { imagesRegistry: "111111111111.dkr.ecr.eu-central-1.amazonaws.com" },
    { packagesRegistry: "registry.example.com/mirror" },
    { chartsRegistry: "oci://public.ecr.aws/example" },
  ])("takes the mirror %j", (changes) => expect(problems(changes)).toEqual([]));

  it("gives a credential to a chart mirror only, and to upstream's repositories none", () => {
    const credential = { chartsUsername: "fleet", chartsPassword: "t0ps3cret" };
    const options = { ...region, secrets: ["chartsPassword"] };
    expect(problems({ ...credential, chartsRegistry: "https://charts.example.com" }, options)).toEqual([]);
    expect(problems(credential, options)).toMatchObject([{ key: "chartsRegistry" }]);
    const plain = problems({ ...credential, chartsRegistry: "https://charts.example.com" });
    expect(plain).toMatchObject([{ key: "chartsPassword", what: "is a secret and is in plain text" }]);
    expect(JSON.stringify(plain)).not.toContain("t0ps3cret");
  });

  it("the keys in Pulumi.yaml are the keys that the program reads, each with a default that has the right form", () => {
    const defaults = defaultConfig();
    expect(Object.keys(defaults).sort()).toEqual(Object.keys(keys).map(own).sort());
    for (const [name, key] of Object.entries(keys)) expect(key.parse(defaults[own(name)] ?? ""), name).toBeDefined();
  });
});

it("tells of a stack whose Kubernetes version leaves EKS's standard support from 90 days before, with what to do", () => {
  expect(supportNotice(project, "1.35", new Date("2026-12-26"))).toBeUndefined();
  expect(supportNotice(project, "1.35", new Date("2026-12-27"))).toMatch(
    /^eks-gitops-fleet:kubernetesVersion: Kubernetes 1\.35 leaves EKS's standard support on 2027-03-27, in 90 days\. .*raise it by one minor before/,
  );
});

it("warns of a stack whose Kubernetes version is newer than pinned components support", () => {
  expect(supportNotice(project, "1.36", new Date("2026-11-29"))).toBeUndefined();
  expect(supportNotice(project, "1.37", new Date("2026-11-29"))).toBe(
    "eks-gitops-fleet:kubernetesVersion: Kubernetes 1.37 is newer than supported: Flux 2.9 up to 1.36. Keep a supported minor until a release has a newer component",
  );
});
