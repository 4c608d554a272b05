import { type Cidr, networkOf, reservedFor } from "../../../lib/cidr.ts";
import { invalidParameter, notServed } from "./errors.ts";
import type { Cluster } from "./model.ts";
import {
  type EksContext,
  optionalBoolean,
  optionalString,
  requiredString,
  stringList,
  structure,
} from "./operation.ts";
import { DEFAULT_VERSION, expectVersion } from "./versions.ts";

const LOG_TYPES = ["api", "audit", "authenticator", "controllerManager", "scheduler"] as const;

type Body = Readonly<Record<string, unknown>>;
type VpcConfig = Cluster["resourcesVpcConfig"];

/** The checked members of a CreateCluster call, the VPC aside. */
export interface ClusterSpec {
  readonly version: string;
  readonly roleArn: string;
  readonly logging: Cluster["logging"];
  readonly encryptionConfig: Cluster["encryptionConfig"];
  readonly creatorIsAdmin: boolean;
  readonly selfManagedAddons: boolean;
  readonly supportType: "STANDARD" | "EXTENDED";
  readonly deletionProtection: boolean;
}

export async function clusterSpec(context: EksContext, body: Body): Promise<ClusterSpec> {
  const version = optionalString(body, "version") ?? DEFAULT_VERSION;
  expectVersion(version);
  const roleArn = await assumableRole(context, requiredString(body, "roleArn"), "eks.amazonaws.com");
  const network = structure(body, "kubernetesNetworkConfig", ["ipFamily", "elasticLoadBalancing"]);
  if (network !== undefined && (optionalString(network, "ipFamily") ?? "ipv4") !== "ipv4")
    throw notServed("ipFamily ipv6", "use ipv4");
  if (optionalBoolean(structure(network ?? {}, "elasticLoadBalancing", ["enabled"]) ?? {}, "enabled") === true)
    throw notServed("elasticLoadBalancing (Auto Mode)", "leave it off");
  return {
    version,
    roleArn,
    logging: loggingOf(body),
    encryptionConfig: await encryptionOf(context, body),
    creatorIsAdmin: creatorIsAdmin(body),
    selfManagedAddons: optionalBoolean(body, "bootstrapSelfManagedAddons") ?? true,
    supportType: supportType(body),
    deletionProtection: optionalBoolean(body, "deletionProtection") ?? false,
  };
}

/** Checks that a role exists and trusts a service; gives its ARN. */
export async function assumableRole(context: EksContext, arn: string, service: string): Promise<string> {
  const role = await roleWithArn(context, arn);
  if (!role.trustPolicy.includes(service))
    throw invalidParameter(
      `Role with arn: ${arn}, could not be assumed because the trusted entity is not correct: its trust policy doesn't name ${service}`,
    );
  return arn;
}

/** The role with exactly this ARN. Throws InvalidParameterException where there is none. */
export async function roleWithArn(
  context: EksContext,
  arn: string,
): Promise<{ arn: string; name: string; trustPolicy: string }> {
  const role = await context.aws.role(/:role\/(?:.*\/)?([^/]+)$/.exec(arn)?.[1] ?? arn);
  if (role?.arn !== arn)
    throw invalidParameter(`Role with arn: ${arn}, could not be assumed because it does not exist`);
  return role;
}

function creatorIsAdmin(body: Body): boolean {
  const access =
    structure(body, "accessConfig", ["bootstrapClusterCreatorAdminPermissions", "authenticationMode"]) ?? {};
  const mode = optionalString(access, "authenticationMode") ?? "CONFIG_MAP";
  if (mode !== "API")
    throw notServed(
      `authenticationMode ${mode}`,
      'set accessConfig.authenticationMode to "API": the aws-auth ConfigMap is not read here',
    );
  return optionalBoolean(access, "bootstrapClusterCreatorAdminPermissions") ?? true;
}

export function supportType(body: Body): "STANDARD" | "EXTENDED" {
  const asked = optionalString(structure(body, "upgradePolicy", ["supportType"]) ?? {}, "supportType") ?? "EXTENDED";
  if (asked !== "STANDARD" && asked !== "EXTENDED")
    throw invalidParameter(`upgradePolicy.supportType: got ${asked}, allowed are STANDARD and EXTENDED`);
  return asked;
}

/** The logging of a body, in the form that DescribeCluster gives. Recorded: no log is delivered here. */
export function loggingOf(body: Body): Cluster["logging"] {
  const setups = structure(body, "logging", ["clusterLogging"])?.["clusterLogging"] ?? [];
  if (!Array.isArray(setups)) throw invalidParameter("logging.clusterLogging: a list is allowed");
  const enabled = new Set<string>();
  for (const setup of setups as Body[]) {
    const types = stringList(setup, "types") ?? [];
    const unknown = types.filter((type) => !(LOG_TYPES as readonly string[]).includes(type));
    if (unknown.length > 0)
      throw invalidParameter(`logging types: got ${unknown.join(", ")}, allowed are ${LOG_TYPES.join(", ")}`);
    for (const type of types) if (optionalBoolean(setup, "enabled") === true) enabled.add(type);
  }
  const on = LOG_TYPES.filter((type) => enabled.has(type));
  const off = LOG_TYPES.filter((type) => !enabled.has(type));
  return {
    clusterLogging: [
      ...(on.length > 0 ? [{ types: on, enabled: true }] : []),
      ...(off.length > 0 ? [{ types: off, enabled: false }] : []),
    ],
  };
}

