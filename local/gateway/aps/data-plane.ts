import { pathOf } from "../aws/credential-scope.ts";
import { ApiError, errorResponse } from "../aws/errors.ts";
import { forwardTo } from "../aws/forward.ts";
import { decoded, type HttpRequest, type HttpResponse } from "../aws/http.ts";
import { type Authorizer, authorized } from "../aws/rest-api.ts";
import { notFound, unknownOperation } from "./errors.ts";
import { type ApsContext, apsArn } from "./operation.ts";

interface Route {
  readonly methods: readonly string[];
  readonly path: RegExp;
  /** The right that it needs on the workspace. */
  readonly action: string;
  /** The path at Prometheus, where it is another. */
  readonly at?: string;
}

const READ = ["GET", "POST"] as const;

/**
 * What a workspace serves below api/v1/ (User Guide, "Prometheus-compatible APIs"); each operation's action has its name
 * (Service Authorization Reference).
 */
const ROUTES: readonly Route[] = [
  { methods: ["POST"], path: /^remote_write$/, action: "RemoteWrite", at: "write" },
  { methods: READ, path: /^query(_range)?$/, action: "QueryMetrics" },
  { methods: READ, path: /^labels$/, action: "GetLabels" },
  { methods: ["GET"], path: /^label\/[^/]+\/values$/, action: "GetLabels" },
  { methods: READ, path: /^series$/, action: "GetSeries" },
  { methods: ["GET"], path: /^metadata$/, action: "GetMetricMetadata" },
  { methods: ["GET"], path: /^rules$/, action: "ListRules" },
  { methods: ["GET"], path: /^alerts$/, action: "ListAlerts" },
];

const PATH = /^\/workspaces\/([^/]+)\/api\/v1\/(.+)$/;

/** Whether a request is for the server of a workspace rather than for the API that manages workspaces. */
export const isDataPlane = ({ headers, url }: Pick<HttpRequest, "headers" | "url">): boolean =>
  /^aps-workspaces\./.test(headers["host"] ?? "") || PATH.test(pathOf(url));

/**
 * Answers a request for a workspace's Prometheus: ministack verifies its signature and the caller's right on the workspace; what
 * it refuses is passed on as it is. The rest goes to the server, and its answer back.
 */
export async function dataPlane(request: HttpRequest, context: ApsContext, by: Authorizer): Promise<HttpResponse> {
  try {
    return await served(request, context, by);
  } catch (error) {
    if (error instanceof ApiError) return errorResponse(error);
    throw error;
  }
}

async function served(request: HttpRequest, context: ApsContext, by: Authorizer): Promise<HttpResponse> {
  const [, workspace = "", rest = ""] = PATH.exec(pathOf(request.url)) ?? [];
  const route = ROUTES.find(({ methods, path }) => methods.includes(request.method) && path.test(rest));
  if (route === undefined)
    throw unknownOperation(
      `the embedded cloud does not serve ${request.method} ${pathOf(request.url)} of a workspace; see local/gateway/README.md for what it serves`,
    );
  const id = decoded(workspace) ?? workspace;
  const record = context.store.find(id);
  const resource = apsArn(context, `workspace/${id}`);
  const decision = await authorized(by, request, route.action, { resource }, record?.workspace.tags);
  if ("refused" in decision) return decision.refused;
  if (record?.workspace.status.statusCode !== "ACTIVE") throw notFound("workspace", id, `Workspace not found: ${id}`);
  const query = request.url.slice(pathOf(request.url).length);
  const { address } = context.workspaces.of(id, record.number);
  return forwardTo(address)({
    ...request,
    url: `/api/v1/${route.at ?? rest}${query}`,
    rawHeaders: passedOn(request.rawHeaders),
  });
}

/** Headers for Prometheus: the caller's credentials stay here, and the name it called is the gateway's. */
function passedOn(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = [raw[at], raw[at + 1]];
    if (!/^(host|authorization|x-amz-.*)$/i.test(name)) kept.push(name, value);
  }
  return kept;
}
