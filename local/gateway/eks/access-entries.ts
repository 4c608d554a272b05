import { randomUUID } from "node:crypto";
import * as z from "zod";
import { collection } from "./collection.ts";
import { invalidParameter, invalidRequest, notServed } from "./errors.ts";
import type { AccessEntry, AccessEntryRecord } from "./model.ts";
import { clientRequestToken, type EksContext, eksArn, type Operation, type Request, text } from "./operation.ts";
import { callerPrincipal, existingPrincipal, type Principal, parsePrincipal } from "./principals.ts";

const CLUSTER_ADMIN_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";

/** Types that take neither groups nor a custom user name. */
const NODE_TYPES: readonly string[] = ["EC2_LINUX"];

/** Prefixes that EKS reserves in user names and groups ("Create access entries", EKS user guide). */
const RESERVED = /^(system|eks|aws|amazon|iam):/;
const reserved = (what: string) =>
  z.string().refine((name) => !RESERVED.test(name), {
    error: ({ input }) =>
      `The ${what} ${String(input)} is invalid, it cannot start with system:, eks:, aws:, amazon: or iam:`,
  });

const names = {
  kubernetesGroups: z.array(reserved("kubernetes group name")).optional(),
  username: reserved("username").optional(),
  clientRequestToken,
};

export const accessEntries = collection<AccessEntryRecord, AccessEntry>({
  noun: "AccessEntry",
  id: "principalArn",
  member: "accessEntry",
  items: (record) => record.accessEntries,
  view: ({ entry }) => entry,
  arn: ({ accessEntryArn }) => accessEntryArn,
  resource: (cluster, arn) => {
    const { kind = "*", account = "*", name = "*" } = parsePrincipal(arn) ?? {};
    return `access-entry/${cluster}/${kind}/${account}/${name}/*`;
  },
  notFound: (arn) => `The specified principalArn could not be found. You must specify a valid principalArn: ${arn}`,
  conditions: (name, { clusterName, principalArn, type = "STANDARD", policyArn, accessScope }) => {
    const { type: scope, namespaces } = (accessScope ?? {}) as { type?: unknown; namespaces?: unknown };
    return {
      "eks:clusterName": clusterName,
      "eks:principalArn": principalArn ?? "",
      "eks:accessEntryType": name === "CreateAccessEntry" ? type : undefined,
      "eks:policyArn": name === "AssociateAccessPolicy" ? (policyArn ?? "") : policyArn,
      "eks:accessScope": name === "AssociateAccessPolicy" ? (scope ?? "") : undefined,
      "eks:namespaces": Array.isArray(namespaces) ? namespaces : undefined,
    };
  },
});

export const accessEntryOperations: readonly Operation[] = [
  accessEntries.create(
    { principalArn: text, type: z.string().default("STANDARD"), ...names },
    {
      make: async (context, { clusterName, principalArn, type, kubernetesGroups, username }) => {
        const principal = await existingPrincipal(context, principalArn);
        if (type !== "STANDARD" && !NODE_TYPES.includes(type))
          throw notServed(`access entry type ${type}`, "use STANDARD or EC2_LINUX");
        if (NODE_TYPES.includes(type) && (kubernetesGroups !== undefined || username !== undefined))
          throw invalidParameter(`kubernetesGroups and username can't be set for type ${type}`);
        // EKS User Guide, "Create access entries".
        if (type !== "STANDARD" && parsePrincipal(principalArn)?.account !== context.account)
          throw invalidParameter(`principalArn of type ${type} must be of the cluster's account, got ${principalArn}`);
        const entry = accessEntry(context, clusterName, principal, type);
        return { entry: named(entry, { kubernetesGroups, username }), roleId: principal.roleId, policies: [] };
      },
      exists: ({ principalArn }) =>
        `The specified access entry resource is already in use on this cluster: ${principalArn}`,
    },
  ),
  accessEntries.list("ListAccessEntries", "accessEntries"),
  accessEntries.describe(),
  accessEntries.edit("UpdateAccessEntry", names, (context, asked) => ({ entry }) => {
    if (NODE_TYPES.includes(entry.type)) throw invalidRequest(`An access entry of type ${entry.type} can't be updated`);
    return { accessEntry: Object.assign(named(entry, asked), { modifiedAt: context.now() }) };
  }),
  accessEntries.edit("DeleteAccessEntry", {}, () => ({ entry }, record) => {
    delete record.accessEntries[entry.principalArn];
    return {};
  }),
];

/** Sets the requested groups and user name. */
function named(
  entry: AccessEntry,
  { kubernetesGroups = entry.kubernetesGroups, username = entry.username }: Partial<Request<typeof names>>,
): AccessEntry {
  return Object.assign(entry, { kubernetesGroups, username });
}

/** A new access entry with EKS's defaults for its type. */
export function accessEntry(context: EksContext, cluster: string, principal: Principal, type: string): AccessEntry {
  const { arn, kind, name } = principal;
  const { account = context.account } = parsePrincipal(arn) ?? {};
  const session = `arn:${context.partition}:sts::${account}:assumed-role/${name}/{{SessionName}}`;
  const standard = kind === "user" ? arn : session;
  // Nodes of EKS Auto Mode have the type EC2: they come in by an access policy, and by no group.
  const node = NODE_TYPES.includes(type) || type === "EC2";
  return {
    clusterName: cluster,
    principalArn: arn,
    kubernetesGroups: NODE_TYPES.includes(type) ? ["system:nodes"] : [],
    accessEntryArn: eksArn(context, `access-entry/${cluster}/${kind}/${account}/${name}/${randomUUID()}`),
    createdAt: context.now(),
    modifiedAt: context.now(),
    tags: {},
    username: node ? "system:node:{{EC2PrivateDNSName}}" : standard,
    type,
  };
}

/** The entry of a cluster's creator (bootstrapClusterCreatorAdminPermissions): administrator of the cluster. */
export async function bootstrapEntry(
  context: EksContext,
  cluster: string,
  caller: string,
): Promise<AccessEntryRecord | undefined> {
  const principal = await callerPrincipal(context, caller);
  if (principal === undefined) return undefined;
  const now = context.now();
  const admin = { policyArn: CLUSTER_ADMIN_POLICY, associatedAt: now, modifiedAt: now };
  return {
    entry: accessEntry(context, cluster, principal, "STANDARD"),
    roleId: principal.roleId,
    policies: [{ ...admin, accessScope: { type: "cluster", namespaces: [] } }],
  };
}
