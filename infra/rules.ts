import { kubernetesVersions } from "../components/versions.ts";
import { overlaps, parseCidr } from "../lib/cidr.ts";
import { isArm } from "../lib/instance-types.ts";
import { derivedNames, nameLimits, sealingKeyOf, tooLong } from "../lib/names.ts";
import { duplicates, type Problem, shown } from "../lib/problems.ts";
import { poolPrefix } from "../lib/spoke.ts";
import { accountRules } from "./account-rules.ts";
import { addonRules } from "./addon-rules.ts";
import { argocdRules } from "./argocd-rules.ts";
import { boundaryRules } from "./boundary-rules.ts";
import { endpointRules } from "./endpoint-rules.ts";
import { gitRules } from "./git-rules.ts";
import { metricsRules } from "./metrics-rules.ts";
import { networkRules } from "./network-rules.ts";
import { notificationRules } from "./notification-rules.ts";
import { registryRules } from "./registry-rules.ts";
import { sealingRules } from "./sealing-rules.ts";
import type { Readable } from "./settings.ts";
import { tagRules } from "./tag-rules.ts";

export type Rule = (settings: Readable) => readonly Problem[];

/** The oldest supported version above the given one, or the newest if there is none. */
function nearestVersion(version: string): string {
  const minor = (text: string) => Number(text.split(".")[1]);
  return kubernetesVersions.find((each) => minor(each) > minor(version)) ?? (kubernetesVersions.at(-1) as string);
}

function kubernetesVersionRule({ kubernetesVersion }: Readable): Problem[] {
  if (kubernetesVersion === undefined || kubernetesVersions.includes(kubernetesVersion)) return [];
  return [
    {
      key: "kubernetesVersion",
      what: "is not a supported Kubernetes version",
      got: kubernetesVersion,
      allowed: kubernetesVersions.join(", "),
      remedy: `pulumi config set kubernetesVersion ${nearestVersion(kubernetesVersion)}`,
    },
  ];
}

/** Words that hub and spoke names contain: a fleet name with one of them could produce the names of another fleet. */
const reserved = /(^|-)(hub|spoke)(-|$)/;

export function fleetNameRule({ fleet, sealingKeys = [] }: Readable): Problem[] {
  if (fleet === undefined) return [];
  const problems = tooLong(derivedNames(fleet, sealingKeys)).map(({ kind, name }) => ({
    key: kind === "secret" && sealingKeyOf(fleet, name) !== undefined ? "sealingKeys" : "fleet",
    what: `makes a name of ${name.length} characters that is too long for its kind (${kind})`,
    got: shown(name),
    allowed: `at most ${nameLimits[kind]} characters`,
    remedy: `shorten it by at least ${name.length - nameLimits[kind]} characters`,
  }));
  if (reserved.test(fleet)) {
    problems.push({
      key: "fleet",
      what: "contains a word that tells hub and spoke names apart",
      got: fleet,
      allowed: "a name without the words hub and spoke",
      remedy: "choose another name",
    });
  }
  return problems;
}

function nodeRule({ nodeMin, nodeDesired, nodeMax }: Readable): Problem[] {
  if (nodeMin === undefined || nodeDesired === undefined || nodeMax === undefined) return [];
  if (nodeMin <= nodeDesired && nodeDesired <= nodeMax) return [];
  return [
    {
      key: "nodeDesired",
      what: "is not between nodeMin and nodeMax",
      got: `nodeMin ${nodeMin}, nodeDesired ${nodeDesired}, nodeMax ${nodeMax}`,
      allowed: "nodeMin <= nodeDesired <= nodeMax",
      remedy: "change one of the three",
    },
  ];
}

function releaseRule({ kubernetesVersion, nodeReleaseVersion }: Readable): Problem[] {
  if (kubernetesVersion === undefined || !nodeReleaseVersion || nodeReleaseVersion.startsWith(`${kubernetesVersion}.`))
    return [];
  return [
    {
      key: "nodeReleaseVersion",
      what: "is a release for another Kubernetes version",
      got: `${nodeReleaseVersion} with kubernetesVersion ${kubernetesVersion}`,
      allowed: `empty, or a release ${kubernetesVersion}.<patch>-<date>`,
      remedy: `pulumi config set nodeReleaseVersion $(aws ssm get-parameter --query Parameter.Value --output text --name /aws/service/eks/optimized-ami/${kubernetesVersion}/amazon-linux-2023/<x86_64 or arm64>/standard/recommended/release_version)`,
    },
  ];
}

