/** The IAM decisions that tests assert: two evaluators must agree on each one. */
import { type PolicyDocument, policyText } from "../../lib/iam/policy.ts";
import { type Context, evaluate, evaluateTrust, type IamRequest, keysOf, valueOfKey } from "./iam-evaluator.ts";
import { confirm, confirmTrust } from "./iam-second.ts";

interface Decisions {
  /** Condition keys on which the policies depend for an action. */
  readonly keys: readonly string[];
  readonly byValues: Map<string, boolean>;
}

const numbers = new WeakMap<PolicyDocument, number>();
const known = new Map<string, Decisions>();
let documentCount = 0;

function decisionsOf(documents: readonly PolicyDocument[], action: string): Decisions {
  let name = action;
  for (const document of documents) {
    const number = numbers.get(document) ?? documentCount++;
    numbers.set(document, number);
    name += ` ${number}`;
  }
  const found = known.get(name) ?? { keys: keysOf(documents, action), byValues: new Map() };
  known.set(name, found);
  return found;
}

/**
 * Whether `policies` together allow the request. The second evaluator is 40 times slower than ours and tests repeat decisions with other values of
 * keys that the policies don't use, so each decision is made once.
 */
export function allowed(policies: PolicyDocument | readonly PolicyDocument[], request: IamRequest): boolean {
  const documents = [policies].flat();
  const { keys, byValues } = decisionsOf(documents, request.action);
  let values = request.resource;
  for (const key of keys) values += `\n${JSON.stringify(valueOfKey(key, request.context ?? {}))}`;
  const before = byValues.get(values);
  if (before !== undefined) return before;
  const decision = confirm(evaluate(documents, request), documents, request);
  byValues.set(values, decision);
  return decision;
}

/** A request to IAM. */
export const asks = (action: string, resource: string, context: Context = {}): IamRequest => ({
  ...{ action, resource, context },
});

/** A name, an allowed request, and what makes the same request refused. */
export type Twin = [name: string, request: IamRequest, difference: Partial<IamRequest>];
export const twin = (...row: Twin): Twin => row;

/** Whether a trust policy allows a web identity of `provider` with these claims to assume its role. */
export const trusts = (trust: PolicyDocument, provider: string, claims: Context): boolean =>
  confirmTrust(evaluateTrust(trust, provider, claims), trust, provider, claims);

/** A policy as a resource has it, with lists also where IAM takes a single value for one. */
export function readPolicy(text: unknown): PolicyDocument {
  const lists = ["Action", "NotAction", "Resource"];
  return JSON.parse(String(text), (key, value: unknown) =>
    lists.includes(key) && typeof value === "string" ? [value] : value,
  ) as PolicyDocument;
}

/** Characters of a policy as IAM counts them: white space aside. */
export const policyLength = (policy: PolicyDocument): number => policyText(policy).replaceAll(/\s/g, "").length;
