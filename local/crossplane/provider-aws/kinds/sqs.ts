import { GetQueueUrlCommand } from "@aws-sdk/client-sqs";
import { orGone } from "../../../aws/errors.ts";
import { queue } from "../../../aws/sqs/queue.ts";
import { assigned, type Kind } from "../kind.ts";

export const kinds: readonly Kind[] = [
  {
    ...{ group: "sqs", kind: "Queue", plural: "queues", handler: queue, externalName: assigned },
    generatedName: "name",
    asynchronous: true,
    connection: ({ url }) => ({ url: String(url) }),
    recover: async (aws, { name }) =>
      (await orGone(aws.sqs.send(new GetQueueUrlCommand({ QueueName: String(name) }))))?.QueueUrl,
    spec: {
      contentBasedDeduplication: "boolean",
      deduplicationScope: "string",
      delaySeconds: "number",
      fifoQueue: "boolean",
      fifoThroughputLimit: "string",
      kmsDataKeyReusePeriodSeconds: "number",
      kmsMasterKeyId: "string",
      maxMessageSize: "number",
      messageRetentionSeconds: "number",
      name: "string",
      policy: "string",
      receiveWaitTimeSeconds: "number",
      redriveAllowPolicy: "string",
      redrivePolicy: "string",
      sqsManagedSseEnabled: "boolean",
      visibilityTimeoutSeconds: "number",
    },
    status: { arn: "string", url: "string" },
  },
];