function instanceTypeRule({ nodeInstanceTypes, nodeAmiType }: Readable): Problem[] {
  if (nodeInstanceTypes === undefined || nodeAmiType === undefined) return [];
  const wantsArm = nodeAmiType.includes("ARM");
  const wrong = nodeInstanceTypes.filter((type) => isArm(type) !== wantsArm);
  if (nodeInstanceTypes.length > 0 && wrong.length === 0) return [];
  return [
    {
      key: "nodeInstanceTypes",
      what:
        wrong.length > 0
          ? `has types with another processor architecture than ${nodeAmiType}`
          : "names no instance type",
      got: shown(wrong.length > 0 ? wrong.join(", ") : nodeInstanceTypes),
      allowed: wantsArm ? "Graviton types such as m7g.large" : "x86 types such as m6i.large",
      remedy: "change nodeInstanceTypes or nodeAmiType",
    },
  ];
}

/** EKS takes one access entry for each principal. */
function clusterAccessRule({
  clusterAdmins = [],
  clusterViewers = [],
  argocdHubAdmin,
  argocdRoleArn = "",
}: Readable): Problem[] {
  const twice = Object.entries({ clusterAdmins, clusterViewers }).flatMap(([key, arns]) =>
    duplicates(arns).map((arn) => ({
      key,
      what: "names a principal twice",
      got: arn,
      allowed: "each ARN once",
      remedy: "remove one of the two",
    })),
  );
  const admins = argocdHubAdmin ? [...clusterAdmins, argocdRoleArn] : clusterAdmins;
  const both = [...new Set(clusterViewers)].filter((arn) => admins.includes(arn));
  return [
    ...twice,
    ...both.map((arn) => ({
      key: "clusterViewers",
      what: "names an administrator of the hub (clusterAdmins, or argocdRoleArn with argocdHubAdmin)",
      got: arn,
      allowed: "principals that are not in clusterAdmins: administrators read everything",
      remedy: "remove it from one of the two lists",
    })),
  ];
}

function poolSizeRule({ spokeCidrPool }: Readable): Problem[] {
  const pool = parseCidr(spokeCidrPool ?? "");
  if (pool === undefined || pool.prefix <= poolPrefix) return [];
  return [
    {
      key: "spokeCidrPool",
      what: "has no room for a spoke's network",
      got: shown(spokeCidrPool),
      allowed: `/${poolPrefix} or larger: each spoke takes a /${poolPrefix}`,
      remedy: "pulumi config set spokeCidrPool 10.64.0.0/10",
    },
  ];
}

function poolRule({ vpcId, vpcCidr, spokeCidrPool }: Readable): Problem[] {
  const vpc = parseCidr(vpcCidr ?? "");
  const pool = parseCidr(spokeCidrPool ?? "");
  if (vpcId || vpc === undefined || pool === undefined || !overlaps(vpc, pool)) return [];
  return [
    {
      key: "spokeCidrPool",
      what: "overlaps the hub's VPC",
      got: `${spokeCidrPool} and vpcCidr ${vpcCidr}`,
      allowed: "a block that shares no address with vpcCidr",
      remedy: "change one of the two, for example spokeCidrPool 10.64.0.0/10 with vpcCidr 10.0.0.0/16",
    },
  ];
}

/** Every rule over more than one key. */
export const rules: readonly Rule[] = [
  kubernetesVersionRule,
  fleetNameRule,
  networkRules,
  poolRule,
  poolSizeRule,
  endpointRules,
  nodeRule,
  releaseRule,
  instanceTypeRule,
  clusterAccessRule,
  sealingRules,
  gitRules,
  registryRules,
  argocdRules,
  metricsRules,
  notificationRules,
  addonRules,
  accountRules,
  boundaryRules,
  tagRules,
];
