import { createHash } from "node:crypto";
import { invalidParameter } from "./errors.ts";
import { EKS_VERSIONS } from "./versions.ts";

/** Release dates of node images, oldest first. */
const DATES = ["20261002", "20261101"] as const;

/** The releases of node images for a Kubernetes minor, oldest first: its version, a patch and a date. */
const nodeReleases = (version: string): string[] => DATES.map((date) => `${version}.4-${date}`);

/** The release of a node group that asks for none. */
const newestRelease = (version: string): string => nodeReleases(version).at(-1) as string;

const NODE_AMIS = "/aws/service/eks/optimized-ami";

/** The AMI of a release, by its name: the id is ours. */
const amiOf = (name: string): string => `ami-0${createHash("sha1").update(name).digest("hex").slice(0, 16)}`;

/**
 * Systems Manager's public parameters with the newest releases, and with the AMI of each (EKS User Guide, "Retrieve recommended Amazon Linux
 * AMI IDs"; the names of releases as in aws/karpenter-provider-aws, pkg/providers/amifamily/al2023.go).
 */
export const publicParameters = (): Record<string, string> =>
  Object.fromEntries(
    EKS_VERSIONS.flatMap((version) =>
      ["x86_64", "arm64"].flatMap((architecture) => {
        const folder = `${NODE_AMIS}/${version}/amazon-linux-2023/${architecture}/standard`;
        const amis = DATES.map((date) => `amazon-eks-node-al2023-${architecture}-standard-${version}-v${date}`);
        return [
          [`${folder}/recommended/release_version`, newestRelease(version)],
          [`${folder}/recommended/image_id`, amiOf(amis.at(-1) as string)],
          ...amis.map((name) => [`${folder}/${name}/image_id`, amiOf(name)]),
        ];
      }),
    ),
  );

/** The release that a request asks for, or the newest. In the words of EKS (cloudposse/terraform-aws-eks-node-group#209). */
export function releaseOf(asked: string | undefined, version: string, amiType: string): string {
  if (asked === undefined) return newestRelease(version);
  if (amiType === "CUSTOM")
    throw invalidParameter(
      "releaseVersion: a node group with an AMI of its own takes none (CreateNodegroup, API reference)",
    );
  if (!nodeReleases(version).includes(asked))
    throw invalidParameter(`Requested release version ${asked} is not valid for kubernetes version ${version}.`);
  return asked;
}

/** @throws for a release before the running one: "You cannot roll back a node group" (API model, UpdateNodegroupVersion; the user guide does). */
export function expectNoRollBack(running: string, asked: string, version: string): void {
  const releases = nodeReleases(version);
  if (releases.indexOf(asked) < releases.indexOf(running))
    throw invalidParameter(`Nodegroup can't be rolled back from release version ${running} to ${asked}`);
}
