/** The second evaluator: npm `@cloud-copilot/iam-simulate`, in its variant without waiting. */
import { runUnsafeSimulation } from "@cloud-copilot/iam-simulate";
import { type PolicyDocument, policy } from "../../lib/iam/policy.ts";
import { rewrite, withResource } from "./iam-differences.ts";
import { type Context, type IamRequest, webIdentity } from "./iam-evaluator.ts";

const account = "000000000000";
export const caller = `arn:aws:iam::${account}:role/caller`;

/** The resource of a request that names none: only `*` in a policy matches it. */
const none = `arn:none:none:none:${account}:none/none`;

/**
 * KMS evaluates identity policies only if the key's policy refers to the account (KMS Developer Guide, "Default key policy"), and so does STS with the
 * trust policy of a role.
 */
const accountPolicy = policy({
  Effect: "Allow",
  Principal: { AWS: `arn:aws:iam::${account}:root` },
  Action: ["*"],
  Resource: ["*"],
});

/** iam-simulate reads a name of the resource policy without checking that it has one: only a policy marked as validated can have a name. */
const validated = (policyDocument: PolicyDocument) => ({
  __validated: true,
  policyDocument,
  metadata: { name: "resource" },
  errors: [],
});

/** What limits the identity policies. */
export interface Limits {
  readonly boundary?: PolicyDocument;
  readonly session?: PolicyDocument;
}

/** Whether iam-simulate allows the request, with the policies as they are. */
export function simulate(
  principal: string,
  { action, resource, context = {} }: IamRequest,
  identity: readonly object[],
  resourcePolicy = accountPolicy,
  { boundary, session }: Limits = {},
): boolean {
  const contextVariables = withResource(context, resource) as Record<string, string | string[]>;
  const on = { resource: resource === "*" ? none : resource, accountId: principal.split(":")[4] as string };
  const result = runUnsafeSimulation(
    {
      request: { principal, action, resource: on, contextVariables },
      identityPolicies: identity.map((document, at) => ({ name: String(at), policy: document })),
      ...(boundary ? { permissionBoundaryPolicies: [{ name: "boundary", policy: boundary }] } : {}),
      // This variant of iam-simulate ignores session policies. A service control policy limits the caller in the same way.
      serviceControlPolicies: session
        ? [{ orgIdentifier: "session", policies: [{ name: "session", policy: session }] }]
        : [],
      resourceControlPolicies: [],
      ...(/^(kms|sts):/i.test(action) ? { resourcePolicy: validated(resourcePolicy) } : {}),
    },
    {},
  );
  return result === "Allowed";
}

/** Returns a decision of the first evaluator if the second one makes it too. */
function agreed(first: boolean, second: boolean, request: IamRequest, policies: unknown): boolean {
  if (first === second) return first;
  const [ours, theirs] = [first, second].map((decision) => (decision ? "allows" : "denies"));
  throw new Error(
    `the tests' evaluator ${ours} what iam-simulate ${theirs}: ${JSON.stringify(request)}\npolicies: ${JSON.stringify(policies)}\nfind out in AWS's documentation which one is right; fix ours, or describe iam-simulate's difference in iam-differences.ts`,
  );
}

const named = new WeakMap<object, Map<string, boolean>>();

/** Whether iam-simulate finds the action in the statement. Asked once: most statements of a policy are about other actions. */
function names(statement: PolicyDocument["Statement"][number], action: string): boolean {
  const known = named.get(statement) ?? new Map<string, boolean>();
  named.set(statement, known);
  const { Action, NotAction } = statement;
  const bare = { Effect: "Allow", Resource: "*", ...(Action ? { Action } : { NotAction }) };
  const found =
    known.get(action) ?? simulate(caller, { action, resource: "*" }, [{ Version: "2012-10-17", Statement: [bare] }]);
  known.set(action, found);
  return found;
}

export function confirm(decision: boolean, documents: readonly PolicyDocument[], request: IamRequest): boolean {
  const { action, context = {} } = request;
  const about = documents.map((document) =>
    rewrite({ ...document, Statement: document.Statement.filter((statement) => names(statement, action)) }, context),
  );
  return agreed(decision, simulate(caller, request, about), request, documents);
}

export function confirmTrust(decision: boolean, trust: PolicyDocument, provider: string, claims: Context): boolean {
  // A role trusts the OIDC providers of its own account only.
  const resource = `arn:aws:iam::${provider.split(":")[4]}:role/assumed`;
  const request = { action: webIdentity, resource, context: claims };
  return agreed(decision, simulate(provider, request, [], rewrite(trust, claims)), request, trust);
}
