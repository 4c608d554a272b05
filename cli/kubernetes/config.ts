import { KubeConfig } from "@kubernetes/client-node";
import { UsageError } from "../usage.ts";

/** The server of a client that found no kubeconfig. */
const nowhere = "http://localhost:8080";

/** The kubeconfig's cluster. @throws UsageError when there is no kubeconfig, or it has no such context. */
export function kubeConfig(context: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    throw new UsageError(`the kubeconfig can't be read: ${(error as Error).message}. KUBECONFIG names another`, {
      cause: error,
    });
  }
  if (config.getCurrentCluster()?.server === nowhere)
    throw new UsageError(
      "there is no kubeconfig: make one with aws eks update-kubeconfig, or name it in KUBECONFIG. In a pod its service account serves",
    );
  const known = config.getContexts().map(({ name }) => name);
  if (context !== undefined && !known.includes(context))
    throw new UsageError(
      `the kubeconfig has no context ${context}; it has ${known.join(", ") || "none"}. Name one of them`,
    );
  if (context !== undefined) config.setCurrentContext(context);
  if (config.getCurrentCluster() === null)
    throw new UsageError(
      `the kubeconfig has no current context; it has ${known.join(", ") || "none"}. Name the hub's with --context NAME`,
    );
  return config;
}

/** The profile of the AWS CLI by which a user of a kubeconfig makes its tokens; undefined for that of the environment. */
export function profileOf(config: KubeConfig): string | undefined {
  const { args = [], env = [] } = (config.getCurrentUser()?.exec ?? {}) as {
    readonly args?: readonly string[];
    readonly env?: readonly { readonly name: string; readonly value: string }[];
  };
  // A flag wins over the environment in the AWS CLI, too.
  const flag = args.indexOf("--profile");
  return (flag < 0 ? undefined : args[flag + 1]) ?? env?.find(({ name }) => name === "AWS_PROFILE")?.value;
}
