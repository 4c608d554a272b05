import { readFile } from "node:fs/promises";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { KubeConfig } from "@kubernetes/client-node";
import { pluralOf } from "../../../functions/spoke/kinds.ts";
import { instance } from "./fleet.ts";
import type { Editable } from "./repository.ts";

/** A change of an object on the hub. Revisions order the changes of all objects: a later change has a greater one. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly kind: string;
  readonly name: string;
  readonly revision: number;
  readonly object: Editable;
}

/** Every change from a moment on, without a gap that polling would have. */
export interface History {
  /** All changes until now, oldest first within a kind. @throws when a watch has ended before {@link stop}. */
  changes(): readonly Change[];
  stop(): void;
}

/** Changes of all objects in the namespace `spokes` of some kinds (with their API versions), selected as by `kubectl get`. */
export async function record(
  kinds: Readonly<Record<string, string>>,
  selector: { readonly labelSelector: string } | { readonly fieldSelector: string },
): Promise<History> {
  const config = new KubeConfig();
  config.loadFromString(await readFile(join(instance.paths.clusters, "fleet-hub", "admin.kubeconfig"), "utf8"));
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const changes: Change[] = [];
  const failures: Error[] = [];
  let stopped = false;
  const requests = await Promise.all(
    Object.entries(kinds).map(async ([kind, apiVersion]) => {
      const root = apiVersion.includes("/") ? "apis" : "api";
      const url = new URL(
        `/${root}/${apiVersion}/namespaces/spokes/${pluralOf(kind)}`,
        config.getCurrentCluster()?.server,
      );
      url.search = new URLSearchParams({ watch: "true", timeoutSeconds: "7200", ...selector }).toString();
      const ended = (error?: Error) => {
        if (!stopped) failures.push(error ?? new Error(`the API server ended the watch of ${url.href}`));
      };
      const watch = request(url, options);
      const begun = new Promise<void>((resolve, reject) => {
        watch.once("error", reject);
        watch.once("response", (response) => {
          if (response.statusCode !== 200) return reject(new Error(`${url.href}: HTTP ${response.statusCode}`));
          const lines = createInterface({ input: response });
          lines.on("line", (line) => {
            const { type, object } = JSON.parse(line);
            const { name, resourceVersion } = object.metadata;
            if (type === "ERROR") failures.push(new Error(`${url.href}: ${line}`));
            else changes.push({ type, kind, name, revision: Number(resourceVersion), object });
          });
          // Errors of the response are the interface's too.
          lines.on("error", ended).on("close", ended);
          resolve();
        });
      });
      watch.end();
      await begun;
      watch.on("error", ended);
      return watch;
    }),
  );
  return {
    changes() {
      if (failures[0] !== undefined) throw failures[0];
      return changes;
    },
    stop() {
      stopped = true;
      for (const each of requests) each.destroy();
    },
  };
}

const byRevision = (a: Change, b: Change) => a.revision - b.revision;

/** Revision of the first change that `matches`. @throws when there is none. */
export function firstOf(history: History, what: string, matches: (change: Change) => boolean): number {
  const [found] = history.changes().filter(matches).sort(byRevision);
  if (found === undefined) throw new Error(`never seen: ${what}`);
  return found.revision;
}

/** `kind name` of what was removed, in the order of the removals. */
export function removals(history: History): string[] {
  return history
    .changes()
    .filter(({ type }) => type === "DELETED")
    .sort(byRevision)
    .map(({ kind, name }) => `${kind} ${name}`);
}
