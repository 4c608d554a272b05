import * as sdk from "@aws-sdk/client-cloudwatch-logs";
import type { Aws } from "./connection.ts";
import { fixed, type Item, out } from "./define/fields.ts";
import { define } from "./define/resource.ts";
import type { Handler } from "./handler.ts";
import { ownTags } from "./tags.ts";

const api = (aws: Aws) => aws.client(sdk.CloudWatchLogsClient);

/** Without the final `:*` of the older form, as Terraform has it and the tagging calls need it. */
const plainArn = ({ logGroupArn, arn }: Item): string => String(logGroupArn ?? arn).replace(/:\*$/, "");

const logGroup = define({
  token: "aws:cloudwatch/logGroup:LogGroup",
  crossplane: { kind: "cloudwatchlogs/Group", named: "name" },
  idOf: ({ name }) => name as string | undefined,
  case: "camel",
  autoName: { property: "name", maxLength: 512 },
  tags: {
    request: (tags) => ({ tags }),
    of: async (aws, _id, item) => {
      const query = new sdk.ListTagsForResourceCommand({ resourceArn: plainArn(item) });
      return ownTags((await api(aws).send(query)).tags);
    },
    set: (aws, resourceArn, tags) => api(aws).send(new sdk.TagResourceCommand({ resourceArn, tags })),
    remove: (aws, resourceArn, tagKeys) => api(aws).send(new sdk.UntagResourceCommand({ resourceArn, tagKeys })),
    target: plainArn,
  },
  fields: {
    name: { fixed, api: "logGroupName", crd: null },
    // 0: CloudWatch never deletes the entries.
    retentionInDays: { type: "number", api: null, default: 0, get: ({ retentionInDays }) => retentionInDays ?? 0 },
    kmsKeyId: { ref: "kms/Key" },
    logGroupClass: out(({ logGroupClass }) => logGroupClass ?? "STANDARD"),
    arn: out(plainArn),
  },
  create: (aws, request) => api(aws).send(new sdk.CreateLogGroupCommand(request as never)),
  async find(aws, name) {
    const { logGroups } = await api(aws).send(new sdk.DescribeLogGroupsCommand({ logGroupNamePrefix: name }));
    return logGroups?.find(({ logGroupName }) => logGroupName === name);
  },
  settings: [
    {
      fields: ["kmsKeyId"],
      call: (aws, logGroupName, { kmsKeyId }) =>
        kmsKeyId
          ? api(aws).send(new sdk.AssociateKmsKeyCommand({ logGroupName, kmsKeyId }))
          : api(aws).send(new sdk.DisassociateKmsKeyCommand({ logGroupName })),
    },
    {
      fields: ["retentionInDays"],
      initially: ({ retentionInDays }) => Boolean(retentionInDays),
      call: (aws, logGroupName, { retentionInDays }) =>
        retentionInDays
          ? api(aws).send(new sdk.PutRetentionPolicyCommand({ logGroupName, retentionInDays }))
          : api(aws).send(new sdk.DeleteRetentionPolicyCommand({ logGroupName })),
    },
  ],
  delete: (aws, logGroupName) => api(aws).send(new sdk.DeleteLogGroupCommand({ logGroupName })),
});

export const cloudwatchlogsResources: readonly Handler[] = [logGroup];
