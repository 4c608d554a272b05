import {
  DescribeUpdateCommand,
  EKSClient,
  TagResourceCommand,
  UntagResourceCommand,
  type Update,
} from "@aws-sdk/client-eks";
import type { Aws } from "../connection.ts";
import type { Item } from "../define/fields.ts";
import type { TagCalls } from "../define/resource.ts";
import { poll } from "../poll.ts";
import { ownTags } from "../tags.ts";

export const api = (aws: Aws) => aws.client(EKSClient);

/** @param arn name of the member that holds the resource's ARN */
export const eksTags = (arn: string): TagCalls => ({
  request: (tags) => ({ tags }),
  of: (_aws, _id, { tags }) => ownTags(tags as Record<string, string> | undefined),
  set: (aws, resourceArn, tags) => api(aws).send(new TagResourceCommand({ resourceArn, tags })),
  remove: (aws, resourceArn, tagKeys) => api(aws).send(new UntagResourceCommand({ resourceArn, tagKeys })),
  target: (item) => item[arn] as string,
});

/** Part of a resource's identity: its cluster, its principal. */
export const identity = { fixed: true, identifier: true } as const;

interface Updated {
  readonly cluster: string;
  readonly nodeGroup?: string;
  readonly addon?: string;
}

/** Waits for an update of a cluster, node group or add-on; its errors are those that EKS gives. */
export async function updated(aws: Aws, of: Updated, { update }: { update?: Update | undefined }): Promise<void> {
  const updateId = update?.id as string;
  const names = { name: of.cluster, nodegroupName: of.nodeGroup, addonName: of.addon };
  await poll({ what: `EKS update ${updateId} (${update?.type}) of ${of.cluster}`, timeout: aws.timeout }, async () => {
    const { update: now } = await api(aws).send(new DescribeUpdateCommand({ ...names, updateId }));
    if (now?.status === "Successful") return true;
    if (now?.status === "InProgress") return undefined;
    throw new Error(`${now?.type ?? "update"} ${updateId} ended as ${now?.status}: ${reasons(now?.errors)}`);
  });
}

const reasons = (errors: Update["errors"]): string =>
  (errors ?? []).map((e) => `${e.errorCode}: ${e.errorMessage}`).join("; ") || "no reason given";

interface Issue {
  readonly code?: string;
  readonly message?: string;
  readonly resourceIds?: readonly string[];
}

/** States of what EKS makes; the reason is its health report, as Terraform has it (terraform-provider-aws, eks/node_group.go, issuesError). */
export const eksStates = (what: string, pending: readonly string[]) => ({
  what,
  of: ({ status }: Item) => status as string | undefined,
  usable: ["ACTIVE"],
  pending,
  leaving: ["DELETING"],
  reason: ({ health }: Item) =>
    ((health as { issues?: Issue[] } | undefined)?.issues ?? [])
      .map(({ code, message, resourceIds = [] }) => `${resourceIds.join(", ")}: ${code}: ${message}`)
      .join("\n"),
});
