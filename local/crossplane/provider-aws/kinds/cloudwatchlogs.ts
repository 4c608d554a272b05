import { logGroup } from "../../../aws/cloudwatch/log-group.ts";
import { arn, reference } from "../fields.ts";
import { type Kind, named } from "../kind.ts";

export const kinds: readonly Kind[] = [
  {
    ...{ group: "cloudwatchlogs", kind: "Group", plural: "groups", handler: logGroup, externalName: named("name") },
    spec: {
      kmsKeyId: reference("kms/Key", arn),
      logGroupClass: "string",
      retentionInDays: "number",
      skipDestroy: "boolean",
    },
    status: { arn: "string" },
  },
];
