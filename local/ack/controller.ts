/** Follows the objects of a kind and looks after what they order. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Aws } from "../aws/connection.ts";
import type { ClusterClient } from "../crossplane/provider-aws/cluster/client.ts";
import { inform } from "../crossplane/provider-aws/cluster/informer.ts";
import type { Log } from "../program.ts";
import { WorkQueue } from "../work-queue.ts";
import { clusterOf } from "./cluster.ts";
import { definitionOf, type Kind, pathOf } from "./kinds/kind.ts";
import { type AckObject, isDeleted } from "./object.ts";
import { Pass, type World } from "./reconciler.ts";
import type { Settings } from "./settings.ts";

/** controller-runtime's pauses after failures (client-go, util/workqueue, DefaultTypedControllerRateLimiter). */
const PAUSE_MS = { first: 5, longest: 1_000_000 };

/** Whether a change calls for a pass: one of annotations or of the status does not (GenerationChangedPredicate). */
export const callsForPass = (before: AckObject | undefined, after: AckObject): boolean =>
  before?.metadata.generation !== after.metadata.generation || before.metadata.uid !== after.metadata.uid;

/** Runs until `signal` is aborted, and then until the passes that run have ended. */
export async function runController(
  kind: Kind,
  client: ClusterClient,
  { aws, settings, version }: { readonly aws: Aws; readonly settings: Settings; readonly version: string },
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const world: World = { cluster: clusterOf(client), aws, settings, version, now: () => new Date() };
  const seen = new Map<string, AckObject>();
  const keyOf = ({ metadata }: AckObject) => `${metadata.namespace}/${metadata.name}`;
  const queue = new WorkQueue({
    concurrency: settings.concurrency,
    pause: PAUSE_MS,
    work: async (key) => {
      const [namespace = "", name = ""] = key.split("/");
      // Not from the watch: it may still lack what the last pass wrote.
      const object = await world.cluster.get(kind, namespace, name);
      if (!object) return "wait";
      const next = await new Pass(kind, object, world).run();
      log("debug", "reconciled", { key, isDeleted: isDeleted(object), next });
      return next;
    },
    onError: (key, error) => log("error", "cannot reconcile", { key, error: (error as Error).message }),
  });
  const events = {
    upsert: (object: AckObject) => {
      const key = keyOf(object);
      const before = seen.get(key);
      seen.set(key, object);
      if (callsForPass(before, object)) queue.add(key);
    },
    removed: (object: AckObject) => {
      seen.delete(keyOf(object));
      queue.forget(keyOf(object));
    },
    trouble: (message: string) =>
      log("error", "cannot watch", { kind: definitionOf(kind).spec.names.kind, error: message }),
  };
  const places = settings.namespaces.length === 0 ? [undefined] : settings.namespaces;
  await Promise.all(
    places.map((namespace) => inform<AckObject>(client, { path: pathOf(kind, namespace) }, events, signal)),
  );
  await queue.stop();
}

/** Where upstream's charts have the probes of kubelet look. */
const HEALTH_PORT = 8081;

/** Answers to kubelet's probes until `signal` is aborted. @returns the port */
export async function serveHealth(signal: AbortSignal, port = HEALTH_PORT): Promise<number> {
  const server = createServer(({ url }, answer) => {
    answer.writeHead(url === "/healthz" || url === "/readyz" ? 200 : 404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, resolve);
  });
  signal.addEventListener("abort", () => server.close());
  return (server.address() as AddressInfo).port;
}
