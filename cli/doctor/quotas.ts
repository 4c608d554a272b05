import type { Readable } from "../../infra/settings.ts";
import { pullerPolicies } from "../../lib/iam/ecr.ts";
import { hubIdentities } from "../../lib/names.ts";
import { natGatewayCount } from "../../lib/nat-gateways.ts";
import { type QuotaName, quotas, type VcpuQuota, vcpuQuotas } from "../../lib/quotas.ts";
import { type AwsConfig, untold } from "./aws.ts";
import { type Finding, note, ok, unchecked, wrong } from "./finding.ts";
import { homeRegion, inForce } from "./quota-values.ts";
import type { Stack } from "./stack.ts";
import { counters, type Usage } from "./usage.ts";
import { hubNodes, instanceTypesOf, otherTypes, spokeNodes, vcpuShare, vcpusOf } from "./vcpus.ts";

/** What a hub or a spoke uses of each quota but those of vCPUs. */
export type Share = Readonly<Record<Exclude<QuotaName, VcpuQuota>, number>>;

/** What the hub of a stack uses. */
export function hubShare({
  vpcId,
  natGateways = "single",
  zones = 2,
  metrics = "none",
  clusterApi,
  argocdSpokes,
  argocdRoleArn,
  chartsRegistry = "",
  packagesRegistry = "",
  functionPackage = "",
}: Readable): Share {
  const gateways = vpcId ? 0 : natGatewayCount(natGateways, zones);
  return {
    vpcs: vpcId ? 0 : 1,
    addresses: gateways,
    gatewayEndpoints: vpcId ? 0 : 1,
    natGateways: Math.min(gateways, 1),
    clusters: 1,
    oidcProviders: 1,
    // Its control plane's, its nodes', and those of its controllers.
    roles:
      2 +
      hubIdentities.length +
      pullerPolicies({ chartsRegistry, packagesRegistry, functionPackage }).length +
      (metrics === "none" ? 0 : 1) +
      (clusterApi ? 1 : 0) +
      (argocdSpokes ? (argocdRoleArn ? 1 : 2) : 0),
  };
}

/** What a Spoke with only the required fields uses. */
export const spokeShare = ({ chartsRegistry = "", packagesRegistry = "" }: Readable): Share => ({
  vpcs: 1,
  gatewayEndpoints: 1,
  addresses: 1,
  natGateways: 1,
  clusters: 1,
  oidcProviders: 1,
  roles: 5 + pullerPolicies({ chartsRegistry, packagesRegistry }).length,
});

interface Wanted {
  readonly name: QuotaName;
  readonly region: string;
  readonly hub: number;
  /** What each spoke takes. */
  readonly spoke: number;
  readonly spokes: number;
  /** What a replacement of nodes takes for a while. */
  readonly replacement: number;
}

/** Compares what is left of a quota with what is going to be made. */
function judged({ name, region, hub, spoke, spokes, replacement }: Wanted, value: number, usage: Usage): Finding {
  const { name: title, service, code } = quotas[name];
  const { used, ofHub } = usage;
  const own = Math.max(0, hub - ofHub);
  const needed = own + spokes * spoke + replacement;
  const account = `${value}, of which ${used} are in use; the hub takes ${own} more, ${spokes} more ${spokes === 1 ? "spoke" : "spokes"} ${spokes * spoke}${replacement > 0 ? `, new nodes of a node group that is replaced ${replacement}` : ""}`;
  if (used + needed <= value) return ok(title, account);
  return wrong(
    title,
    account,
    `remove what is not used, or request an increase, which may take days:\naws service-quotas request-service-quota-increase --region ${
      service === "iam" ? homeRegion(region) : region
    } --service-code ${service} --quota-code ${code} --desired-value ${used + needed}`,
  );
}

async function look(wanted: Wanted, config: AwsConfig, usage: ReturnType<typeof counters>): Promise<Finding> {
  const { name, region } = wanted;
  const { name: title } = quotas[name];
  let value: number | undefined;
  try {
    value = await inForce(name, region, config);
  } catch (error) {
    return untold(title, error, "servicequotas:GetServiceQuota and servicequotas:GetAWSDefaultServiceQuota");
  }
  if (value === undefined)
    return unchecked(title, "Service Quotas has no value for it", "look it up in the console of Service Quotas");
  try {
    return judged(wanted, value, await usage[name].count());
  } catch (error) {
    return untold(title, error, usage[name].actions);
  }
}

/** Looks at one quota. */
type Look = (name: QuotaName, share: Pick<Wanted, "hub" | "spoke" | "replacement">) => Promise<Finding>;

/** Whether nodes find room in the quotas of vCPUs. */
async function checkVcpus({ settings, embedded }: Stack, config: AwsConfig, find: Look): Promise<Finding[]> {
  const names = Object.values(vcpuQuotas);
  if (embedded)
    return names.map((name) =>
      note(quotas[name].name, "isn't checked: nodes of the embedded cloud are no EC2 instances", "check it on AWS"),
    );
  const [hub, spoke] = [hubNodes(settings), spokeNodes];
  let sizes: Awaited<ReturnType<typeof vcpusOf>>;
  try {
    sizes = await vcpusOf(instanceTypesOf([hub, spoke]), config);
  } catch (error) {
    return names.map((name) => untold(quotas[name].name, error, "ec2:DescribeInstanceTypes"));
  }
  const findings = names.map((name) => {
    const [ofHub, ofSpoke] = [vcpuShare(name, hub, sizes), vcpuShare(name, spoke, sizes)];
    const replacement = Math.max(ofHub.replacement, ofSpoke.replacement);
    return find(name, { hub: ofHub.nodes, spoke: ofSpoke.nodes, replacement });
  });
  return [...(await Promise.all(findings)), ...otherTypes(hub)];
}

/** Whether the account's quotas have room for the rest of the hub, and for `spokes` more spokes in its region and account. */
export async function checkQuotas(stack: Stack, spokes: number, config: AwsConfig): Promise<Finding[]> {
  const { settings, region } = stack;
  if (region === undefined || settings.fleet === undefined)
    return [note("quotas", "can't be checked without a region and a fleet", "complete the configuration first")];
  const usage = counters(settings.fleet, { ...config, region });
  const find: Look = (name, share) => look({ ...share, name, region, spokes }, config, usage);
  const share = hubShare(settings);
  const names = Object.keys(share) as (keyof Share)[];
  const ofSpoke = spokeShare(settings);
  const counted = names.map((name) => find(name, { hub: share[name], spoke: ofSpoke[name], replacement: 0 }));
  return [...(await Promise.all(counted)), ...(await checkVcpus(stack, { ...config, region }, find))];
}
