/** Follows the objects of one resource: a list, then a watch from there, over and over. */
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ClusterClient } from "./client.ts";

interface Meta {
  readonly namespace?: string;
  readonly name: string;
  readonly resourceVersion: string;
}

export interface Watched {
  readonly metadata: Meta;
}

export interface Resource {
  readonly path: string;
  /** Only the objects' metadata: for large objects of which the rest doesn't matter. */
  readonly metadataOnly?: boolean;
}

export interface InformerEvents<T> {
  /** A new or changed object. */
  upsert(object: T): void;
  removed(object: T): void;
  /** Something failed and is tried again. */
  trouble(message: string): void;
}

type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: T }
  | { readonly type: "ERROR"; readonly object: { readonly code?: number; readonly message?: string } };

const GONE = 410;
/** Seconds; the server ends a watch then, and the next one goes on from its last version. */
const WATCH_SECONDS = 300;
const PAUSE_MS = { first: 200, longest: 5000 };

const asMetadata = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1`;

/** Runs until `signal` is aborted. */
export async function inform<T extends Watched>(
  client: ClusterClient,
  resource: Resource,
  events: InformerEvents<T>,
  signal: AbortSignal,
): Promise<void> {
  const { path, metadataOnly } = resource;
  const known = new Map<string, T>();
  const keyOf = ({ metadata }: T) => `${metadata.namespace ?? ""}/${metadata.name}`;
  let version: string | undefined;
  let pause = PAUSE_MS.first;
  let said = "";

  /** Once for each trouble: permissions, for one, come a while after the program. */
  const tell = (message: string): void => {
    if (message !== said) events.trouble(message);
    said = message;
  };

  const onEvent = (event: WatchEvent<T>): void => {
    if (event.type === "ERROR")
      throw new ApiError(event.object.code ?? 500, event.object.message ?? "the watch failed");
    version = event.object.metadata.resourceVersion;
    if (event.type === "BOOKMARK") return;
    const key = keyOf(event.object);
    if (event.type === "DELETED") {
      known.delete(key);
      events.removed(event.object);
    } else {
      known.set(key, event.object);
      events.upsert(event.object);
    }
  };

  const relist = async (): Promise<void> => {
    const { items, metadata } = await client.call<{ items: T[]; metadata: { resourceVersion: string } }>({
      path,
      ...(metadataOnly && { accept: asMetadata("PartialObjectMetadataList") }),
    });
    const present = new Set(items.map(keyOf));
    for (const [key, object] of known)
      if (!present.has(key)) {
        known.delete(key);
        events.removed(object);
      }
    for (const item of items) {
      const same = known.get(keyOf(item))?.metadata.resourceVersion === item.metadata.resourceVersion;
      known.set(keyOf(item), item);
      if (!same) events.upsert(item);
    }
    version = metadata.resourceVersion;
  };

  const watch = async (): Promise<void> => {
    const started = Date.now();
    const query = {
      resourceVersion: version ?? "",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(WATCH_SECONDS),
    };
    const accept = metadataOnly && { accept: asMetadata("PartialObjectMetadata") };
    // Without a limit, a connection to a server that vanished would never end.
    const limit = AbortSignal.any([signal, AbortSignal.timeout((WATCH_SECONDS + 30) * 1000)]);
    await client.watch<WatchEvent<T>>({ path, query, ...accept }, onEvent, limit);
    // One that the server cuts short would be asked for again and again.
    if (!signal.aborted && Date.now() - started < PAUSE_MS.longest)
      throw new Error("the server ended the watch at once");
  };

  while (!signal.aborted) {
    try {
      if (version === undefined) await relist();
      await watch();
      pause = PAUSE_MS.first;
      said = "";
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === GONE) version = undefined;
      else tell((error as Error).message);
      await sleep(pause, undefined, { signal }).catch(() => {});
      pause = Math.min(pause * 2, PAUSE_MS.longest);
    }
  }
}
