import { pathOf, queryOf } from "../aws/credential-scope.ts";
import { ASSERTION_HEADER, type Forward } from "../aws/forward.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "../aws/http.ts";
import type { GatewayKey } from "../key.ts";
import { accessEntryOperations } from "./access-entries.ts";
import { accessPolicyOperations } from "./access-policies.ts";
import { addonVersionOperations } from "./addon-versions.ts";
import { addonOperations } from "./addons.ts";
import { clusterUpdateOperations } from "./cluster-updates.ts";
import { clusterOperations } from "./clusters.ts";
import { EksError, eksErrorResponse, invalidRequest } from "./errors.ts";
import { nodegroupUpdateOperations } from "./nodegroup-updates.ts";
import { nodegroupOperations } from "./nodegroups.ts";
import { type Authorization, type EksContext, stringOf } from "./operation.ts";
import { checked, routeOf } from "./request.ts";
import { findTagged, tagOperations } from "./tags.ts";
import { updateOperations } from "./updates.ts";

/** Every operation that the gateway serves. */
export const OPERATIONS = [
  ...clusterOperations,
  ...clusterUpdateOperations,
  ...updateOperations,
  ...nodegroupOperations,
  ...nodegroupUpdateOperations,
  ...accessEntryOperations,
  ...accessPolicyOperations,
  ...addonOperations,
  ...addonVersionOperations,
  ...tagOperations,
];

const ROUTES = OPERATIONS.map((operation) => ({ operation, read: routeOf(operation.name) }));

/**
 * Answers a request of the EKS API: ministack verifies its signature and the caller's rights for the action, the resource
 * and every role passed; what it refuses is passed on as it is. Then the operation runs.
 */
export async function eksApi(
  request: HttpRequest,
  context: EksContext,
  ministack: { forward: Forward; key: GatewayKey },
): Promise<HttpResponse> {
  try {
    const parts = { method: request.method, path: pathOf(request.url), query: queryOf(request.url) };
    const body = bodyOf(request);
    for (const { operation, read } of ROUTES) {
      const members = read({ ...parts, body });
      if (members === undefined) continue;
      const { resource, passRoles = [], context: keys = {} } = operation.authorize(context, members);
      const assertion = await ministack.key.sign({
        action: operation.name,
        resource,
        passRoles,
        context: { ...conditions(keys), ...tagKeys(context, resource) },
      });
      const authorized = await ministack.forward(request, { [ASSERTION_HEADER]: assertion });
      if (authorized.status !== 200) return authorized;
      const { caller } = JSON.parse(authorized.body.toString()) as { caller: string };
      return jsonResponse(200, await operation.run(context, checked(operation, members), caller));
    }
    throw invalidRequest(
      `the embedded cloud does not serve ${parts.method} ${parts.path} of the EKS API; see local/README.md for what it serves`,
    );
  } catch (error) {
    if (error instanceof EksError) return eksErrorResponse(error);
    throw error;
  }
}

/** Condition keys as IAM takes them: only strings and lists are values. */
const conditions = (keys: NonNullable<Authorization["context"]>) =>
  Object.fromEntries(
    Object.entries(keys).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, Array.isArray(value) ? value.map(stringOf) : stringOf(value)]],
    ),
  );

/** The condition keys aws:ResourceTag/… of a resource that exists. */
function tagKeys(context: EksContext, arn: string): Record<string, string> {
  const tags = findTagged(context, arn)?.tags ?? {};
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [`aws:ResourceTag/${name}`, value]));
}

/** The JSON body; a null member counts as missing. */
function bodyOf(request: HttpRequest): Record<string, unknown> {
  if (request.body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(request.body.toString("utf8"), (_name, member: unknown) => member ?? undefined);
  } catch {
    throw invalidRequest("the body is not valid JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidRequest("the body is not a JSON object");
  return value as Record<string, unknown>;
}
