import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListQueueTagsCommand,
  SetQueueAttributesCommand,
  TagQueueCommand,
  UntagQueueCommand,
} from "@aws-sdk/client-sqs";
import type { Aws } from "../clients.ts";
import { sameJson, samePolicy } from "../compare.ts";
import { orGone } from "../errors.ts";
import { type Properties, resource, type Tagged } from "../handler.ts";
import { poll } from "../poll.ts";
import { ownTags, syncTags } from "../tags.ts";

interface Inputs extends Tagged, Attributes {
  name: string;
}

/** Queue attributes: the API has texts for all of them. */
const attributes = {
  contentBasedDeduplication: ["ContentBasedDeduplication", "boolean"],
  deduplicationScope: ["DeduplicationScope", "string"],
  delaySeconds: ["DelaySeconds", "number"],
  fifoQueue: ["FifoQueue", "boolean"],
  fifoThroughputLimit: ["FifoThroughputLimit", "string"],
  kmsDataKeyReusePeriodSeconds: ["KmsDataKeyReusePeriodSeconds", "number"],
  kmsMasterKeyId: ["KmsMasterKeyId", "string"],
  maxMessageSize: ["MaximumMessageSize", "number"],
  messageRetentionSeconds: ["MessageRetentionPeriod", "number"],
  policy: ["Policy", "string"],
  receiveWaitTimeSeconds: ["ReceiveMessageWaitTimeSeconds", "number"],
  redriveAllowPolicy: ["RedriveAllowPolicy", "string"],
  redrivePolicy: ["RedrivePolicy", "string"],
  sqsManagedSseEnabled: ["SqsManagedSseEnabled", "boolean"],
  visibilityTimeoutSeconds: ["VisibilityTimeout", "number"],
} as const;
type Name = keyof typeof attributes;
type Attributes = Partial<Record<Name, string | number | boolean>>;
const attributeNames = Object.keys(attributes) as Name[];

const requestAttributes = (inputs: Attributes, names: readonly Name[]): Record<string, string> =>
  Object.fromEntries(
    names
      // FifoQueue: false is refused.
      .filter((name) => inputs[name] !== undefined && !(name === "fifoQueue" && !inputs.fifoQueue))
      .map((name) => [attributes[name][0], String(inputs[name])]),
  );

function attributeProperties(actual: Record<string, string>): Properties {
  return Object.fromEntries(
    attributeNames
      .filter((name) => actual[attributes[name][0]] !== undefined && actual[attributes[name][0]] !== "")
      .map((name) => {
        const [key, type] = attributes[name];
        const text = actual[key] as string;
        return [name, type === "number" ? Number(text) : type === "boolean" ? text === "true" : text];
      }),
  );
}

const read = (aws: Aws, url: string) =>
  orGone(aws.sqs.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] })));

export const queue = resource<Inputs>({
  token: "aws:sqs/queue:Queue",
  tagged: true,
  inputs: ["name", ...attributeNames],
  computed: [
    ...["deduplicationScope", "fifoThroughputLimit", "kmsDataKeyReusePeriodSeconds", "policy", "redriveAllowPolicy"],
    ...["redrivePolicy", "sqsManagedSseEnabled"],
  ],
  replaceOn: ["name", "fifoQueue"],
  defaults: {
    ...{ contentBasedDeduplication: false, fifoQueue: false, delaySeconds: 0, maxMessageSize: 262144 },
    ...{ messageRetentionSeconds: 345600, receiveWaitTimeSeconds: 0, visibilityTimeoutSeconds: 30 },
  },
  autoName: { property: "name", maxLength: 80 },
  compare: { policy: samePolicy, redrivePolicy: sameJson, redriveAllowPolicy: sameJson },

  async create(aws, inputs) {
    const names = attributeNames.filter((name) => name !== "contentBasedDeduplication" || inputs.fifoQueue);
    const { QueueUrl } = await aws.sqs.send(
      new CreateQueueCommand({
        QueueName: inputs.name,
        Attributes: requestAttributes(inputs, names),
        tags: inputs.tagsAll,
      }),
    );
    return QueueUrl as string;
  },

  async read(aws, id) {
    const actual = (await read(aws, id))?.Attributes as Record<string, string> | undefined;
    if (!actual) return null;
    const { Tags } = await aws.sqs.send(new ListQueueTagsCommand({ QueueUrl: id }));
    return {
      contentBasedDeduplication: false,
      fifoQueue: false,
      ...attributeProperties(actual),
      arn: actual["QueueArn"],
      name: id.split("/").at(-1),
      url: id,
      tagsAll: ownTags(Tags),
    };
  },

  async update(aws, id, change) {
    const changed = attributeNames.filter((name) => change.has(name));
    // An empty text takes a policy away.
    const removed = changed.filter((name) => change.new[name] === undefined).map((name) => [attributes[name][0], ""]);
    const values = { ...requestAttributes(change.new, changed), ...Object.fromEntries(removed) };
    if (changed.length > 0) await aws.sqs.send(new SetQueueAttributesCommand({ QueueUrl: id, Attributes: values }));
    await syncTags(
      change,
      (tags) => aws.sqs.send(new TagQueueCommand({ QueueUrl: id, Tags: tags })),
      (keys) => aws.sqs.send(new UntagQueueCommand({ QueueUrl: id, TagKeys: keys })),
    );
  },

  async delete(aws, id) {
    await orGone(aws.sqs.send(new DeleteQueueCommand({ QueueUrl: id })));
    await poll({ what: `SQS queue ${id} to be deleted`, timeout: aws.timeout }, async () =>
      (await read(aws, id)) ? undefined : true,
    );
  },
});
