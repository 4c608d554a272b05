import {
  ApiException,
  type Configuration,
  type CoreV1Api,
  type CustomObjectsApi,
  createConfiguration,
  type KubeConfig,
  type RequestContext,
  ServerConfiguration,
} from "@kubernetes/client-node";

/** A client whose requests a signal ends, which `makeApiClient` has no option for. */
export function clientOf<Client extends CustomObjectsApi | CoreV1Api>(
  client: new (configuration: Configuration) => Client,
  config: KubeConfig,
  signal: AbortSignal | undefined,
): Client {
  if (signal === undefined) return config.makeApiClient(client);
  const pre = async (request: RequestContext) => {
    request.setSignal(signal);
    return request;
  };
  return new client(
    createConfiguration({
      baseServer: new ServerConfiguration(config.getCurrentCluster()?.server ?? "", {}),
      authMethods: { default: config },
      promiseMiddleware: [{ pre, post: async (response) => response }],
    }),
  );
}

/** Objects in one answer: a Spoke has some kilobytes. */
const PAGE = 250;

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly metadata?: { readonly continue?: string };
}

/** Which page a list asks for, as the client's methods take it. */
export interface PageRequest {
  readonly limit: number;
  readonly _continue?: string;
}

/** What a list has on all its pages. @param read gets one */
export async function everyItem<Item>(read: (request: PageRequest) => Promise<Page<Item>>): Promise<Item[]> {
  const found: Item[] = [];
  let _continue = "";
  do {
    const page = await read({ limit: PAGE, ...(_continue === "" ? {} : { _continue }) });
    found.push(...page.items);
    _continue = page.metadata?.continue ?? "";
  } while (_continue !== "");
  return found;
}

/** The message in the body of an API server's answer, or of whatever answers in its place; empty where JSON has none. */
function messageOf(body: unknown): string {
  if (typeof body !== "string") return "";
  try {
    const said = (JSON.parse(body) as { readonly message?: unknown } | null)?.message;
    return typeof said === "string" ? said : "";
  } catch {
    return body.slice(0, 300);
  }
}

/** Why a request failed, in one line: the client's own text has all headers of an answer, and no reason why there was none. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiException) return `${error.code} ${messageOf(error.body)}`.trim();
  const { message, cause } = error as Error;
  return (cause instanceof Error && cause.message !== "" ? cause.message : message).trim();
}
