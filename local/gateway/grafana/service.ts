import * as sdk from "@aws-sdk/client-grafana";
import type { HttpRequest } from "../aws/http.ts";
import { ownTags } from "../aws/operation.ts";
import { type Authorizer, restApi } from "../aws/rest-api.ts";
import { backgroundWork } from "../background.ts";
import type { Log } from "../listeners.ts";
import {
  type GrafanaContext,
  invalid,
  notFound,
  openStore,
  tagOperations,
  unknownOperation,
  workspaceArn,
} from "./model.ts";
import { permissionOperations } from "./permissions.ts";
import { workspaceOperations } from "./workspaces.ts";

/** The tags of the workspace with this ARN and its ID, or undefined. */
const findTagged = (context: GrafanaContext, arn: string) => {
  const found = context.store.all().find(({ workspace }) => workspaceArn(context, workspace.id) === arn)?.workspace;
  return found && { id: found.id, tags: found.tags };
};

/** Every operation that the gateway serves. */
export const OPERATIONS = [
  ...workspaceOperations,
  ...permissionOperations,
  ...tagOperations({
    shape: ownTags,
    find: findTagged,
    change: ({ store }, id, _arn, edit) => store.change(store.get(id), ({ workspace }) => edit(workspace.tags)),
    missing: (arn) => notFound(arn, `there is no workspace with ARN ${arn}`),
  }),
];

const grafanaApi = restApi<GrafanaContext>({
  name: "Amazon Managed Grafana",
  sdk,
  operations: OPERATIONS,
  invalid,
  unknown: unknownOperation,
  tagsOf: (context, arn) => findTagged(context, arn)?.tags,
});

export type Grafana = Awaited<ReturnType<typeof startGrafana>>;

interface ServiceOptions extends Omit<GrafanaContext, "store" | "wake"> {
  /** Where its state is. */
  readonly folder: string;
  readonly log: Log;
}

/** Starts Amazon Managed Grafana: its state, and what brings each state to its end. No Grafana runs, so each ends at once. */
export async function startGrafana({ folder, log, ...options }: ServiceOptions) {
  const store = await openStore(folder);
  const work = backgroundWork("Grafana workspace", log, async (id) => {
    const record = store.find(id);
    if (record?.workspace.status === "DELETING") await store.remove(id);
    else if (record !== undefined && record.workspace.status !== "ACTIVE")
      await store.change(record, ({ workspace }) => {
        workspace.status = "ACTIVE";
      });
    return "wait";
  });
  const context: GrafanaContext = {
    ...options,
    store,
    // After the caller has answered.
    wake: (id) => void setImmediate(() => work.add(id)),
  };
  // Continues what a killed gateway left half done.
  for (const { workspace } of store.all()) work.add(workspace.id);
  return {
    /** Answers a request of Amazon Managed Grafana. */
    answer: (request: HttpRequest, by: Authorizer) => grafanaApi(request, context, by),
    idle: () => work.idle(),
    stop: () => work.stop(),
  };
}
