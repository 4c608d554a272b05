import { besideReserved, beyondLimit, withinLimit } from "../../support/public-networks.ts";
import type { Properties, Resource } from "../support/evaluate.ts";
import { type Example, examplesOf } from "../support/example.ts";

const cluster = (props: Properties): Resource => ({ type: "aws:eks/cluster:Cluster", props });
const nodes = (props: Properties): Resource => ({ type: "aws:eks/nodeGroup:NodeGroup", props });
const endpoint = (vpcConfig: Properties) => cluster({ vpcConfig });

const cidrs = examplesOf("eks-public-endpoint-cidrs");
const encryption = examplesOf("eks-secrets-encryption");
const logs = examplesOf("eks-control-plane-logs");
const mode = examplesOf("eks-authentication-mode");
const version = examplesOf("eks-supported-version");
const protection = examplesOf("eks-deletion-protection");

const unnamed =
  "the public endpoint names no networks, so EKS admits 0.0.0.0/0: set publicAccessCidrs, or endpointPublicAccess to false";

const tooMuch = (fault: string) =>
  `the public endpoint admits too much: ${fault}; set publicAccessCidrs to your own networks`;

export const eksExamples: readonly Example[] = [
  cidrs("a private endpoint passes", endpoint({ endpointPublicAccess: false })),
  cidrs(
    "named networks pass",
    endpoint({ endpointPublicAccess: true, publicAccessCidrs: ["5.6.7.0/24", "2001:db8::/48"] }),
  ),
  cidrs("a public endpoint without networks is stopped", endpoint({ endpointPublicAccess: true }), [unnamed]),
  cidrs("EKS's default is public, and stopped", cluster({}), [unnamed]),
  cidrs(
    "the whole internet is stopped, beside a network that passes",
    endpoint({ endpointPublicAccess: true, publicAccessCidrs: ["5.6.7.0/24", "0.0.0.0/0"] }),
    [
      "the public endpoint admits too much: 0.0.0.0/0 is the whole internet; set publicAccessCidrs to your own networks",
    ],
  ),
  ...withinLimit.map(({ title, cidrs: publicAccessCidrs }) =>
    cidrs(`${title} passes`, endpoint({ publicAccessCidrs })),
  ),
  ...beyondLimit.map(({ title, cidrs: publicAccessCidrs, addresses }) => {
    const wide = publicAccessCidrs.filter((block) => Number(block.split("/")[1]) < 8);
    const faults =
      wide.length > 0
        ? wide.map((block) => `${block} is wider than /8`)
        : [`${publicAccessCidrs.join(", ")} are ${addresses} public addresses together, more than a /8`];
    return cidrs(`${title} is stopped`, endpoint({ publicAccessCidrs }), faults.map(tooMuch));
  }),
  cidrs(
    "what EKS refuses is stopped",
    endpoint({ publicAccessCidrs: ["5.6.7.0/24", "203.0.113.7/32", "10.1.0.0/16"] }),
    [
      "203.0.113.7/32 is reserved for documentation (RFC 5737)",
      "10.1.0.0/16 is reserved for private networks (RFC 1918)",
    ].map((fault) => `${fault}, so EKS refuses it: set publicAccessCidrs to the public addresses of your own networks`),
  ),
  cidrs("what lies beside reserved addresses passes", endpoint({ publicAccessCidrs: besideReserved })),
  cidrs(
    "addresses count as the network that they are in",
    endpoint({ publicAccessCidrs: ["8.1.2.3/9", "8.129.2.3/9", "5.6.7.9/32"] }),
    [tooMuch("8.1.2.3/9, 8.129.2.3/9, 5.6.7.9/32 are 16777217 public addresses together, more than a /8")],
  ),
  cidrs("an IPv6 block of the least width passes", endpoint({ publicAccessCidrs: ["2001:db8::/32"] })),
  cidrs("a very wide IPv6 block is stopped", endpoint({ publicAccessCidrs: ["2000::/3"] }), [
    "the public endpoint admits too much: 2000::/3 is wider than /32; set publicAccessCidrs to your own networks",
  ]),
  cidrs("what is not a CIDR block is stopped", endpoint({ publicAccessCidrs: ["office"] }), [
    'the public endpoint admits too much: "office" is not a CIDR block; set publicAccessCidrs to your own networks',
  ]),
  cidrs(
    "a CIDR block in a text is none",
    endpoint({ publicAccessCidrs: ["office 203.0.113.0/24", "203.0.113.0/24 office"] }),
    ['"office 203.0.113.0/24" is not a CIDR block', '"203.0.113.0/24 office" is not a CIDR block'].map(tooMuch),
  ),
  cidrs(
    "the width is a parameter",
    endpoint({ publicAccessCidrs: ["5.6.0.0/16"] }),
    ["the public endpoint admits too much: 5.6.0.0/16 is wider than /24; set publicAccessCidrs to your own networks"],
    { minimumPrefixLength: 24 },
  ),

  encryption(
    "a key for secrets passes",
    cluster({
      encryptionConfig: { provider: { keyArn: "arn:aws:kms:eu-central-1:111111111111:key/k" }, resources: ["secrets"] },
    }),
  ),
  encryption("a cluster without a key is stopped", cluster({}), [
    "Kubernetes secrets are not encrypted with a key of yours: set encryptionConfig.provider.keyArn",
  ]),
  encryption(
    "a key that does not cover secrets is stopped",
    cluster({ encryptionConfig: { provider: { keyArn: "k" }, resources: [] } }),
    ["encryptionConfig covers nothing: it must name secrets"],
  ),

  logs(
    "all types pass, in any order",
    cluster({ enabledClusterLogTypes: ["scheduler", "controllerManager", "authenticator", "audit", "api"] }),
  ),
  logs("each missing type is named", cluster({ enabledClusterLogTypes: ["api", "scheduler"] }), [
    "enabledClusterLogTypes lacks audit and authenticator: an attack would leave no trace there",
  ]),
  logs("the types are a parameter", cluster({ enabledClusterLogTypes: ["audit"] }), [], { logTypes: ["audit"] }),

  mode("access entries alone pass", cluster({ accessConfig: { authenticationMode: "API" } })),
  mode(
    "aws-auth beside access entries is stopped",
    cluster({ accessConfig: { authenticationMode: "API_AND_CONFIG_MAP" } }),
    ["authenticationMode is API_AND_CONFIG_MAP: set it to API, so that access entries alone decide"],
  ),
  mode("EKS's default is aws-auth, and stopped", cluster({}), [
    "authenticationMode is not set (EKS then takes CONFIG_MAP): set it to API, so that access entries alone decide",
  ]),

  version("a supported version passes, on clusters and node groups", [
    cluster({ version: "1.36" }),
    nodes({ version: "1.35" }),
  ]),
  version("node groups may follow their cluster", nodes({})),
  version("an old version is stopped", cluster({ version: "1.29" }), [
    "Kubernetes version 1.29 is not supported: use 1.35 or 1.36 or 1.37",
  ]),
  version("an old version of a node group is stopped", nodes({ version: "1.29" }), [
    "Kubernetes version 1.29 is not supported: use 1.35 or 1.36 or 1.37",
  ]),
  version("a cluster must name its version", cluster({}), [
    "Kubernetes version (none) is not supported: use 1.35 or 1.36 or 1.37",
  ]),
  version("the versions are a parameter", cluster({ version: "1.36" }), [], { versions: ["1.36"] }),

  protection(
    "a protected cluster of production passes",
    cluster({ deletionProtection: true, tags: { environment: "prod" } }),
  ),
  protection("other environments may go without", cluster({ tags: { environment: "dev" } })),
  protection(
    "an unprotected cluster of production is stopped",
    cluster({ deletionProtection: false, tags: { environment: "prod" } }),
    ["deletionProtection is off in environment prod: set it to true"],
  ),
  protection(
    "tags of the provider count",
    { ...cluster({}), provider: { defaultTags: '{"tags":{"environment":"prod"}}' } },
    ["deletionProtection is off in environment prod: set it to true"],
  ),
  protection(
    "the environments are a parameter",
    cluster({ tags: { environment: "staging" } }),
    ["deletionProtection is off in environment staging: set it to true"],
    { environments: ["staging", "prod"] },
  ),
];
