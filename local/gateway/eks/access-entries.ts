import { randomUUID } from "node:crypto";
import { EksError, invalidParameter, invalidRequest, notServed } from "./errors.ts";
import type { AccessEntry, AccessEntryRecord, ClusterRecord } from "./model.ts";
import {
  type Call,
  type EksContext,
  eksArn,
  keyValue,
  type Operation,
  onCluster,
  optionalString,
  page,
  pathPart,
  requiredString,
  stringList,
  tagsOf,
} from "./operation.ts";
import { callerPrincipal, existingPrincipal, type Principal, parsePrincipal } from "./principals.ts";

const CLUSTER_ADMIN_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";

/** Types that take neither groups nor a user name of one's own. */
const NODE_TYPES: readonly string[] = ["EC2_LINUX"];

/** Prefixes that EKS reserves in user names and groups ("Create access entries", EKS user guide). */
const RESERVED = /^(system|eks|aws|amazon|iam):/;

const PATH = "/clusters/{name}/access-entries/{principalArn}";

/** The ARN of an access entry; of one that doesn't exist, with "*" for the part that only the record knows. */
function entryArn(context: EksContext, cluster: string, principalArn: string, id = "*"): string {
  const found = context.store.find(cluster)?.accessEntries[principalArn];
  if (found !== undefined) return found.entry.accessEntryArn;
  const principal = parsePrincipal(principalArn);
  return eksArn(
    context,
    `access-entry/${cluster}/${principal?.kind ?? "*"}/${principal?.account ?? "*"}/${principal?.name ?? "*"}/${id}`,
  );
}

/** Authorization on the access entry that the path names. */
export const onEntry = (context: EksContext, call: Omit<Call, "caller">) => ({
  resource: entryArn(context, call.path["name"] ?? "", call.path["principalArn"] ?? ""),
  context: { "eks:principalArn": call.path["principalArn"] ?? "", "eks:clusterName": call.path["name"] ?? "" },
});

export const accessEntryOperations: readonly Operation[] = [
  {
    name: "CreateAccessEntry",
    method: "POST",
    path: "/clusters/{name}/access-entries",
    accepts: ["principalArn", "kubernetesGroups", "tags", "clientRequestToken", "username", "type"],
    authorize: (context, call) => ({
      ...onCluster(context, call),
      context: {
        "eks:clusterName": call.path["name"] ?? "",
        "eks:principalArn": keyValue(call.body["principalArn"]),
        "eks:accessEntryType": keyValue(call.body["type"] ?? "STANDARD"),
      },
    }),
    run: createEntry,
  },
  {
    name: "ListAccessEntries",
    method: "GET",
    path: "/clusters/{name}/access-entries",
    authorize: onCluster,
    run: (context, call) => {
      const policy = call.query.get("associatedPolicyArn");
      const entries = Object.values(context.store.get(pathPart(call, "name")).accessEntries).filter(
        (record) => policy === null || record.policies.some((association) => association.policyArn === policy),
      );
      const { items, ...rest } = page(entries, call.query, (record) => record.entry.principalArn);
      return { accessEntries: items.map((record) => record.entry.principalArn), ...rest };
    },
  },
  {
    name: "DescribeAccessEntry",
    method: "GET",
    path: PATH,
    authorize: onEntry,
    run: (context, call) => ({
      accessEntry: entryOf(context.store.get(pathPart(call, "name")), pathPart(call, "principalArn")).entry,
    }),
  },
  {
    name: "UpdateAccessEntry",
    method: "POST",
    path: PATH,
    accepts: ["kubernetesGroups", "clientRequestToken", "username"],
    authorize: onEntry,
    run: async (context, call) => {
      const accessEntry = await context.store.change(pathPart(call, "name"), (record) => {
        const { entry } = entryOf(record, pathPart(call, "principalArn"));
        if (NODE_TYPES.includes(entry.type))
          throw invalidRequest(`An access entry of type ${entry.type} can't be updated`);
        entry.kubernetesGroups = checkedGroups(stringList(call.body, "kubernetesGroups")) ?? entry.kubernetesGroups;
        entry.username = checkedUsername(optionalString(call.body, "username")) ?? entry.username;
        entry.modifiedAt = context.now();
        return entry;
      });
      return { accessEntry };
    },
  },
  {
    name: "DeleteAccessEntry",
    method: "DELETE",
    path: PATH,
    authorize: onEntry,
    run: async (context, call) => {
      const name = pathPart(call, "name");
      await context.store.change(name, (record) => {
        entryOf(record, pathPart(call, "principalArn"));
        delete record.accessEntries[pathPart(call, "principalArn")];
      });
      context.wake(name);
      return {};
    },
  },
];

