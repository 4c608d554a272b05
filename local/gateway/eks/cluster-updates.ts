import {
  checkedGroups,
  checkedSubnets,
  encryptionOf,
  endpointAccess,
  loggingOf,
  supportType,
} from "./cluster-config.ts";
import { expectActive } from "./clusters.ts";
import { inUse, invalidParameter, invalidRequest, notServed } from "./errors.ts";
import type { ClusterRecord, Update } from "./model.ts";
import {
  type Call,
  type EksContext,
  type Operation,
  onCluster,
  optionalBoolean,
  optionalString,
  pathPart,
  requiredString,
  structure,
} from "./operation.ts";
import { beginUpdate, runningUpdates } from "./updates.ts";
import { expectVersion, minorOf } from "./versions.ts";

type Edit = (record: ClusterRecord) => { type: NonNullable<Update["type"]>; params: Record<string, unknown> };

export const clusterUpdateOperations: readonly Operation[] = [
  {
    name: "UpdateClusterVersion",
    method: "POST",
    path: "/clusters/{name}/updates",
    accepts: ["version", "clientRequestToken", "force"],
    authorize: onCluster,
    run: (context, call) => updateCluster(context, call, versionEdit(requiredString(call.body, "version"))),
  },
  {
    name: "UpdateClusterConfig",
    method: "POST",
    path: "/clusters/{name}/update-config",
    accepts: [
      "resourcesVpcConfig",
      "logging",
      "clientRequestToken",
      "accessConfig",
      "upgradePolicy",
      "deletionProtection",
    ],
    authorize: onCluster,
    run: async (context, call) => updateCluster(context, call, await configEdit(context, call)),
  },
  {
    name: "AssociateEncryptionConfig",
    method: "POST",
    path: "/clusters/{name}/encryption-config/associate",
    accepts: ["encryptionConfig", "clientRequestToken"],
    authorize: onCluster,
    run: async (context, call) => {
      const encryption = (await encryptionOf(context, call.body)) ?? [];
      return updateCluster(context, call, (record) => {
        if (record.cluster.encryptionConfig !== undefined)
          throw invalidParameter("Encryption config is already enabled for the cluster");
        record.cluster.encryptionConfig = encryption;
        return { type: "AssociateEncryptionConfig", params: { EncryptionConfig: encryption } };
      });
    },
  },
];

async function updateCluster(context: EksContext, call: Call, edit: Edit): Promise<{ update: Update }> {
  const name = pathPart(call, "name");
  const update = await context.store.change(name, (record) => {
    if (runningUpdates(record).length > 0) throw inUse(`Cluster ${name} has an update in progress`);
    expectActive(record);
    const { type, params } = edit(record);
    record.cluster.status = "UPDATING";
    return beginUpdate(context, record, type, params);
  });
  context.wake(name);
  return { update };
}

/** One minor at a time, never back; the control plane restarts under the new one, node groups are never more than that behind. */
function versionEdit(version: string): Edit {
  expectVersion(version);
  return (record) => {
    const now = record.cluster.version;
    if (minorOf(version) !== minorOf(now) + 1)
      throw invalidParameter(
        `Unsupported Kubernetes minor version update from ${now} to ${version}: allowed is ${`1.${minorOf(now) + 1}`}`,
      );
    const behind = Object.values(record.nodegroups).filter(
      ({ nodegroup }) => minorOf(version) - minorOf(nodegroup.version) > 3,
    );
    if (behind.length > 0)
      throw invalidRequest(
        `Nodegroups ${behind.map(({ nodegroup }) => nodegroup.nodegroupName).join(", ")} must be updated first: they would be more than three minors behind ${version}`,
      );
    return { type: "VersionUpdate", params: { Version: version, PlatformVersion: record.cluster.platformVersion } };
  };
}

