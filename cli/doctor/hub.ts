import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { kubernetesVersions } from "../../components/versions.ts";
import { fleetNames } from "../../lib/names.ts";
import { compare } from "../../lib/version.ts";
import { type AwsConfig, isMissing, untold } from "./aws.ts";
import { type Finding, note, ok, unchecked, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

const name = "Kubernetes of the hub";
const minorOf = (version: string): number => Number(version.split(".")[1]);

const releaseFor = (version: string): string =>
  `take a release of this project that supports ${version} (this one: ${kubernetesVersions.join(", ")})`;

/**
 * A control plane that is ahead of its stack. EKS raises one with `supportType: STANDARD` by itself when its version's standard support
 * ends (EKS User Guide, "Manage EKS extended support"), and add-ons and nodes are left to the user ("Understand the Kubernetes version
 * lifecycle on EKS").
 */
function ahead(found: string, wanted: string, release: string | undefined): Finding {
  const message =
    `the control plane runs ${found}, the stack says ${wanted}. EKS raises a control plane by itself when the standard support of its ` +
    "version ends; add-ons and nodes keep their versions until the stack names the new one";
  if (!kubernetesVersions.includes(found))
    return wrong(name, message, `${releaseFor(found)}, then run fleet doctor again`);
  const pinned = release ? ["pulumi config rm nodeReleaseVersion   # or set it to a release for the new version"] : [];
  return wrong(
    name,
    message,
    [
      `pulumi config set kubernetesVersion ${found}`,
      ...pinned,
      "pulumi refresh   # so that Pulumi's state knows the version too",
      "pulumi up   # add-ons and nodes follow",
    ].join("\n"),
  );
}

/**
 * A control plane that is behind the stack: EKS upgrades one minor at a time (EKS User Guide, "Update existing cluster to new Kubernetes
 * version").
 */
function behind(found: string, wanted: string): Finding {
  const next = `1.${minorOf(found) + 1}`;
  if (next === wanted)
    return note(name, `the control plane runs ${found}, the stack says ${wanted}`, "pulumi up raises it");
  const raise = `pulumi config set kubernetesVersion ${next} and pulumi up, and so on up to ${wanted}`;
  return wrong(
    name,
    `the control plane runs ${found}, the stack says ${wanted}, and EKS upgrades one minor at a time`,
    kubernetesVersions.includes(next) ? raise : `${releaseFor(next)}; there ${raise}`,
  );
}

/**
 * A hub that doesn't exist yet, whose API server pulumi up couldn't reach to install the charts: no network is connected to a VPC that the
 * stack creates (docs/decisions/0007-access-entries-and-endpoint-limits.md).
 */
function firstRun({ endpointPublicAccess, endpointPrivateAccess, vpcId }: Stack["settings"]): Finding[] {
  if (endpointPublicAccess !== false || endpointPrivateAccess !== true || vpcId !== "") return [];
  return [
    wrong(
      "endpoint of the hub",
      "the first pulumi up can't reach a private endpoint in a VPC that the stack creates: no network is connected to it yet",
      "pulumi config set endpointPublicAccess true with your address in endpointPublicAccessCidrs until your network is connected, or set vpcId " +
        "to a VPC that exists and run pulumi up there (docs/guides/deploy.md#private-endpoints)",
    ),
  ];
}

/** Whether the hub's control plane runs the stack's version; before there is a hub, whether pulumi up can reach its API server. */
export async function checkHub({ settings, region }: Stack, config: AwsConfig): Promise<Finding[]> {
  const { fleet, kubernetesVersion: wanted, nodeReleaseVersion } = settings;
  if (region === undefined || fleet === undefined || wanted === undefined) return [];
  const eks = new EKSClient({ ...config, region });
  let found: string | undefined;
  try {
    found = (await eks.send(new DescribeClusterCommand({ name: fleetNames(fleet).hubCluster }))).cluster?.version;
  } catch (error) {
    return isMissing(error) ? firstRun(settings) : [untold(name, error, "eks:DescribeCluster")];
  }
  if (found === undefined) return [unchecked(name, "EKS does not report its version", "run this again")];
  const order = compare(found, wanted);
  if (order === 0) return [ok(name, found)];
  return [order > 0 ? ahead(found, wanted, nodeReleaseVersion) : behind(found, wanted)];
}
