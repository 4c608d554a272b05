import * as z from "zod";
import { accessEntries } from "./access-entries.ts";
import { ACCESS_POLICIES, type AccessPolicyName } from "./access-policy-rules.ts";
import { invalidParameter, invalidRequest, notFound } from "./errors.ts";
import type { AccessPolicy } from "./model.ts";
import { list, type Operation, structure, text, texts } from "./operation.ts";

const ARN_PREFIX = "arn:aws:eks::aws:cluster-access-policy/";

/** The name in the ARN of a policy that the gateway knows, or undefined. */
export function policyName(arn: string): AccessPolicyName | undefined {
  const name = arn.startsWith(ARN_PREFIX) ? arn.slice(ARN_PREFIX.length) : "";
  return Object.hasOwn(ACCESS_POLICIES, name) ? (name as AccessPolicyName) : undefined;
}

const arns = Object.keys(ACCESS_POLICIES).map((name) => ARN_PREFIX + name);

const accessScope = structure({ type: z.enum(["cluster", "namespace"]), namespaces: texts.default([]) }).refine(
  ({ type, namespaces }) => (type === "cluster") === (namespaces.length === 0),
  "accessScope.namespaces: none is allowed with type cluster, at least one is required with type namespace",
);

export const accessPolicyOperations: readonly Operation[] = [
  accessEntries.edit(
    "AssociateAccessPolicy",
    { policyArn: text, accessScope },
    (context, { clusterName, policyArn, accessScope }) => {
      if (policyName(policyArn) === undefined)
        throw invalidParameter(
          `The policyArn ${policyArn} is not served by the embedded cloud: allowed are ${arns.join(", ")}`,
        );
      return ({ entry, policies }) => {
        if (entry.type !== "STANDARD")
          throw invalidRequest(`Access policies can't be associated with an access entry of type ${entry.type}`);
        const existing = policies.find((policy) => policy.policyArn === policyArn);
        const associatedAt = existing?.associatedAt ?? context.now();
        const associated: AccessPolicy = { policyArn, accessScope, associatedAt, modifiedAt: context.now() };
        if (existing === undefined) policies.push(associated);
        else Object.assign(existing, associated);
        return { clusterName, principalArn: entry.principalArn, associatedAccessPolicy: associated };
      };
    },
  ),
  list("ListAssociatedAccessPolicies", {
    member: "associatedAccessPolicies",
    shape: { clusterName: text, principalArn: text },
    authorize: accessEntries.onOne("ListAssociatedAccessPolicies"),
    items: (context, request) =>
      accessEntries.of(context.store.get(request.clusterName), request.principalArn).policies,
    keyOf: ({ policyArn }) => policyArn,
    row: (policy) => policy,
    beside: (request) => ({ clusterName: request.clusterName, principalArn: request.principalArn }),
  }),
  accessEntries.edit("DisassociateAccessPolicy", { policyArn: text }, (_context, { policyArn }) => (entry) => {
    const left = entry.policies.filter((policy) => policy.policyArn !== policyArn);
    if (left.length === entry.policies.length)
      throw notFound(`The specified policyArn could not be found on the access entry: ${policyArn}`);
    entry.policies = left;
    return {};
  }),
];