async function configEdit(context: EksContext, call: Call): Promise<Edit> {
  const asked = ["resourcesVpcConfig", "logging", "accessConfig", "upgradePolicy", "deletionProtection"].filter(
    (member) => call.body[member] !== undefined && call.body[member] !== null,
  );
  if (asked.length !== 1)
    throw invalidParameter(`exactly one type of update can be made at a time, got ${asked.join(", ") || "none"}`);
  switch (asked[0]) {
    case "resourcesVpcConfig":
      return vpcEdit(context, call);
    case "logging":
      return loggingEdit(call);
    case "upgradePolicy":
      return (record) => {
        record.cluster.upgradePolicy = { supportType: supportType(call.body) };
        return { type: "UpgradePolicyUpdate", params: { UpgradePolicy: record.cluster.upgradePolicy } };
      };
    case "deletionProtection":
      return (record) => {
        record.cluster.deletionProtection = optionalBoolean(call.body, "deletionProtection") ?? false;
        return { type: "DeletionProtectionUpdate", params: { DeletionProtection: record.cluster.deletionProtection } };
      };
    default:
      return accessEdit(call);
  }
}

async function vpcEdit(context: EksContext, call: Call): Promise<Edit> {
  const members = [
    "subnetIds",
    "securityGroupIds",
    "endpointPublicAccess",
    "endpointPrivateAccess",
    "publicAccessCidrs",
  ];
  const asked = structure(call.body, "resourcesVpcConfig", members) ?? {};
  const now = context.store.get(pathPart(call, "name")).cluster.resourcesVpcConfig;
  if (asked["subnetIds"] !== undefined || asked["securityGroupIds"] !== undefined) {
    const subnets = await checkedSubnets(context, (asked["subnetIds"] as string[] | undefined) ?? now.subnetIds ?? []);
    if (subnets.vpcId !== now.vpcId)
      throw invalidParameter(`Subnets specified must belong to the cluster's VPC ${now.vpcId ?? ""}`);
    const groups = await checkedGroups(
      context,
      (asked["securityGroupIds"] as string[] | undefined) ?? now.securityGroupIds ?? [],
    );
    return (record) => {
      Object.assign(record.cluster.resourcesVpcConfig, { subnetIds: subnets.subnetIds, securityGroupIds: groups });
      return { type: "VpcConfigUpdate", params: { SubnetIds: subnets.subnetIds, SecurityGroupIds: groups } };
    };
  }
  const access = endpointAccess(asked, now);
  return (record) => {
    if (
      Object.entries(access).every(
        ([name, value]) => JSON.stringify(now[name as keyof typeof access]) === JSON.stringify(value),
      )
    )
      throw invalidParameter("Cluster is already at the desired configuration with the endpoint access asked for");
    Object.assign(record.cluster.resourcesVpcConfig, access);
    return {
      type: "EndpointAccessUpdate",
      params: {
        EndpointPublicAccess: access.endpointPublicAccess,
        EndpointPrivateAccess: access.endpointPrivateAccess,
        PublicAccessCidrs: access.publicAccessCidrs,
      },
    };
  };
}

function loggingEdit(call: Call): Edit {
  const asked = loggingOf(call.body);
  const onlyNamed = (structure(call.body, "logging", ["clusterLogging"])?.["clusterLogging"] ?? []) as {
    types?: string[];
    enabled?: boolean;
  }[];
  return (record) => {
    const enabled = new Set(
      (record.cluster.logging.clusterLogging ?? []).flatMap((setup) =>
        setup.enabled === true ? (setup.types ?? []) : [],
      ),
    );
    const before = [...enabled].sort().join();
    // Types that the call doesn't name keep their state.
    for (const setup of onlyNamed)
      for (const type of setup.types ?? [])
        setup.enabled === true ? enabled.add(type as never) : enabled.delete(type as never);
    if ([...enabled].sort().join() === before)
      throw invalidParameter("No changes needed for the logging config provided");
    record.cluster.logging = loggingOf({ logging: { clusterLogging: [{ types: [...enabled], enabled: true }] } });
    return { type: "LoggingUpdate", params: { ClusterLogging: asked } };
  };
}

function accessEdit(call: Call): Edit {
  const mode = optionalString(structure(call.body, "accessConfig", ["authenticationMode"]) ?? {}, "authenticationMode");
  if (mode !== "API")
    throw notServed(`authenticationMode ${mode ?? ""}`, 'only "API" is: the aws-auth ConfigMap is not read here');
  return () => {
    throw invalidParameter("Cluster is already at the desired configuration with authenticationMode: API");
  };
}
