/** One program of the family: follows the objects of its kinds and reconciles them. */
import type { Log } from "../../program.ts";
import { WorkQueue } from "../../work-queue.ts";
import type { ClusterClient } from "./cluster/client.ts";
import { inform, type Watched } from "./cluster/informer.ts";
import { clusterObjects, resourcePath } from "./cluster/objects.ts";
import { connections } from "./credentials.ts";
import { crdName, type Kind } from "./kind.ts";
import { desiredState, isTold, keyOf, type Managed, unblocksOthers } from "./managed.ts";
import type { Options } from "./options.ts";
import { type ReconcilerOptions, Reconciliation } from "./reconciler.ts";

/** Adds or subtracts up to a tenth, so that resources that were created together drift apart in their polls. */
const jitter = (milliseconds: number): number => milliseconds * (0.9 + Math.random() / 5);

/** Runs the program until `signal` is aborted, and then until the passes that run have ended. */
export async function runController(
  name: string,
  kindList: readonly Kind[],
  client: ClusterClient,
  options: Options,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const objects = clusterObjects(client, name);
  const reconciler: ReconcilerOptions = {
    objects,
    connections: connections(objects, process.env),
    now: () => new Date(),
    secrets: new Map(),
    signal,
  };
  const seen = new Map<string, Managed>();
  const kinds = new Map(kindList.map((kind) => [kind.kind, kind]));

  /** Milliseconds until the next pass over a resource that is up to date. */
  const pollMs = (key: string): number => {
    const managed = seen.get(key);
    return jitter((managed && kinds.get(managed.kind)?.pollMs?.(managed.spec.forProvider)) || options.pollMs);
  };
  const queue = new WorkQueue({
    concurrency: options.concurrency,
    work: async (key) => {
      const [kindName = "", namespace = "", objectName = ""] = key.split("/");
      const kind = kinds.get(kindName) as Kind;
      // Not from the watch: it may still lack what the last pass wrote.
      const managed = await objects.get(crdName(kind), namespace, objectName);
      if (!managed) return "wait";
      const outcome = await new Reconciliation(kind, managed, reconciler).run();
      log("debug", "reconciled", { key, outcome });
      return outcome === "poll" ? pollMs(key) : outcome;
    },
    onError: (key, error) => log("error", "cannot reconcile", { key, error: (error as Error).message }),
  });

  /** Follows the objects of a kind for as long as its CRD is there. */
  const follow = (kind: Kind, until: AbortSignal) =>
    inform<Managed>(
      client,
      { path: resourcePath(crdName(kind)) },
      {
        upsert: (managed) => {
          const key = `${kind.kind}/${keyOf(managed)}`;
          const before = seen.get(key);
          seen.set(key, managed);
          if (!before || desiredState(before) !== desiredState(managed) || isTold(before, managed)) queue.add(key);
          // Not at every change: two that AWS throttles would keep each other busy. Upstream's wait for their pause.
          else if (unblocksOthers(before, managed))
            queue.wake((other) => other !== key && other.includes(`/${managed.metadata.namespace}/`));
        },
        removed: (managed) => {
          const key = `${kind.kind}/${keyOf(managed)}`;
          seen.delete(key);
          queue.forget(key);
          queue.wake((other) => other.includes(`/${managed.metadata.namespace}/`));
        },
        trouble: (message) => log("error", "cannot watch", { kind: kind.kind, error: message }),
      },
      until,
    );

  await followActive(client, kindList, follow, log, signal);
  await queue.stop();
}

/**
 * Starts to follow a kind when its CRD is there, which Crossplane makes when an activation policy names the kind, and
 * stops when it goes (upstream's capability SafeStart).
 */
async function followActive(
  client: ClusterClient,
  kinds: readonly Kind[],
  follow: (kind: Kind, until: AbortSignal) => Promise<void>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const byCrd = new Map(kinds.map((kind) => [crdName(kind), kind]));
  const running = new Map<string, AbortController>();
  const start = (name: string): void => {
    const kind = byCrd.get(name);
    if (!kind || running.has(name)) return;
    const stop = new AbortController();
    running.set(name, stop);
    log("info", "following", { kind: kind.kind });
    void follow(kind, AbortSignal.any([stop.signal, signal])).finally(() => running.delete(name));
  };
  await inform<Watched>(
    client,
    { path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", metadataOnly: true },
    {
      upsert: ({ metadata }) => start(metadata.name),
      removed: ({ metadata }) => running.get(metadata.name)?.abort(),
      trouble: (message) => log("error", "cannot watch CustomResourceDefinitions", { error: message }),
    },
    signal,
  );
}
