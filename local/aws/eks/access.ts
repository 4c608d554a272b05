/** Who may use a cluster, and how. */
import * as sdk from "@aws-sdk/client-eks";
import { computed, fixed, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { composite } from "../handler.ts";
import { api, eksTags, identity } from "./common.ts";

const entry = composite(":", "clusterName", "principalArn");

export const accessEntry = define({
  token: "aws:eks/accessEntry:AccessEntry",
  crossplane: { kind: "eks/AccessEntry" },
  idOf: entry.idOf,
  case: "camel",
  tags: eksTags("accessEntryArn"),
  fields: {
    clusterName: identity,
    principalArn: identity,
    kubernetesGroups: { type: "set", computed: true },
    type: { fixed: true, default: "STANDARD" },
    userName: { computed, api: "username" },
    accessEntryArn: out(),
    createdAt: out(),
    modifiedAt: out(undefined, { updated: true }),
  },
  create: (aws, request) => api(aws).send(new sdk.CreateAccessEntryCommand(request as never)),
  find: async (aws, id) => (await api(aws).send(new sdk.DescribeAccessEntryCommand(entry.partsOf(id)))).accessEntry,
  settings: [
    {
      fields: ["kubernetesGroups", "userName"],
      call: (aws, id, { kubernetesGroups = [], userName: username }) =>
        api(aws).send(new sdk.UpdateAccessEntryCommand({ ...entry.partsOf(id), kubernetesGroups, username })),
    },
  ],
  delete: (aws, id) => api(aws).send(new sdk.DeleteAccessEntryCommand(entry.partsOf(id))),
});

const association = composite("#", "clusterName", "principalArn", "policyArn");

export const accessPolicyAssociation = define({
  token: "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
  crossplane: { kind: "eks/AccessPolicyAssociation" },
  idOf: association.idOf,
  case: "camel",
  fields: {
    clusterName: identity,
    principalArn: identity,
    policyArn: { fixed: true, identifier: "required" },
    accessScope: { fixed, required: true, type: { block: { type: {}, namespaces: { type: "set" } } } },
    associatedAt: out(),
    modifiedAt: out(),
  },
  create: (aws, request) => api(aws).send(new sdk.AssociateAccessPolicyCommand(request as never)),
  async find(aws, id) {
    const { policyArn, ...of } = association.partsOf(id);
    for await (const page of sdk.paginateListAssociatedAccessPolicies({ client: api(aws) }, of))
      for (const item of page.associatedAccessPolicies ?? [])
        if (item.policyArn === policyArn) return { ...of, ...item };
    return undefined;
  },
  delete: (aws, id) => api(aws).send(new sdk.DisassociateAccessPolicyCommand(association.partsOf(id))),
});
