import { randomUUID } from "node:crypto";
import { parse } from "yaml";
import { addonVersion, type CatalogEntry, catalogEntry, NETWORK_POLICY } from "./addon-catalog.ts";
import { roleWithArn } from "./cluster-config.ts";
import { expectActive } from "./clusters.ts";
import { EksError, inUse, invalidParameter, notServed } from "./errors.ts";
import type { Addon, ClusterRecord, Update } from "./model.ts";
import {
  type Call,
  type EksContext,
  eksArn,
  listOfCluster,
  type Operation,
  onCluster,
  optionalString,
  passedRole,
  pathPart,
  requiredString,
  tagsOf,
} from "./operation.ts";
import { beginUpdate } from "./updates.ts";

const PATH = "/clusters/{name}/addons/{addonName}";

const onAddon = (context: EksContext, call: Omit<Call, "caller">) => {
  const { name = "", addonName = "" } = call.path;
  return {
    resource: context.store.find(name)?.addons[addonName]?.addonArn ?? eksArn(context, `addon/${name}/${addonName}/*`),
  };
};

export const addonOperations: readonly Operation[] = [
  {
    name: "CreateAddon",
    method: "POST",
    path: "/clusters/{name}/addons",
    accepts: [
      "addonName",
      "addonVersion",
      "serviceAccountRoleArn",
      "resolveConflicts",
      "clientRequestToken",
      "tags",
      "configurationValues",
      "podIdentityAssociations",
    ],
    authorize: (context, call) => ({
      ...onCluster(context, call),
      passRoles: passedRole(call.body["serviceAccountRoleArn"], "eks.amazonaws.com"),
    }),
    run: createAddon,
  },
  listOfCluster("ListAddons", "/clusters/{name}/addons", "addons", ({ addons }) => addons),
  {
    name: "DescribeAddon",
    method: "GET",
    path: PATH,
    authorize: onAddon,
    run: (context, call) => ({
      addon: addonOf(context.store.get(pathPart(call, "name")), pathPart(call, "addonName")),
    }),
  },
  {
    name: "UpdateAddon",
    method: "POST",
    path: `${PATH}/update`,
    accepts: [
      "addonVersion",
      "serviceAccountRoleArn",
      "resolveConflicts",
      "clientRequestToken",
      "configurationValues",
      "podIdentityAssociations",
    ],
    authorize: (context, call) => ({
      ...onAddon(context, call),
      passRoles: passedRole(call.body["serviceAccountRoleArn"], "eks.amazonaws.com"),
    }),
    run: updateAddon,
  },
  {
    name: "DeleteAddon",
    method: "DELETE",
    path: PATH,
    authorize: onAddon,
    run: async (context, call) => {
      const name = pathPart(call, "name");
      const preserve = call.query.get("preserve") === "true";
      const addon = await context.store.change(name, (record) => {
        const found = addonOf(record, pathPart(call, "addonName"));
        found.status = "DELETING";
        // Preserved software stays as the cluster's own, like that of bootstrapSelfManagedAddons.
        if (preserve && found.addonName === "coredns") record.selfManagedAddons = true;
        else if (found.addonName === "coredns") record.selfManagedAddons = false;
        if (found.addonName === VPC_CNI) record.preservedNetworkPolicy = preserve && asksForNetworkPolicy(found);
        return found;
      });
      context.wake(name);
      return { addon };
    },
  },
];

async function createAddon(context: EksContext, call: Call): Promise<{ addon: Addon }> {
  const clusterName = pathPart(call, "name");
  const entry = catalogEntry(requiredString(call.body, "addonName"));
  const cluster = context.store.get(clusterName);
  const settings = await settingsOf(context, entry, call);
  const addon: Addon = {
    addonName: entry.name,
    clusterName,
    status: "CREATING",
    addonVersion: addonVersion(entry, cluster.cluster.version, optionalString(call.body, "addonVersion")),
    health: { issues: [] },
    addonArn: eksArn(context, `addon/${clusterName}/${entry.name}/${randomUUID()}`),
    createdAt: context.now(),
    modifiedAt: context.now(),
    tags: tagsOf(call.body),
    owner: "aws",
    publisher: "eks",
    namespaceConfig: { namespace: entry.namespace },
    ...settings,
  };
  await context.store.change(clusterName, (record) => {
    expectActive(record);
    if (record.addons[entry.name] !== undefined) throw inUse(`Addon already exists: ${entry.name}`);
    record.addons[entry.name] = addon;
  });
  context.wake(clusterName);
  return { addon };
}

