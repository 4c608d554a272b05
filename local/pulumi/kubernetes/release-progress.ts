/** What the workloads of a Helm release do while helm waits for them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonMap, Log } from "../framework/index.ts";
import type { Client } from "./client.ts";
import { diagnose } from "./diagnosis.ts";
import { at, type KubeObject, readiness } from "./readiness.ts";

const POLL_MS = 3000;
const WORKLOADS = [
  { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments" },
  { apiVersion: "apps/v1", kind: "StatefulSet", plural: "statefulsets" },
  { apiVersion: "apps/v1", kind: "DaemonSet", plural: "daemonsets" },
  { apiVersion: "batch/v1", kind: "Job", plural: "jobs" },
];

/** Watches a release; `stop` ends it and returns why workloads were not ready at the last look. */
export interface ReleaseWatch {
  stop(): Promise<string[]>;
}

/** Shows progress on the resource's line, and keeps the reasons: when helm rolls back, the pods that could tell are gone. */
export function watchRelease(client: Client, namespace: string, name: string, log: Log): ReleaseWatch {
  const ended = new AbortController();
  let reasons: string[] = [];
  const loop = async () => {
    while (!ended.signal.aborted) {
      await sleep(POLL_MS, undefined, { signal: ended.signal }).catch(() => undefined);
      if (ended.signal.aborted) return;
      try {
        const workloads = await workloadsOf(client, namespace, name);
        const unready = workloads.filter((object) => !readiness(object).ready);
        if (workloads.length > 0) log.status(progress(workloads.length, unready));
        if (unready.length > 0) reasons = await explain(client, unready);
      } catch (error) {
        // Progress is a courtesy: helm itself reports what is wrong with the cluster.
        log.debug(`no progress of release ${namespace}/${name}: ${(error as Error).message}`);
      }
    }
  };
  const running = loop();
  return {
    stop: async () => {
      ended.abort();
      await running;
      return reasons;
    },
  };
}

async function workloadsOf(client: Client, namespace: string, name: string): Promise<KubeObject[]> {
  const lists = await Promise.all(
    WORKLOADS.map(async ({ apiVersion, kind, plural }) => {
      const list = await client.request({
        method: "GET",
        path: `/apis/${apiVersion}/namespaces/${namespace}/${plural}`,
      });
      return (list["items"] as JsonMap[]).map((item) => ({ ...item, apiVersion, kind }));
    }),
  );
  return lists.flat().filter((object) => at(object, "metadata", "annotations", "meta.helm.sh/release-name") === name);
}

function progress(count: number, unready: readonly KubeObject[]): string {
  const names = unready.map(
    (object) => `${object.kind} ${String(at(object, "metadata", "name"))}: ${readiness(object).message}`,
  );
  return `${count - unready.length} of ${count} workloads ready${names.length > 0 ? `; ${names.join("; ")}` : ""}`;
}

async function explain(client: Client, unready: readonly KubeObject[]): Promise<string[]> {
  const lines = await Promise.all(
    unready.map(async (object) => {
      const title = `${object.kind} ${String(at(object, "metadata", "name"))}: ${readiness(object).message}`;
      return [title, ...(await diagnose(client, object)).map((line) => `  ${line}`)];
    }),
  );
  return lines.flat();
}
