import {
  AssociateKmsKeyCommand,
  CreateLogGroupCommand,
  DeleteLogGroupCommand,
  DeleteRetentionPolicyCommand,
  DescribeLogGroupsCommand,
  DisassociateKmsKeyCommand,
  ListTagsForResourceCommand,
  type LogGroupClass,
  PutRetentionPolicyCommand,
  TagResourceCommand,
  UntagResourceCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { ownTags, syncTags } from "../tags.ts";

interface Inputs extends Tagged {
  name: string;
  retentionInDays?: number;
  kmsKeyId?: string;
  logGroupClass?: LogGroupClass;
  skipDestroy?: boolean;
}

async function find(aws: Aws, name: string) {
  const { logGroups } = await aws.cloudwatchlogs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: name }));
  return logGroups?.find((group) => group.logGroupName === name);
}

/** Without the final `:*` of the older form, as Terraform has it and the tagging calls need it. */
const plainArn = (arn: string | undefined): string => (arn ?? "").replace(/:\*$/, "");

async function setRetention(aws: Aws, name: string, days: number | undefined): Promise<void> {
  await (days
    ? aws.cloudwatchlogs.send(new PutRetentionPolicyCommand({ logGroupName: name, retentionInDays: days }))
    : aws.cloudwatchlogs.send(new DeleteRetentionPolicyCommand({ logGroupName: name })));
}

export const logGroup = resource<Inputs>({
  token: "aws:cloudwatch/logGroup:LogGroup",
  tagged: true,
  inputs: ["name", "retentionInDays", "kmsKeyId", "logGroupClass", "skipDestroy"],
  computed: ["logGroupClass"],
  replaceOn: ["name", "logGroupClass"],
  // 0: kept for ever.
  defaults: { retentionInDays: 0, skipDestroy: false },
  autoName: { property: "name", maxLength: 512 },
  unread: ["skipDestroy"],

  async create(aws, inputs) {
    await aws.cloudwatchlogs.send(
      new CreateLogGroupCommand({
        logGroupName: inputs.name,
        kmsKeyId: inputs.kmsKeyId,
        logGroupClass: inputs.logGroupClass,
        ...(inputs.tagsAll && Object.keys(inputs.tagsAll).length > 0 && { tags: inputs.tagsAll }),
      }),
    );
    return finishing(inputs.name, async (id) => {
      if (inputs.retentionInDays) await setRetention(aws, id, inputs.retentionInDays);
    });
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    const arn = plainArn(actual.logGroupArn ?? actual.arn);
    const { tags } = await aws.cloudwatchlogs.send(new ListTagsForResourceCommand({ resourceArn: arn }));
    return {
      arn,
      kmsKeyId: actual.kmsKeyId || undefined,
      logGroupClass: actual.logGroupClass ?? "STANDARD",
      name: actual.logGroupName,
      retentionInDays: actual.retentionInDays ?? 0,
      tagsAll: ownTags(tags),
    };
  },

  async update(aws, id, change) {
    if (change.has("retentionInDays")) await setRetention(aws, id, change.new.retentionInDays);
    if (change.has("kmsKeyId"))
      await (change.new.kmsKeyId
        ? aws.cloudwatchlogs.send(new AssociateKmsKeyCommand({ logGroupName: id, kmsKeyId: change.new.kmsKeyId }))
        : aws.cloudwatchlogs.send(new DisassociateKmsKeyCommand({ logGroupName: id })));
    const arn = async () => plainArn((await find(aws, id))?.arn);
    await syncTags(
      change,
      async (tags) => aws.cloudwatchlogs.send(new TagResourceCommand({ resourceArn: await arn(), tags })),
      async (tagKeys) => aws.cloudwatchlogs.send(new UntagResourceCommand({ resourceArn: await arn(), tagKeys })),
    );
  },

  async delete(aws, id, last) {
    if (last.skipDestroy) return;
    await orGone(aws.cloudwatchlogs.send(new DeleteLogGroupCommand({ logGroupName: id })));
  },
});
