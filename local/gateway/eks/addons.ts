import { randomUUID } from "node:crypto";
import { parse } from "yaml";
import * as z from "zod";
import {
  addonVersion,
  type CatalogEntry,
  catalogEntry,
  NAMESPACE,
  NETWORK_POLICY,
  POD_IDENTITY_AGENT,
  VPC_CNI,
} from "./addon-catalog.ts";
import { expectActive } from "./clusters.ts";
import { collection } from "./collection.ts";
import { inUse, invalidParameter } from "./errors.ts";
import type { Addon, ClusterRecord } from "./model.ts";
import { clientRequestToken, type EksContext, eksArn, type Operation, type Request, text } from "./operation.ts";
import { roleWithArn } from "./principals.ts";
import { beginUpdate } from "./updates.ts";

const settings = {
  addonVersion: z.string().optional(),
  serviceAccountRoleArn: z.string().optional(),
  resolveConflicts: z.enum(["NONE", "OVERWRITE", "PRESERVE"]).optional(),
  configurationValues: z.string().optional(),
};

export const addons = collection<Addon, Addon>({
  noun: "Addon",
  id: "addonName",
  member: "addon",
  items: (record) => record.addons,
  view: (addon) => addon,
  arn: (addon) => addon.addonArn,
  resource: (cluster, name) => `addon/${cluster}/${name}/*`,
  notFound: (name, cluster) => `No addon: ${name} found in cluster: ${cluster}`,
  passes: { member: "serviceAccountRoleArn", service: "eks.amazonaws.com" },
});

const UPDATABLE: readonly string[] = ["ACTIVE", "DEGRADED", "CREATE_FAILED", "UPDATE_FAILED"];

export const addonOperations: readonly Operation[] = [
  addons.create(
    { addonName: text, ...settings },
    {
      make: async (context, request, { cluster }) => {
        const entry = catalogEntry(request.addonName);
        return {
          addonName: entry.name,
          clusterName: request.clusterName,
          status: "CREATING",
          addonVersion: addonVersion(entry, cluster.version, request.addonVersion),
          health: { issues: [] },
          addonArn: eksArn(context, `addon/${request.clusterName}/${entry.name}/${randomUUID()}`),
          createdAt: context.now(),
          modifiedAt: context.now(),
          tags: {},
          owner: "aws",
          publisher: "eks",
          namespaceConfig: { namespace: NAMESPACE },
          ...(await checked(context, entry, request)),
        };
      },
      exists: ({ addonName }) => `Addon already exists: ${addonName}`,
      added: (_context, record) => expectActive(record),
    },
  ),
  addons.list("ListAddons", "addons"),
  addons.describe(),
  addons.edit(
    "UpdateAddon",
    { ...settings, clientRequestToken },
    async (context, request, { addonName }, { cluster }) => {
      const entry = catalogEntry(addonName);
      const values = await checked(context, entry, request);
      const asked = request.addonVersion;
      const version = asked === undefined ? {} : { addonVersion: addonVersion(entry, cluster.version, asked) };
      return (addon, record) => {
        if (!UPDATABLE.includes(addon.status))
          throw inUse(`Addon ${entry.name} can't be updated while its status is ${addon.status}`);
        Object.assign(addon, values, version, { status: "UPDATING", modifiedAt: context.now() });
        const params = { ...version, resolveConflicts: request.resolveConflicts, ...values };
        return { update: beginUpdate(context, record, "AddonUpdate", params, { addonName: entry.name }) };
      };
    },
  ),
  addons.edit("DeleteAddon", { preserve: z.boolean().default(false) }, (_context, { preserve }) => (addon, record) => {
    addon.status = "DELETING";
    const { addonName, configurationValues } = addon;
    // Preserved software stays as the cluster's own, like that of bootstrapSelfManagedAddons.
    if (preserve) record.preserved[addonName] = configurationValues === undefined ? {} : { configurationValues };
    else delete record.preserved[addonName];
    return { addon };
  }),
];

/** Checks the settings of a request; gives those that the add-on keeps. */
async function checked(
  context: EksContext,
  entry: CatalogEntry,
  { configurationValues, serviceAccountRoleArn }: Request<typeof settings>,
): Promise<Pick<Addon, "configurationValues" | "serviceAccountRoleArn">> {
  if (serviceAccountRoleArn !== undefined) await roleWithArn(context, serviceAccountRoleArn);
  configuration(entry, configurationValues);
  return {
    ...(configurationValues === undefined ? {} : { configurationValues }),
    ...(serviceAccountRoleArn === undefined ? {} : { serviceAccountRoleArn }),
  };
}

/** The configurationValues of an add-on (JSON or YAML), checked by its schema. Throws InvalidParameterException. */
export function configuration(entry: CatalogEntry, values = ""): Record<string, unknown> {
  if (values.trim() === "") return {};
  let parsed: unknown;
  try {
    parsed = parse(values);
  } catch (error) {
    throw invalidParameter(`configurationValues is neither JSON nor YAML: ${(error as Error).message}`);
  }
  const { properties = {}, closed = false } = entry;
  const schema = { type: "object", properties, additionalProperties: !closed } as const;
  const found = z.fromJSONSchema(schema).safeParse(parsed, {
    error: (issue) =>
      issue.code === "invalid_value"
        ? `got ${JSON.stringify(issue.input)}, allowed are the strings ${issue.values.map((value) => JSON.stringify(value)).join(" and ")}`
        : undefined,
  });
  if (found.success) return found.data as Record<string, unknown>;
  throw invalidParameter(
    `ConfigurationValue provided in request is not supported: ${entry.name}: ${z.prettifyError(found.error)}; it has ${Object.keys(properties).join(", ")}`,
  );
}

/** The software of an add-on as a cluster has it, or undefined when it has none. */
function softwareOf({ addons, preserved }: ClusterRecord, name: string) {
  const addon = addons[name];
  return addon === undefined || addon.status === "DELETING" ? preserved[name] : addon;
}

/**
 * Whether the nodes of a cluster enforce NetworkPolicies: as on EKS, when the VPC CNI add-on is told to
 * (https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html).
 */
export function enforcesNetworkPolicies(record: ClusterRecord): boolean {
  const values = softwareOf(record, VPC_CNI)?.configurationValues;
  return configuration(catalogEntry(VPC_CNI), values)[NETWORK_POLICY] === "true";
}

/** Whether the nodes of a cluster run the EKS Pod Identity Agent. */
export function runsPodIdentityAgent(record: ClusterRecord): boolean {
  return softwareOf(record, POD_IDENTITY_AGENT) !== undefined;
}
