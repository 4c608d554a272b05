/** Who may use a cluster, and how. */
import * as sdk from "@aws-sdk/client-eks";
import { computed, fixed, out } from "../define/fields.ts";
import { define, joined } from "../define/resource.ts";
import { api, eksTags, identity, partsOf } from "./common.ts";

const entry = (id: string) => partsOf(id, ":", "clusterName", "principalArn");

export const accessEntry = define({
  token: "aws:eks/accessEntry:AccessEntry",
  crossplane: {
    kind: "eks/AccessEntry",
    externalName: { kind: "derived", id: joined(":", "clusterName", "principalArn") },
  },
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
  async create(aws, request, { clusterName: cluster, principalArn }) {
    await api(aws).send(new sdk.CreateAccessEntryCommand(request as never));
    return `${cluster}:${principalArn}`;
  },
  find: async (aws, id) => ({ ...(await api(aws).send(new sdk.DescribeAccessEntryCommand(entry(id)))).accessEntry }),
  settings: [
    {
      fields: ["kubernetesGroups", "userName"],
      call: (aws, id, { kubernetesGroups = [], userName: username }) =>
        api(aws).send(new sdk.UpdateAccessEntryCommand({ ...entry(id), kubernetesGroups, username })),
    },
  ],
  delete: (aws, id) => api(aws).send(new sdk.DeleteAccessEntryCommand(entry(id))),
});

const association = (id: string) => partsOf(id, "#", "clusterName", "principalArn", "policyArn");

export const accessPolicyAssociation = define({
  token: "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
  crossplane: {
    kind: "eks/AccessPolicyAssociation",
    externalName: { kind: "derived", id: joined("#", "clusterName", "principalArn", "policyArn") },
  },
  case: "camel",
  fields: {
    clusterName: identity,
    principalArn: identity,
    policyArn: { fixed: true, identifier: "required" },
    accessScope: { fixed, required: true, type: { block: { type: {}, namespaces: { type: "set" } } } },
    associatedAt: out(),
    modifiedAt: out(),
  },
  async create(aws, request, { clusterName: cluster, principalArn, policyArn }) {
    await api(aws).send(new sdk.AssociateAccessPolicyCommand(request as never));
    return `${cluster}#${principalArn}#${policyArn}`;
  },
  async find(aws, id) {
    const { policyArn, ...of } = association(id);
    for await (const page of sdk.paginateListAssociatedAccessPolicies({ client: api(aws) }, of))
      for (const item of page.associatedAccessPolicies ?? [])
        if (item.policyArn === policyArn) return { ...of, ...item };
    return undefined;
  },
  delete: (aws, id) => api(aws).send(new sdk.DisassociateAccessPolicyCommand(association(id))),
});
