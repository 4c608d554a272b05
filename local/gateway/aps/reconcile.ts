import type { Next } from "../../work-queue.ts";
import { textOf } from "./definition.ts";
import type { NamespaceRecord, WorkspaceRecord } from "./model.ts";
import type { ApsContext } from "./operation.ts";
import { RulesRefused, type ServerSettings, type WorkspaceRuntime } from "./runtime.ts";

type Context = Pick<ApsContext, "store" | "workspaces">;

/** Gives a function that brings a workspace's server to what its record says, and its states to their ends. */
export function workspaceReconciler(context: Context): (id: string) => Promise<Next> {
  const { store, workspaces } = context;
  return async (id) => {
    const record = store.find(id);
    if (record === undefined) return "wait";
    const server = workspaces.of(id, record.number);
    if (record.workspace.status.statusCode === "DELETING") {
      await server.remove();
      await store.remove(id);
      return "wait";
    }
    await server.ensure(settingsOf(record));
    await store.change(id, ({ workspace, configuration }) => {
      if (workspace.status.statusCode === "CREATING") workspace.status = { statusCode: "ACTIVE" };
      configuration.status = sameRetention(configuration, record) ? "ACTIVE" : configuration.status;
    });
    for (const name of Object.keys(record.namespaces)) await bringNamespace(context, id, name, server);
    await store.change(id, settleAlertManager);
    return "wait";
  };
}

/** What the server runs with: the rules that it took last, without those of namespaces that are to go. */
function settingsOf({ configuration, namespaces }: WorkspaceRecord): ServerSettings {
  const rules = Object.entries(namespaces).flatMap(([name, { namespace, running }]) =>
    running === undefined || namespace.status.statusCode === "DELETING" ? [] : [[name, textOf(running)] as const],
  );
  return { retentionDays: configuration.retentionDays, rules: Object.fromEntries(rules) };
}

/** Whether the retention is still what the server was given. */
const sameRetention = (now: WorkspaceRecord["configuration"], given: WorkspaceRecord): boolean =>
  now.retentionDays === given.configuration.retentionDays;

async function bringNamespace({ store }: Context, id: string, name: string, server: WorkspaceRuntime): Promise<void> {
  const record = store.get(id);
  const { namespace } = record.namespaces[name] as NamespaceRecord;
  const state = namespace.status.statusCode;
  if (state === "DELETING")
    // The server runs without its rules already.
    await store.change(id, ({ namespaces }) => {
      delete namespaces[name];
    });
  if (state !== "CREATING" && state !== "UPDATING") return;
  const settings = settingsOf(record);
  const refusal = await refusalOf(
    server.ensure({ ...settings, rules: { ...settings.rules, [name]: textOf(namespace.data) } }),
  );
  // A server that restarts must not meet rules that it does not take.
  if (refusal !== undefined) await server.ensure(settings);
  await store.change(id, ({ namespaces }) => {
    const one = namespaces[name] as NamespaceRecord;
    if (refusal === undefined) one.running = namespace.data;
    one.namespace.status =
      refusal === undefined
        ? { statusCode: "ACTIVE" }
        : { statusCode: state === "CREATING" ? "CREATION_FAILED" : "UPDATE_FAILED", statusReason: refusal };
  });
}

async function refusalOf(attempt: Promise<void>): Promise<string | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (error instanceof RulesRefused) return error.message;
    throw error;
  }
}

/** No Alertmanager runs: a definition is recorded, and ACTIVE at once. */
function settleAlertManager(record: WorkspaceRecord): void {
  const definition = record.alertManager?.definition;
  if (definition === undefined) return;
  if (definition.status.statusCode === "DELETING") delete record.alertManager;
  else definition.status = { statusCode: "ACTIVE" };
}