async function createEntry(context: EksContext, call: Call): Promise<{ accessEntry: AccessEntry }> {
  const name = pathPart(call, "name");
  context.store.get(name);
  const principal = await existingPrincipal(context, requiredString(call.body, "principalArn"));
  const type = optionalString(call.body, "type") ?? "STANDARD";
  if (type !== "STANDARD" && !NODE_TYPES.includes(type))
    throw notServed(`access entry type ${type}`, "use STANDARD or EC2_LINUX");
  const groups = checkedGroups(stringList(call.body, "kubernetesGroups"));
  const username = checkedUsername(optionalString(call.body, "username"));
  if (NODE_TYPES.includes(type) && (groups !== undefined || username !== undefined))
    throw invalidParameter(`kubernetesGroups and username can't be set for type ${type}`);
  const made = accessEntry(context, name, principal, type, tagsOf(call.body));
  if (groups !== undefined) made.kubernetesGroups = groups;
  if (username !== undefined) made.username = username;
  await context.store.change(name, (record) => {
    if (record.accessEntries[principal.arn] !== undefined)
      throw new EksError(
        "ResourceInUseException",
        `The specified access entry resource is already in use on this cluster: ${principal.arn}`,
      );
    record.accessEntries[principal.arn] = { entry: made, policies: [] };
  });
  return { accessEntry: made };
}

/** A new access entry with EKS's defaults for its type. */
export function accessEntry(
  context: EksContext,
  cluster: string,
  principal: Principal,
  type: string,
  tags: Record<string, string>,
): AccessEntry {
  const node = NODE_TYPES.includes(type);
  return {
    clusterName: cluster,
    principalArn: principal.arn,
    kubernetesGroups: node ? ["system:nodes"] : [],
    accessEntryArn: eksArn(
      context,
      `access-entry/${cluster}/${principal.kind}/${context.account}/${principal.name}/${randomUUID()}`,
    ),
    createdAt: context.now(),
    modifiedAt: context.now(),
    tags,
    username: node ? "system:node:{{EC2PrivateDNSName}}" : standardUsername(context, principal),
    type,
  };
}

function standardUsername(context: EksContext, principal: Principal): string {
  return principal.kind === "user"
    ? principal.arn
    : `arn:${context.partition}:sts::${context.account}:assumed-role/${principal.name}/{{SessionName}}`;
}

/** The entry of a cluster's creator (bootstrapClusterCreatorAdminPermissions): administrator of the cluster. */
export async function bootstrapEntry(
  context: EksContext,
  cluster: string,
  caller: string,
): Promise<AccessEntryRecord | undefined> {
  const principal = await callerPrincipal(context, caller);
  if (principal === undefined) return undefined;
  return {
    entry: accessEntry(context, cluster, principal, "STANDARD", {}),
    policies: [
      {
        policyArn: CLUSTER_ADMIN_POLICY,
        accessScope: { type: "cluster", namespaces: [] },
        associatedAt: context.now(),
        modifiedAt: context.now(),
      },
    ],
  };
}

/** Throws ResourceNotFoundException. */
export function entryOf(record: ClusterRecord, principalArn: string): AccessEntryRecord {
  const found = record.accessEntries[principalArn];
  if (found === undefined)
    throw new EksError(
      "ResourceNotFoundException",
      `The specified principalArn could not be found. You must specify a valid principalArn: ${principalArn}`,
    );
  return found;
}

function checkedGroups(groups: string[] | undefined): string[] | undefined {
  const reserved = groups?.filter((group) => RESERVED.test(group)) ?? [];
  if (reserved.length > 0)
    throw invalidParameter(
      `The kubernetes group name ${reserved.join(", ")} is invalid, it cannot start with system:, eks:, aws:, amazon: or iam:`,
    );
  return groups;
}

function checkedUsername(username: string | undefined): string | undefined {
  if (username !== undefined && RESERVED.test(username))
    throw invalidParameter(
      `The username ${username} is invalid, it cannot start with system:, eks:, aws:, amazon: or iam:`,
    );
  return username;
}
