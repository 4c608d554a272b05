import type { Run } from "../doctor/process.ts";

/** AMI types of nodes, with the architecture in the names of AWS's parameters. */
const amiTypes: Readonly<Record<string, "x86_64" | "arm64">> = {
  AL2023_x86_64_STANDARD: "x86_64",
  AL2023_ARM_64_STANDARD: "arm64",
};

/** The public parameter with the newest release of an AMI (EKS User Guide, "Retrieve recommended Amazon Linux AMI IDs"). */
export interface AmiParameter {
  readonly kubernetesVersion: string;
  readonly amiType: string;
  readonly name: string;
}

/** The parameters of all combinations of Kubernetes versions and AMI types. */
export const parameters = (versions: readonly string[], types = Object.keys(amiTypes)): readonly AmiParameter[] =>
  versions.flatMap((kubernetesVersion) =>
    types.map((amiType) => ({
      kubernetesVersion,
      amiType,
      name: `/aws/service/eks/optimized-ami/${kubernetesVersion}/amazon-linux-2023/${amiTypes[amiType]}/standard/recommended/release_version`,
    })),
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
