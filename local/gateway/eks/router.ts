import { pathOf, queryOf } from "../aws/credential-scope.ts";
import { ASSERTION_HEADER, type Forward } from "../aws/forward.ts";
import { decoded, type HttpRequest, type HttpResponse, jsonResponse } from "../aws/http.ts";
import type { GatewayKey } from "../key.ts";
import { absentOperations } from "./absent.ts";
import { accessEntryOperations } from "./access-entries.ts";
import { accessPolicyOperations } from "./access-policies.ts";
import { addonCatalogOperations } from "./addon-catalog.ts";
import { addonOperations } from "./addons.ts";
import { clusterUpdateOperations } from "./cluster-updates.ts";
import { clusterOperations } from "./clusters.ts";
import { EksError, eksErrorResponse, invalidRequest } from "./errors.ts";
import { nodegroupUpdateOperations } from "./nodegroup-updates.ts";
import { nodegroupOperations } from "./nodegroups.ts";
import { type Call, type EksContext, expectOnly, type Operation } from "./operation.ts";
import { podIdentityOperations } from "./pod-identity.ts";
import { findTagged, tagOperations } from "./tags.ts";
import { updateOperations } from "./updates.ts";
import { versionOperations } from "./versions.ts";

/** Every operation that the gateway serves. */
export const OPERATIONS: readonly Operation[] = [
  ...clusterOperations,
  ...clusterUpdateOperations,
  ...updateOperations,
  ...nodegroupOperations,
  ...nodegroupUpdateOperations,
  ...accessEntryOperations,
  ...accessPolicyOperations,
  ...addonOperations,
  ...addonCatalogOperations,
  ...podIdentityOperations,
  ...tagOperations,
  ...versionOperations,
  ...absentOperations,
];

const ROUTES = OPERATIONS.map((operation) => {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  return { operation, names, pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`) };
});

/** The operation of a request with the decoded parts of its path, or undefined. */
function route(method: string, url: string): { operation: Operation; path: Record<string, string> } | undefined {
  const path = pathOf(url);
  for (const { operation, names, pattern } of ROUTES) {
    const match = operation.method === method ? pattern.exec(path) : null;
    if (match === null) continue;
    const parts = names.map((name, at) => [name, decoded(match[at + 1] ?? "")] as const);
    if (parts.every(([, value]) => value !== undefined))
      return { operation, path: Object.fromEntries(parts) as Record<string, string> };
  }
  return undefined;
}

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
    const found = route(request.method, request.url);
    if (found === undefined)
      throw invalidRequest(
        `the embedded cloud does not serve ${request.method} ${pathOf(request.url)} of the EKS API; see local/README.md for what it serves`,
      );
    const { operation } = found;
    const parsed = { path: found.path, query: queryOf(request.url), body: parseBody(request) };
    const { resource, passRoles = [], context: keys = {} } = operation.authorize(context, parsed);
    const assertion = await ministack.key.sign({
      action: operation.name,
      resource,
      passRoles,
      context: { ...keys, ...tagKeys(context, resource) },
    });
    const authorized = await ministack.forward(request, { [ASSERTION_HEADER]: assertion });
    if (authorized.status !== 200) return authorized;
    const { caller } = JSON.parse(authorized.body.toString()) as { caller: string };
    expectOnly(parsed.body, operation.accepts ?? [], operation.name);
    const call: Call = { ...parsed, caller };
    return jsonResponse(200, await operation.run(context, call));
  } catch (error) {
    if (error instanceof EksError) return eksErrorResponse(error);
    throw error;
  }
}

/** The condition keys aws:ResourceTag/… of a resource that exists. */
function tagKeys(context: EksContext, arn: string): Record<string, string> {
  const tags = findTagged(context.store, arn)?.tags ?? {};
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [`aws:ResourceTag/${name}`, value]));
}

function parseBody(request: HttpRequest): Record<string, unknown> {
  if (request.body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(request.body.toString("utf8"));
  } catch {
    throw invalidRequest("the body is not valid JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidRequest("the body is not a JSON object");
  return value as Record<string, unknown>;
}
