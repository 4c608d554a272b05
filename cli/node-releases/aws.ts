import type { AmiType } from "../../functions/spoke/api.ts";
import type { Run } from "../doctor/process.ts";

/** Name of a parameter, by the minor of Kubernetes. */
type Name = (version: string) => string;

const linux =
  (architecture: string, variant: string): Name =>
  (version) =>
    `/aws/service/eks/optimized-ami/${version}/amazon-linux-2023/${architecture}/${variant}/recommended/release_version`;
const bottlerocket =
  (architecture: string, variant = ""): Name =>
  (version) =>
    `/aws/service/bottlerocket/aws-k8s-${version}${variant}/${architecture}/latest/image_version`;

/** AMI types of nodes, with the names of AWS's parameters. */
const amiTypes: Readonly<Record<AmiType, Name>> = {
  AL2023_x86_64_STANDARD: linux("x86_64", "standard"),
  AL2023_ARM_64_STANDARD: linux("arm64", "standard"),
  AL2023_x86_64_NVIDIA: linux("x86_64", "nvidia"),
  AL2023_ARM_64_NVIDIA: linux("arm64", "nvidia"),
  BOTTLEROCKET_x86_64: bottlerocket("x86_64"),
  BOTTLEROCKET_ARM_64: bottlerocket("arm64"),
  BOTTLEROCKET_x86_64_NVIDIA: bottlerocket("x86_64", "-nvidia"),
  BOTTLEROCKET_ARM_64_NVIDIA: bottlerocket("arm64", "-nvidia"),
};

/** Whether a parameter has the newest release of this AMI type. */
export const isAmiType = (name: string): name is AmiType => Object.hasOwn(amiTypes, name);

/** The AMI types of `spec.nodes`: the Composition gets the releases of others where it names one already. */
export const standardTypes: readonly AmiType[] = ["AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD"];

/**
 * The public parameter with the newest release of an AMI (EKS User Guide, "Retrieve recommended Amazon Linux AMI IDs" and "Retrieve
 * recommended Bottlerocket AMI IDs").
 */
export interface AmiParameter {
  readonly kubernetesVersion: string;
  readonly amiType: AmiType;
  readonly name: string;
}

/** The parameters of all combinations of Kubernetes versions and AMI types. */
export const parameters = (
  versions: readonly string[],
  types: readonly AmiType[] = standardTypes,
): readonly AmiParameter[] =>
  versions.flatMap((kubernetesVersion) =>
    types.map((amiType) => ({ kubernetesVersion, amiType, name: amiTypes[amiType](kubernetesVersion) })),
  );

/** Maximum number of names in one call (Systems Manager API reference, GetParameters). */
const AT_ONCE = 10;

interface Answer {
  readonly Parameters: readonly { readonly Name: string; readonly Value: string }[];
}

/** The newest releases in a region. @throws Error with the releases that AWS does not have, or with the message of the aws CLI */
export async function newestReleases(
  run: Run,
  wanted: readonly AmiParameter[],
  region: string | undefined,
): Promise<ReadonlyMap<AmiParameter, string>> {
  const values = new Map<string, string>();
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const names = wanted.slice(at, at + AT_ONCE).map(({ name }) => name);
    const where = region === undefined ? [] : ["--region", region];
    const ended = await run("aws", ["ssm", "get-parameters", "--output", "json", ...where, "--names", ...names]);
    if (ended === undefined) throw new Error("the aws CLI is not on PATH: install it, then run this again");
    if (ended.code !== 0) throw new Error(`aws ssm get-parameters failed: ${ended.stderr.trim()}`);
    for (const { Name, Value } of (JSON.parse(ended.stdout) as Answer).Parameters) values.set(Name, Value);
  }
  const missing = wanted.filter(({ name }) => !values.has(name));
  if (missing.length > 0)
    throw new Error(
      `EKS has no AMI release for ${missing.map(({ kubernetesVersion, amiType }) => `Kubernetes ${kubernetesVersion} (${amiType})`).join(", ")} in ${region ?? "this region"}: remove the version, or choose another region with --region`,
    );
  return new Map(wanted.map((parameter) => [parameter, values.get(parameter.name) as string]));
}
