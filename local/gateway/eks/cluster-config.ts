import * as z from "zod";
import { type Cidr, isServiceBlock, networkOf, overlaps, parseCidr, reservedFor } from "../../product.ts";
import { autoModeSettings, elasticLoadBalancing } from "./auto-mode.ts";
import { invalidParameter } from "./errors.ts";
import type { Cluster } from "./model.ts";
import { type EksContext, structure, text, texts } from "./operation.ts";

const LOG_TYPES = ["api", "audit", "authenticator", "controllerManager", "scheduler"] as const;

/** A setting that accepts a single value here. */
const only = <const Value extends string | boolean>(value: Value, instead: string) =>
  z.literal(value, {
    error: ({ input }) => `${JSON.stringify(input ?? null)} is not served by the embedded cloud: ${instead}`,
  });

const authenticationMode = only(
  "API",
  'set accessConfig.authenticationMode to "API": the aws-auth ConfigMap is not read here',
);

/** EKS API Reference, KubernetesNetworkConfigRequest. Services here keep the addresses of the embedded cloud. */
const serviceIpv4Cidr = z.string().superRefine((text, context) => {
  const block = parseCidr(text);
  if (block === undefined || !isServiceBlock(block))
    context.addIssue({
      code: "custom",
      message: `serviceIpv4Cidr: got ${text}, allowed is a block from /12 to /24 in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
    });
});

export const kubernetesNetworkConfig = structure({
  serviceIpv4Cidr: serviceIpv4Cidr.optional(),
  ipFamily: only("ipv4", "use ipv4").optional(),
  elasticLoadBalancing: elasticLoadBalancing.optional(),
});

const upgradePolicy = structure({ supportType: z.enum(["STANDARD", "EXTENDED"]).default("EXTENDED") });

const logging = structure({
  clusterLogging: z
    .array(structure({ types: z.array(z.enum(LOG_TYPES)).default([]), enabled: z.boolean().default(false) }))
    .default([]),
});

export const encryptionConfig = z
  .array(
    structure({ resources: z.array(only("secrets", "use secrets")).length(1), provider: structure({ keyArn: text }) }),
  )
  .length(1);

/** Reserved blocks are refused in the words of EKS. */
const publicAccessCidrs = texts.superRefine((cidrs, context) => {
  const refuse = (message: string) => context.addIssue({ code: "custom", message });
  const wrong = cidrs.filter((cidr) => networkOf(cidr) === undefined);
  if (wrong.length > 0) return refuse(`publicAccessCidrs: got ${wrong.join(", ")}, allowed are IPv4 CIDR blocks`);
  const reserved = cidrs.filter((cidr) => reservedFor(networkOf(cidr) as Cidr) !== undefined);
  if (reserved.length > 0) refuse(`The following CIDRs are not allowed in publicAccessCidrs: [${reserved.join(", ")}]`);
});

const resourcesVpcConfig = structure({
  subnetIds: texts.optional(),
  securityGroupIds: texts.optional(),
  endpointPublicAccess: z.boolean().optional(),
  endpointPrivateAccess: z.boolean().optional(),
  publicAccessCidrs: publicAccessCidrs.optional(),
});

/** The settings that UpdateClusterConfig changes. */
export const settings = {
  resourcesVpcConfig: resourcesVpcConfig.optional(),
  logging: logging.optional(),
  accessConfig: structure({ authenticationMode }).optional(),
  upgradePolicy: upgradePolicy.optional(),
  deletionProtection: z.boolean().optional(),
  ...autoModeSettings,
  kubernetesNetworkConfig: structure({ elasticLoadBalancing: elasticLoadBalancing.optional() }).optional(),
};

/** The same settings for CreateCluster, with EKS's defaults. */
export const newSettings = {
  resourcesVpcConfig,
  logging: logging.default({ clusterLogging: [] }),
  accessConfig: structure({
    authenticationMode,
    bootstrapClusterCreatorAdminPermissions: z.boolean().default(true),
  }).prefault({} as never),
  upgradePolicy: upgradePolicy.default({ supportType: "EXTENDED" }),
  deletionProtection: z.boolean().default(false),
  ...autoModeSettings,
};

type AskedVpc = z.output<typeof resourcesVpcConfig>;
type VpcConfig = Cluster["resourcesVpcConfig"];

/** The logging with these types on, in the form that DescribeCluster gives. Recorded: no log is delivered here. */
export function loggingWith(enabled: ReadonlySet<string>): Cluster["logging"] {
  const setups = [true, false].map((on) => ({
    types: LOG_TYPES.filter((type) => enabled.has(type) === on),
    enabled: on,
  }));
  return { clusterLogging: setups.filter(({ types }) => types.length > 0) };
}

/** The log types that are on after a change; types that it doesn't name keep their state. */
export function enabledTypes(now: Cluster["logging"] | undefined, asked: z.output<typeof logging>): Set<string> {
  const setups = [...(now?.clusterLogging ?? []), ...asked.clusterLogging];
  const enabled = new Set<string>();
  for (const { types = [], enabled: on } of setups)
    for (const type of types) on === true ? enabled.add(type) : enabled.delete(type);
  return enabled;
}

/** Throws InvalidParameterException unless KMS has the key and it is enabled. */
export async function expectKey(context: EksContext, [config]: z.output<typeof encryptionConfig>): Promise<void> {
  const keyArn = config?.provider.keyArn ?? "";
  if (!(await context.aws.keyEnabled(keyArn)))
    throw invalidParameter(`encryptionConfig.provider.keyArn: there is no enabled KMS key ${keyArn}`);
}

/** Looks subnets up. Throws InvalidParameterException when one does not exist. */
export async function existingSubnets(context: EksContext, ids: readonly string[]) {
  const found = await context.aws.subnets(ids);
  const missing = ids.filter((id) => !found.some((subnet) => subnet.id === id));
  if (missing.length > 0) throw invalidParameter(`The subnet ID '${missing.join("', '")}' does not exist`);
  return found;
}

/** Checks the requested subnets and security groups: one VPC, at least two zones. */
export async function networkConfig(
  context: EksContext,
  { subnetIds = [], securityGroupIds = [] }: AskedVpc,
): Promise<Pick<VpcConfig, "subnetIds" | "securityGroupIds" | "vpcId">> {
  const subnets = await existingSubnets(context, subnetIds);
  if (new Set(subnets.map(({ zone }) => zone)).size < 2)
    throw invalidParameter("Subnets specified must be in at least two different AZs");
  const [vpcId, ...others] = new Set(subnets.map((subnet) => subnet.vpcId));
  if (others.length > 0)
    throw invalidParameter(`Subnets specified must belong to the same VPC, got ${[vpcId, ...others].join(", ")}`);
  const groups = securityGroupIds.length === 0 ? [] : await context.aws.securityGroups(securityGroupIds);
  const missing = securityGroupIds.filter((id) => !groups.includes(id));
  if (missing.length > 0) throw invalidParameter(`The security group '${missing.join("', '")}' does not exist`);
  return { subnetIds, securityGroupIds, vpcId };
}

/** Throws InvalidParameterException when Services would be in a block of the VPC. */
export async function expectOutside(context: EksContext, services: string | undefined, vpcId: string): Promise<void> {
  const wanted = parseCidr(services ?? "");
  if (wanted === undefined) return;
  const { cidrs } = await context.aws.network(vpcId);
  const block = cidrs.find((each) => overlaps(networkOf(each) as Cidr, wanted));
  if (block !== undefined)
    throw invalidParameter(`serviceIpv4Cidr: got ${services}, which overlaps ${block} of the VPC ${vpcId}`);
}

/** The endpoint access after a change: requested values over current ones. endpoint-access.ts enforces it. */
export function endpointAccess(asked: AskedVpc, now: VpcConfig | undefined) {
  const { endpointPublicAccess = true, endpointPrivateAccess = false, publicAccessCidrs = [] } = { ...now, ...asked };
  if (!endpointPublicAccess && !endpointPrivateAccess)
    throw invalidParameter("Private and public endpoint access cannot be false: turn one of them on");
  const named = publicAccessCidrs.length > 0 ? publicAccessCidrs : ["0.0.0.0/0"];
  return { endpointPublicAccess, endpointPrivateAccess, publicAccessCidrs: endpointPublicAccess ? named : [] };
}
