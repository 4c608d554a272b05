import type { GatewayKey } from "../key.ts";
import { accountOfArn } from "./account-of-key.ts";
import { pathOf, queryOf } from "./credential-scope.ts";
import { ApiError, errorResponse } from "./errors.ts";
import { ASSERTION_HEADER, type Forward } from "./forward.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "./http.ts";
import { type Authorization, type Operation, stringOf } from "./operation.ts";
import { checked, routeOf, schemaOf } from "./request.ts";

/** What verifies and authorizes requests. */
export interface Authorizer {
  readonly forward: Forward;
  readonly key: GatewayKey;
}

interface InAccount {
  /** Whose resources the context has. */
  readonly account: string;
}

/** An API that the gateway answers itself, over REST JSON. */
export interface RestApi<Context extends InAccount> {
  /** Its name in messages: "EKS". */
  readonly name: string;
  /** The module of the SDK's client. */
  readonly sdk: object;
  readonly operations: readonly Operation<Context>[];
  /** For a member that is wrong. */
  readonly invalid: (message: string) => ApiError;
  /** For a request that is none of the operations. */
  readonly unknown: (message: string) => ApiError;
  /** The tags of a resource that exists, for aws:ResourceTag. */
  tagsOf(context: Context, arn: string): Readonly<Record<string, string>> | undefined;
}

/** A call that was authorized, or the refusal that its caller gets. */
type Decision = { readonly caller: string } | { readonly refused: HttpResponse };

/**
 * Has ministack verify the signature of a request and the caller's rights: for the action, the resource and whatever else the
 * authorization names.
 */
export async function authorized(
  { forward, key }: Authorizer,
  request: HttpRequest,
  action: string,
  { resource, passRoles = [], also = [], context = {} }: Authorization,
  tags: Readonly<Record<string, string>> = {},
): Promise<Decision> {
  const keys = { ...conditions(context), ...tagKeys(tags) };
  const assertion = await key.sign({ action, resource, passRoles, also, context: keys });
  const answer = await forward(request, { [ASSERTION_HEADER]: assertion });
  return answer.status === 200 ? (JSON.parse(answer.body.toString()) as { caller: string }) : { refused: answer };
}

/** Gives a function that says which operation of an API a request is; undefined for none of them. */
export function operationOf<Context extends InAccount>({
  sdk,
  operations,
}: Pick<RestApi<Context>, "sdk" | "operations">) {
  const routes = operations.map(({ name }) => ({ name, read: routeOf(schemaOf(sdk, name)) }));
  return ({ method, url }: Pick<HttpRequest, "method" | "url">): string | undefined =>
    routes.find(({ read }) => read({ method, path: pathOf(url), query: queryOf(url), body: {} }))?.name;
}

/** Gives a function that answers requests of an API. What ministack refuses is passed on as it is; then the operation runs. */
export function restApi<Context extends InAccount>(api: RestApi<Context>) {
  const routes = api.operations.map((operation) => {
    const schema = schemaOf(api.sdk, operation.name);
    return { operation, read: routeOf(schema), status: schema[3].http[2] };
  });
  const answer = async (request: HttpRequest, context: Context, by: Authorizer): Promise<HttpResponse> => {
    const parts = { method: request.method, path: pathOf(request.url), query: queryOf(request.url) };
    const body = bodyOf(request, api.unknown);
    for (const { operation, read, status } of routes) {
      const members = read({ ...parts, body });
      if (members === undefined) continue;
      const wanted = operation.authorize(context, members);
      const decision = await authorized(by, request, operation.name, wanted, api.tagsOf(context, wanted.resource));
      if ("refused" in decision) return decision.refused;
      // The context is chosen by the key that the request names; ministack says whose key has signed it.
      if (accountOfArn(decision.caller) !== context.account)
        throw api.unknown(
          `${decision.caller} is not of account ${context.account}, whose access key the request names`,
        );
      const result = await operation.run(context, checked(operation, members, api.invalid), decision.caller);
      return result === undefined ? { status, headers: {}, body: "" } : jsonResponse(status, result);
    }
    throw api.unknown(
      `the embedded cloud does not serve ${parts.method} ${parts.path} of the ${api.name} API; see local/gateway/README.md for what it serves`,
    );
  };
  return (request: HttpRequest, context: Context, by: Authorizer): Promise<HttpResponse> =>
    answer(request, context, by).catch((error: unknown) => {
      if (error instanceof ApiError) return errorResponse(error);
      throw error;
    });
}

/** Condition keys as IAM takes them: only strings and lists are values. */
const conditions = (keys: NonNullable<Authorization["context"]>) =>
  Object.fromEntries(
    Object.entries(keys).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, Array.isArray(value) ? value.map(stringOf) : stringOf(value)]],
    ),
  );

const tagKeys = (tags: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(tags).map(([name, value]) => [`aws:ResourceTag/${name}`, value]));

/** The JSON body; a null member counts as missing. */
function bodyOf(request: HttpRequest, refuse: RestApi<never>["unknown"]): Record<string, unknown> {
  if (request.body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(request.body.toString("utf8"), (_name, member: unknown) => member ?? undefined);
  } catch {
    throw refuse("the body is not valid JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refuse("the body is not a JSON object");
  return value as Record<string, unknown>;
}
