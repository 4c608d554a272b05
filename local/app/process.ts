import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Instance } from "../instance/index.ts";
import type { ProcessSpec } from "../supervisor/spec.ts";

/** Port on the instance's loopback address: the application's own. */
export const APP_PORT = 9898;

/** An application as `kubectl port-forward` finds it. */
export interface Application {
  /** Context in the instance's kubeconfig. */
  readonly context: string;
  readonly namespace: string;
  readonly service: string;
  /** Port of the service, by name or number. */
  readonly port: string;
}

/** Name of the process that shows a service. */
export const appProcessId = (service: string): string => `app-${service}`;

type Place = Pick<Instance, "loopbackAddress" | "paths">;

/** Where a browser on this machine finds the application. */
export const appUrl = ({ loopbackAddress }: Pick<Instance, "loopbackAddress">): string =>
  `http://${loopbackAddress}:${APP_PORT}`;

/** What makes an application of a cluster answer at {@link appUrl}, as a process for the supervisor. */
export function appProcess(instance: Place, { context, namespace, service, port }: Application): ProcessSpec {
  const kubectl = [join(instance.paths.bin, "kubectl"), "--context", context, "--namespace", namespace];
  return {
    id: appProcessId(service),
    argv: [
      ...([process.execPath, fileURLToPath(new URL("main.ts", import.meta.url))] as const),
      ...[instance.loopbackAddress, String(APP_PORT), `${service} on ${context}`],
      ...[...kubectl, "port-forward", "--address", "127.0.0.1", `service/${service}`, `:${port}`],
    ],
    ready: { tcp: { host: instance.loopbackAddress, port: APP_PORT } },
  };
}