async function updateAddon(context: EksContext, call: Call): Promise<{ update: Update }> {
  const clusterName = pathPart(call, "name");
  const cluster = context.store.get(clusterName);
  const entry = catalogEntry(addonOf(cluster, pathPart(call, "addonName")).addonName);
  const settings = await settingsOf(context, entry, call);
  const asked = optionalString(call.body, "addonVersion");
  const version = asked === undefined ? undefined : addonVersion(entry, cluster.cluster.version, asked);
  const update = await context.store.change(clusterName, (record) => {
    const addon = addonOf(record, entry.name);
    if (
      addon.status !== "ACTIVE" &&
      addon.status !== "DEGRADED" &&
      addon.status !== "CREATE_FAILED" &&
      addon.status !== "UPDATE_FAILED"
    )
      throw inUse(`Addon ${entry.name} can't be updated while its status is ${addon.status}`);
    Object.assign(addon, settings, version === undefined ? {} : { addonVersion: version }, {
      status: "UPDATING",
      modifiedAt: context.now(),
    });
    const params = {
      AddonVersion: version,
      ResolveConflicts: call.body["resolveConflicts"],
      ConfigurationValues: settings.configurationValues,
      ServiceAccountRoleArn: settings.serviceAccountRoleArn,
    };
    return beginUpdate(context, record, "AddonUpdate", params, { addonName: entry.name });
  });
  context.wake(clusterName);
  return { update };
}

async function settingsOf(
  context: EksContext,
  entry: CatalogEntry,
  call: Call,
): Promise<{ configurationValues?: string; serviceAccountRoleArn?: string }> {
  const { body } = call;
  const conflicts = optionalString(body, "resolveConflicts");
  if (conflicts !== undefined && !["NONE", "OVERWRITE", "PRESERVE"].includes(conflicts))
    throw invalidParameter(`resolveConflicts: got ${conflicts}, allowed are NONE, OVERWRITE and PRESERVE`);
  if (Array.isArray(body["podIdentityAssociations"]) && body["podIdentityAssociations"].length > 0)
    throw notServed("podIdentityAssociations of an add-on", "use serviceAccountRoleArn");
  const role = optionalString(body, "serviceAccountRoleArn");
  if (role !== undefined) await roleWithArn(context, role);
  const values = optionalString(body, "configurationValues");
  if (values !== undefined) configuration(entry, values);
  return {
    ...(values === undefined ? {} : { configurationValues: values }),
    ...(role === undefined ? {} : { serviceAccountRoleArn: role }),
  };
}

/** The configurationValues of an add-on (JSON or YAML), checked by its schema. Throws InvalidParameterException. */
export function configuration(entry: CatalogEntry, text: string | undefined): Record<string, unknown> {
  if (text === undefined || text.trim() === "") return {};
  let values: unknown;
  try {
    values = parse(text);
  } catch (error) {
    throw invalidParameter(`configurationValues is neither JSON nor YAML: ${(error as Error).message}`);
  }
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw invalidParameter("configurationValues: an object is allowed");
  const unknown = entry.schema.additionalProperties
    ? []
    : Object.keys(values).filter((name) => !Object.hasOwn(entry.schema.properties, name));
  if (unknown.length > 0)
    throw invalidParameter(
      `ConfigurationValue provided in request is not supported: ${unknown.join(", ")} of ${entry.name}; allowed are ${Object.keys(entry.schema.properties).join(", ")}`,
    );
  for (const [name, value] of Object.entries(values))
    if ("format" in (entry.schema.properties[name] ?? {}) && value !== "true" && value !== "false")
      throw invalidParameter(
        `ConfigurationValue provided in request is not supported: ${name} of ${entry.name} is ${JSON.stringify(value)}; allowed are the strings "true" and "false"`,
      );
  return values as Record<string, unknown>;
}

const VPC_CNI = "vpc-cni";

const asksForNetworkPolicy = ({ configurationValues }: Addon): boolean =>
  configuration(catalogEntry(VPC_CNI), configurationValues)[NETWORK_POLICY] === "true";

/**
 * Whether the nodes of a cluster enforce NetworkPolicies: as on EKS, when the VPC CNI add-on is told to
 * (https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html).
 */
export function enforcesNetworkPolicies({ addons, preservedNetworkPolicy = false }: ClusterRecord): boolean {
  const addon = addons[VPC_CNI];
  return addon === undefined || addon.status === "DELETING" ? preservedNetworkPolicy : asksForNetworkPolicy(addon);
}

/** Throws ResourceNotFoundException. */
function addonOf(record: ClusterRecord, addonName: string): Addon {
  const found = record.addons[addonName];
  if (found === undefined)
    throw new EksError("ResourceNotFoundException", `No addon: ${addonName} found in cluster: ${record.cluster.name}`, {
      clusterName: record.cluster.name,
      addonName,
    });
  return found;
}
