import {
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

/** The message in the body of an API server's answer, or of whatever answers in its place. */
export function messageOf(body: unknown): string {
  if (typeof body !== "string") return "";
  try {
    return String((JSON.parse(body) as { readonly message?: unknown } | null)?.message);
  } catch {
    return body.slice(0, 300);
  }
}
