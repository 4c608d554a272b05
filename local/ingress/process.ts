import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Instance } from "../instance/index.ts";
import { namespaces } from "../product.ts";
import type { ProcessSpec } from "../supervisor/spec.ts";

/** Port on the instance's loopback address: notification-controller's own. */
const INGRESS_PORT = 9292;

/** Name of the process. */
export const INGRESS_ID = "webhooks";

type Place = Pick<Instance, "loopbackAddress" | "paths">;

/** URL of a Receiver on a cluster, by its context in the instance's kubeconfig. */
export const ingressUrl = ({ loopbackAddress }: Pick<Instance, "loopbackAddress">, context: string, path: string) =>
  `http://${loopbackAddress}:${INGRESS_PORT}/${context}${path}`;

/** What reaches notification-controller of a cluster from this machine. */
export const receiverForward = (kubectl: string, context: string): [string, ...string[]] => [
  ...([kubectl, "--context", context, "--namespace", namespaces.flux] as const),
  ...["port-forward", "--address", "127.0.0.1", "service/webhook-receiver", ":80"],
];

/** What takes the calls of webhooks for the clusters of an instance, as a process for the supervisor. */
export const ingressProcess = ({ loopbackAddress, paths }: Place): ProcessSpec => ({
  id: INGRESS_ID,
  argv: [
    ...([process.execPath, fileURLToPath(new URL("main.ts", import.meta.url))] as const),
    ...[loopbackAddress, String(INGRESS_PORT), join(paths.bin, "kubectl")],
  ],
  ready: { tcp: { host: loopbackAddress, port: INGRESS_PORT } },
});