/** The encryption of Secrets. Checked against KMS and recorded: etcd is not encrypted here. */
export async function encryptionOf(context: EksContext, body: Body): Promise<Cluster["encryptionConfig"]> {
  const configs = body["encryptionConfig"];
  if (configs === undefined || configs === null) return undefined;
  if (!Array.isArray(configs) || configs.length !== 1)
    throw invalidParameter("encryptionConfig: exactly one item is allowed");
  const config = configs[0] as Body;
  const resources = stringList(config, "resources") ?? [];
  if (resources.length !== 1 || resources[0] !== "secrets")
    throw invalidParameter(`encryptionConfig.resources: got ${JSON.stringify(resources)}, allowed is ["secrets"]`);
  const keyArn = requiredString(structure(config, "provider", ["keyArn"]) ?? {}, "keyArn");
  if (!(await context.aws.keyEnabled(keyArn)))
    throw invalidParameter(`encryptionConfig.provider.keyArn: there is no enabled KMS key ${keyArn}`);
  return [{ resources, provider: { keyArn } }];
}

/** The VPC of a cluster: subnets of one VPC in two zones or more; who may reach the endpoint is enforced (endpoint-access.ts). */
export async function vpcConfig(context: EksContext, body: Body): Promise<VpcConfig> {
  const asked =
    structure(body, "resourcesVpcConfig", [
      "subnetIds",
      "securityGroupIds",
      "endpointPublicAccess",
      "endpointPrivateAccess",
      "publicAccessCidrs",
    ]) ?? {};
  const { subnetIds, vpcId } = await checkedSubnets(context, stringList(asked, "subnetIds") ?? []);
  return {
    subnetIds,
    securityGroupIds: await checkedGroups(context, stringList(asked, "securityGroupIds") ?? []),
    vpcId,
    ...endpointAccess(asked, {
      endpointPublicAccess: true,
      endpointPrivateAccess: false,
      publicAccessCidrs: ["0.0.0.0/0"],
    }),
  };
}

export async function checkedSubnets(
  context: EksContext,
  subnetIds: string[],
): Promise<{ subnetIds: string[]; vpcId: string }> {
  const found = await context.aws.subnets(subnetIds);
  const missing = subnetIds.filter((id) => !found.some((subnet) => subnet.id === id));
  if (missing.length > 0) throw invalidParameter(`The subnet ID '${missing.join("', '")}' does not exist`);
  if (new Set(found.map((subnet) => subnet.zone)).size < 2)
    throw invalidParameter("Subnets specified must be in at least two different AZs");
  const vpcs = [...new Set(found.map((subnet) => subnet.vpcId))];
  if (vpcs.length !== 1)
    throw invalidParameter(`Subnets specified must belong to the same VPC, got ${vpcs.join(", ")}`);
  return { subnetIds, vpcId: vpcs[0] ?? "" };
}

export async function checkedGroups(context: EksContext, ids: string[]): Promise<string[]> {
  const found = ids.length === 0 ? [] : await context.aws.securityGroups(ids);
  const missing = ids.filter((id) => !found.includes(id));
  if (missing.length > 0) throw invalidParameter(`The security group '${missing.join("', '")}' does not exist`);
  return ids;
}

type EndpointAccess = Pick<VpcConfig, "endpointPublicAccess" | "endpointPrivateAccess" | "publicAccessCidrs">;

/** The endpoint access that a body asks for, over what holds now. */
export function endpointAccess(asked: Body, now: EndpointAccess): EndpointAccess {
  const access = {
    endpointPublicAccess: optionalBoolean(asked, "endpointPublicAccess") ?? now.endpointPublicAccess ?? true,
    endpointPrivateAccess: optionalBoolean(asked, "endpointPrivateAccess") ?? now.endpointPrivateAccess ?? false,
    publicAccessCidrs: stringList(asked, "publicAccessCidrs") ?? now.publicAccessCidrs ?? [],
  };
  if (!access.endpointPublicAccess && !access.endpointPrivateAccess)
    throw invalidParameter("Private and public endpoint access cannot be false: turn one of them on");
  const wrong = access.publicAccessCidrs.filter((cidr) => networkOf(cidr) === undefined);
  if (wrong.length > 0)
    throw invalidParameter(`publicAccessCidrs: got ${wrong.join(", ")}, allowed are IPv4 CIDR blocks`);
  const reserved = access.publicAccessCidrs.filter((cidr) => reservedFor(networkOf(cidr) as Cidr) !== undefined);
  if (reserved.length > 0)
    throw invalidParameter(`The following CIDRs are not allowed in publicAccessCidrs: [${reserved.join(", ")}]`);
  if (!access.endpointPublicAccess) return { ...access, publicAccessCidrs: [] };
  return {
    ...access,
    publicAccessCidrs: access.publicAccessCidrs.length > 0 ? access.publicAccessCidrs : ["0.0.0.0/0"],
  };
}
