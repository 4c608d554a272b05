import { spawn } from "node:child_process";

/** A port of a Service, and the path to GET there. */
export interface Question {
  readonly namespace: string;
  readonly service: string;
  /** Name or number of the Service's port. */
  readonly port: string;
  readonly path: string;
}

/**
 * The answer of a Service's pod to an HTTP GET by `kubectl port-forward`, whose connection starts inside the pod. The
 * API server's own proxy is not a pod, so NetworkPolicies that admit pods stop it.
 * @param kubectl the command, with the flags that choose a cluster
 * @throws Error with kubectl's message when there is no connection, or with status and body of an answer that is not 2xx
 */
export async function ask(
  kubectl: readonly [string, ...string[]],
  { namespace, service, port, path }: Question,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const [file, ...flags] = kubectl;
  const forward = [
    "port-forward",
    "--address",
    "127.0.0.1",
    "--namespace",
    namespace,
    `service/${service}`,
    `:${port}`,
  ];
  const child = spawn(file, [...flags, ...forward], { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let said = "";
  try {
    const address = await new Promise<string>((resolve, reject) => {
      const listen = (chunk: Buffer) => {
        said += chunk.toString();
        const [, found] = /Forwarding from (127\.0\.0\.1:\d+) /.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on("data", listen);
      child.stderr.on("data", listen);
      child.once("error", reject);
      child.once("close", () => reject(new Error(`port-forward to service/${service} ended: ${said.trim()}`)));
    });
    const answer = await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(10_000) }).catch(
      (error: Error) =>
        Promise.reject(new Error(`GET ${path} of service/${service}: ${error.message}; ${said.trim()}`)),
    );
    const text = await answer.text();
    if (!answer.ok) throw new Error(`GET ${path} of service/${service} answered ${answer.status}: ${text}`);
    return text;
  } finally {
    child.kill();
    await ended;
  }
}
