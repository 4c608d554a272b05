import * as sdk from "@aws-sdk/client-eks";
import { sameJson } from "../compare.ts";
import { computed, fixed, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { composite } from "../handler.ts";
import { api, eksStates, eksTags, updated } from "./common.ts";

const names = composite(":", "clusterName", "addonName");

export const addon = define({
  token: "aws:eks/addon:Addon",
  crossplane: { kind: "eks/Addon", asynchronous: true },
  idOf: names.idOf,
  case: "camel",
  tags: eksTags("addonArn"),
  states: eksStates("EKS add-on", ["CREATING", "UPDATING", "DEGRADED"]),
  fields: {
    clusterName: { fixed },
    addonName: { fixed, required: true },
    addonVersion: { computed },
    configurationValues: { computed, same: sameJson },
    preserve: { type: "boolean", api: null, unread: true },
    resolveConflictsOnCreate: { api: "resolveConflicts", unread: true },
    resolveConflictsOnUpdate: { api: null, unread: true },
    serviceAccountRoleArn: {},
    arn: out("addonArn"),
    createdAt: out(),
    modifiedAt: out(undefined, { updated: true }),
  },
  create: (aws, request) => api(aws).send(new sdk.CreateAddonCommand(request as never)),
  find: async (aws, id) => (await api(aws).send(new sdk.DescribeAddonCommand(names.partsOf(id)))).addon,
  settings: [
    {
      fields: ["addonVersion", "configurationValues", "serviceAccountRoleArn"],
      async call(aws, id, { addonVersion, configurationValues, resolveConflictsOnUpdate, serviceAccountRoleArn }) {
        const resolveConflicts = resolveConflictsOnUpdate as sdk.ResolveConflicts | undefined;
        const wanted = { addonVersion, configurationValues, resolveConflicts, serviceAccountRoleArn };
        const { clusterName: cluster, addonName } = names.partsOf(id);
        const answer = await api(aws).send(new sdk.UpdateAddonCommand({ ...names.partsOf(id), ...wanted }));
        await updated(aws, { cluster, addon: addonName }, answer);
      },
    },
  ],
  delete: (aws, id, { preserve }) => api(aws).send(new sdk.DeleteAddonCommand({ ...names.partsOf(id), preserve })),
});
