import { DescribeUpdateCommand, TagResourceCommand, UntagResourceCommand, type Update } from "@aws-sdk/client-eks";
import type { Aws } from "../clients.ts";
import type { Tagged } from "../handler.ts";
import { poll } from "../poll.ts";
import { syncTags } from "../tags.ts";

export function syncEksTags(aws: Aws, arn: string, change: { old: Tagged; new: Tagged }): Promise<void> {
  return syncTags(
    change,
    (tags) => aws.eks.send(new TagResourceCommand({ resourceArn: arn, tags })),
    (tagKeys) => aws.eks.send(new UntagResourceCommand({ resourceArn: arn, tagKeys })),
  );
}

interface Updated {
  readonly cluster: string;
  readonly nodeGroup?: string;
  readonly addon?: string;
}

/** Waits for an update of a cluster, node group or add-on; its errors are those that EKS gives. */
export async function updated(aws: Aws, of: Updated, update: Update | undefined): Promise<void> {
  const updateId = update?.id as string;
  const query = new DescribeUpdateCommand({
    name: of.cluster,
    nodegroupName: of.nodeGroup,
    addonName: of.addon,
    updateId,
  });
  await poll({ what: `EKS update ${updateId} (${update?.type}) of ${of.cluster}`, timeout: aws.timeout }, async () => {
    const { update: now } = await aws.eks.send(query);
    if (now?.status === "Successful") return true;
    if (now?.status === "InProgress") return undefined;
    throw new Error(`${now?.type ?? "update"} ${updateId} ended as ${now?.status}: ${reasons(now?.errors)}`);
  });
}

function reasons(errors: Update["errors"]): string {
  return (errors ?? []).map((e) => `${e.errorCode}: ${e.errorMessage}`).join("; ") || "no reason given";
}

/** The issues of a health report, for error messages. */
export function healthText(
  issues: readonly { code?: string | undefined; message?: string | undefined }[] | undefined,
): string {
  return (issues ?? []).map(({ code, message }) => `${code}: ${message}`).join("; ") || "no reason given";
}
