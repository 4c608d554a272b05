import { entryOf, onEntry } from "./access-entries.ts";
import { EksError, invalidParameter, invalidRequest } from "./errors.ts";
import type { AccessPolicy } from "./model.ts";
import {
  type Call,
  type EksContext,
  keyValue,
  type Operation,
  page,
  pathPart,
  requiredString,
  stringList,
  structure,
} from "./operation.ts";

/** The access policies that the gateway turns into RBAC, with the ClusterRole that each stands for. */
export const ACCESS_POLICIES = {
  AmazonEKSClusterAdminPolicy: "cluster-admin",
  AmazonEKSAdminPolicy: "admin",
  AmazonEKSAdminViewPolicy: "eks:admin-view",
  AmazonEKSEditPolicy: "edit",
  AmazonEKSViewPolicy: "view",
} as const;

export type AccessPolicyName = keyof typeof ACCESS_POLICIES;

const ARN_PREFIX = "arn:aws:eks::aws:cluster-access-policy/";
const PATH = "/clusters/{name}/access-entries/{principalArn}/access-policies";

/** The name in the ARN of a policy that the gateway knows, or undefined. */
export function policyName(arn: string): AccessPolicyName | undefined {
  const name = arn.startsWith(ARN_PREFIX) ? arn.slice(ARN_PREFIX.length) : "";
  return Object.hasOwn(ACCESS_POLICIES, name) ? (name as AccessPolicyName) : undefined;
}

export const accessPolicyOperations: readonly Operation[] = [
  {
    name: "ListAccessPolicies",
    method: "GET",
    path: "/access-policies",
    authorize: () => ({ resource: "*" }),
    run: (_context, call) => {
      const policies = Object.keys(ACCESS_POLICIES).map((name) => ({ name, arn: `${ARN_PREFIX}${name}` }));
      const { items, ...rest } = page(policies, call.query, (policy) => policy.name);
      return { accessPolicies: items, ...rest };
    },
  },
  {
    name: "AssociateAccessPolicy",
    method: "POST",
    path: PATH,
    accepts: ["policyArn", "accessScope"],
    authorize: (context, call) => {
      const entry = onEntry(context, call);
      const scope = (call.body["accessScope"] ?? {}) as { type?: unknown; namespaces?: unknown };
      return {
        ...entry,
        context: {
          ...entry.context,
          "eks:policyArn": keyValue(call.body["policyArn"]),
          "eks:accessScope": keyValue(scope.type),
          ...(Array.isArray(scope.namespaces) ? { "eks:namespaces": scope.namespaces.map(keyValue) } : {}),
        },
      };
    },
    run: associate,
  },
  {
    name: "ListAssociatedAccessPolicies",
    method: "GET",
    path: PATH,
    authorize: onEntry,
    run: (context, call) => {
      const clusterName = pathPart(call, "name");
      const principalArn = pathPart(call, "principalArn");
      const { policies } = entryOf(context.store.get(clusterName), principalArn);
      const { items, ...rest } = page(policies, call.query, (policy) => policy.policyArn);
      return { associatedAccessPolicies: items, clusterName, principalArn, ...rest };
    },
  },
  {
    name: "DisassociateAccessPolicy",
    method: "DELETE",
    path: `${PATH}/{policyArn}`,
    authorize: (context, call) => {
      const entry = onEntry(context, call);
      return { ...entry, context: { ...entry.context, "eks:policyArn": call.path["policyArn"] ?? "" } };
    },
    run: async (context, call) => {
      const name = pathPart(call, "name");
      const policyArn = pathPart(call, "policyArn");
      await context.store.change(name, (record) => {
        const entry = entryOf(record, pathPart(call, "principalArn"));
        if (!entry.policies.some((policy) => policy.policyArn === policyArn))
          throw new EksError(
            "ResourceNotFoundException",
            `The specified policyArn could not be found on the access entry: ${policyArn}`,
          );
        entry.policies = entry.policies.filter((policy) => policy.policyArn !== policyArn);
      });
      context.wake(name);
      return {};
    },
  },
];

async function associate(context: EksContext, call: Call): Promise<unknown> {
  const clusterName = pathPart(call, "name");
  const principalArn = pathPart(call, "principalArn");
  const policyArn = requiredString(call.body, "policyArn");
  if (policyName(policyArn) === undefined)
    throw invalidParameter(
      `The policyArn ${policyArn} is not served by the embedded cloud: allowed are ${Object.keys(ACCESS_POLICIES)
        .map((name) => ARN_PREFIX + name)
        .join(", ")}`,
    );
  const accessScope = scopeOf(call);
  const associatedAccessPolicy = await context.store.change(clusterName, (record) => {
    const { entry, policies } = entryOf(record, principalArn);
    if (entry.type !== "STANDARD")
      throw invalidRequest(`Access policies can't be associated with an access entry of type ${entry.type}`);
    const existing = policies.find((policy) => policy.policyArn === policyArn);
    const associated: AccessPolicy = {
      policyArn,
      accessScope,
      associatedAt: existing?.associatedAt ?? context.now(),
      modifiedAt: context.now(),
    };
    if (existing === undefined) policies.push(associated);
    else Object.assign(existing, associated);
    return associated;
  });
  context.wake(clusterName);
  return { clusterName, principalArn, associatedAccessPolicy };
}

function scopeOf(call: Call): AccessPolicy["accessScope"] {
  const scope = structure(call.body, "accessScope", ["type", "namespaces"]) ?? {};
  const namespaces = stringList(scope, "namespaces") ?? [];
  switch (scope["type"]) {
    case "cluster":
      if (namespaces.length > 0) throw invalidParameter("accessScope.namespaces: none is allowed with type cluster");
      return { type: "cluster", namespaces: [] };
    case "namespace":
      if (namespaces.length === 0)
        throw invalidParameter("accessScope.namespaces: at least one is required with type namespace");
      return { type: "namespace", namespaces };
    default:
      throw invalidParameter(
        `accessScope.type: got ${JSON.stringify(scope["type"])}, allowed are cluster and namespace`,
      );
  }
}
