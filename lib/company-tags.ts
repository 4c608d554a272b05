import { clusterTag, fleetTag, guardDutyTag, principalTags, type Tags } from "./labels.ts";

/** A company's tags on everything that the fleet creates in AWS: `tags` of the stack, and `spec.tags` of a Spoke. */

/**
 * AWS takes 50 tags of a resource, keys of 128 and values of 256 characters (Tagging AWS Resources User Guide, "Tag naming limits and
 * requirements"). The other ten are for the fleet, Crossplane's provider and the controllers.
 */
export const tagLimits = { count: 40, key: 128, value: 256 } as const;

/** The characters of every AWS service, without what the controllers' own command lines split at: `=` in a key, a colon with a blank or nothing after it. */
const keyPattern = /^:*[A-Za-z0-9_./+@-]( *:*[A-Za-z0-9_./+@-])*$/;
const valuePattern = /^( *:*[A-Za-z0-9_./=+@-])*$/;

/**
 * Keys of the fleet, of AWS and of the controllers, in lower case: IAM knows `Environment` and `environment` as one key (IAM User Guide,
 * "Tags for AWS Identity and Access Management resources", on case sensitivity). The EBS CSI driver and Karpenter reject their own.
 */
const reservedPattern =
  /^(aws:|eks[:-]|kubernetes-|crossplane-|(environment|name|rds-digest|kubernetescluster|csivolumename|csivolumesnapshotname)$|([^/]*[.])?(kubernetes[.]io|k8s[.]io|k8s[.]aws|karpenter[.]sh|amazonaws[.]com|csi[.]aws[.]com|fleet[.]internal)\/)/;

/** The same patterns for the Spoke's definition. */
export const tagPatterns = { key: keyPattern.source, value: valuePattern.source, reserved: reservedPattern.source };

/** What is wrong with a tag of a company, or with all of them. */
export interface TagProblem {
  /** The tag; undefined for all of them. */
  readonly tag?: string;
  readonly what: string;
  readonly got: string;
  readonly allowed: string;
}

function problemOf(tag: string, value: string): TagProblem[] {
  if (reservedPattern.test(tag.toLowerCase()))
    return [
      {
        tag,
        what: "has a key of the fleet, of AWS or of a controller",
        got: tag,
        allowed: "keys of your own; IAM compares keys without case, so Environment is environment",
      },
    ];
  if (tag.length > tagLimits.key || !keyPattern.test(tag))
    return [
      {
        tag,
        what: "has a key that not every AWS service and controller takes",
        got: tag,
        allowed: `1 to ${tagLimits.key} letters, digits, blanks and _.:/+@-, no blank at either end, and no colon at the end or before a blank`,
      },
    ];
  if (tag.toLowerCase() === guardDutyTag.key.toLowerCase() && value !== "false")
    return [
      {
        tag,
        what: "marks what GuardDuty created, which the fleet may delete",
        got: value,
        allowed: "false, which excludes a cluster from GuardDuty",
      },
    ];
  if (value.length <= tagLimits.value && valuePattern.test(value)) return [];
  return [
    {
      tag,
      what: "has a value that not every AWS service and controller takes",
      got: value,
      allowed: `at most ${tagLimits.value} letters, digits, blanks and _.:/=+@-, no blank at the end, and no colon at the end or before a blank`,
    },
  ];
}

/** What is wrong with tags that apply together. */
export function tagProblems(tags: Tags): TagProblem[] {
  const keys = Object.keys(tags);
  const twice = keys.filter((key) => keys.some((other) => other !== key && other.toLowerCase() === key.toLowerCase()));
  return [
    ...Object.entries(tags).flatMap(([tag, value]) => problemOf(tag, value)),
    ...(twice.length === 0
      ? []
      : [
          {
            what: "has keys that differ in case only, which IAM treats as one",
            got: twice.join(", "),
            allowed: "one of them",
          },
        ]),
    ...(keys.length <= tagLimits.count
      ? []
      : [
          {
            what: "has too many tags",
            got: `${keys.length}`,
            allowed: `at most ${tagLimits.count}, because AWS takes 50 of a resource and the fleet and its controllers set others`,
          },
        ]),
  ];
}

/** Whose resources are tagged. */
export interface TagOwner {
  /** The company's. */
  readonly tags: Tags;
  readonly fleet: string;
  readonly cluster: string;
  /** Name in EKS, for what roles of a spoke recognize by it. */
  readonly eksCluster?: string;
  readonly environment: string;
}

/** The tags of everything in AWS that belongs to a cluster: the company's, and the fleet's own, which override them. */
export const clusterTags = ({ tags, fleet, cluster, eksCluster, environment }: TagOwner): Tags => ({
  ...tags,
  [fleetTag]: fleet,
  [clusterTag]: cluster,
  ...(eksCluster === undefined ? {} : { [principalTags.cluster]: eksCluster }),
  environment,
});
