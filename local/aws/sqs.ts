import * as sdk from "@aws-sdk/client-sqs";
import { sameJson, samePolicy } from "./compare.ts";
import type { Aws } from "./connection.ts";
import { computed, type Field, fixed, type Item, out } from "./define/fields.ts";
import { capital } from "./define/mapping.ts";
import { define } from "./define/resource.ts";
import type { Handler } from "./handler.ts";
import { ownTags } from "./tags.ts";

const api = (aws: Aws) => aws.client(sdk.SQSClient);

/** The API has texts for all attributes. */
const flag = (api: string, more: Field = {}) =>
  ({ ...more, type: "boolean", api, put: String, get: ({ [api]: text }: Item) => text && text === "true" }) as const;
const number = (api: string, more: Field = {}) =>
  ({ ...more, type: "number", api, put: String, get: ({ [api]: text }: Item) => text && Number(text) }) as const;

const attributes = {
  contentBasedDeduplication: flag("ContentBasedDeduplication", { default: false }),
  deduplicationScope: { computed },
  delaySeconds: number("DelaySeconds", { default: 0 }),
  // FifoQueue: false is refused.
  fifoQueue: { ...flag("FifoQueue", { fixed, default: false }), put: (fifo: boolean) => (fifo ? "true" : undefined) },
  fifoThroughputLimit: { computed },
  kmsDataKeyReusePeriodSeconds: number("KmsDataKeyReusePeriodSeconds", { computed }),
  kmsMasterKeyId: {},
  maxMessageSize: number("MaximumMessageSize", { default: 262144 }),
  messageRetentionSeconds: number("MessageRetentionPeriod", { default: 345600 }),
  policy: { computed, same: samePolicy },
  receiveWaitTimeSeconds: number("ReceiveMessageWaitTimeSeconds", { default: 0 }),
  redriveAllowPolicy: { computed, same: sameJson },
  redrivePolicy: { computed, same: sameJson },
  sqsManagedSseEnabled: flag("SqsManagedSseEnabled", { computed }),
  visibilityTimeoutSeconds: number("VisibilityTimeout", { default: 30 }),
} as const satisfies Record<string, Field>;
type Name = keyof typeof attributes;
const names = Object.keys(attributes) as Name[];

const apiName = (name: Name): string => (attributes[name] as Field).api ?? capital(name);

const defined = (values: Item): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<string, string>;

const queue = define({
  token: "aws:sqs/queue:Queue",
  crossplane: {
    kind: "sqs/Queue",
    generatedName: "name",
    asynchronous: true,
    connection: ({ url }) => ({ url: String(url) }),
  },
  autoName: { property: "name", maxLength: 80 },
  lingers: "SQS queue",
  tags: {
    request: (tags) => ({ tags }),
    of: async (aws, QueueUrl) => ownTags((await api(aws).send(new sdk.ListQueueTagsCommand({ QueueUrl }))).Tags),
    set: (aws, QueueUrl, Tags) => api(aws).send(new sdk.TagQueueCommand({ QueueUrl, Tags })),
    remove: (aws, QueueUrl, TagKeys) => api(aws).send(new sdk.UntagQueueCommand({ QueueUrl, TagKeys })),
  },
  fields: {
    ...attributes,
    name: { fixed, get: (_item, { id }) => id.split("/").at(-1) },
    arn: out("QueueArn"),
    url: out((_item, { id }) => id),
  },
  async create(aws, { Name, tags, ...request }, { name, fifoQueue }) {
    const { ContentBasedDeduplication: deduplicated, ...rest } = request;
    const Attributes = defined(fifoQueue ? { ...rest, ContentBasedDeduplication: deduplicated } : rest);
    return (await api(aws).send(new sdk.CreateQueueCommand({ QueueName: name, Attributes, tags: tags as never })))
      .QueueUrl;
  },
  async find(aws, QueueUrl) {
    const query = new sdk.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
    return (await api(aws).send(query)).Attributes;
  },
  settings: [
    {
      fields: names,
      call(aws, QueueUrl, inputs, { has }) {
        // An empty text takes a policy away.
        const changed = names.filter((name) => has(name)).map((name) => [apiName(name), String(inputs[name] ?? "")]);
        return api(aws).send(new sdk.SetQueueAttributesCommand({ QueueUrl, Attributes: Object.fromEntries(changed) }));
      },
    },
  ],
  delete: (aws, QueueUrl) => api(aws).send(new sdk.DeleteQueueCommand({ QueueUrl })),
});

export const sqsResources: readonly Handler[] = [queue];
