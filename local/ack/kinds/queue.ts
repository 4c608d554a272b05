/** Queue (aws-controllers-k8s/sqs-controller v1.6.1, pkg/resource/queue). ACK has all attributes as texts, as SQS's API does. */
import { type Field, typeOf } from "../../aws/define/fields.ts";
import type { Properties } from "../../aws/properties.ts";
import { sqsResources } from "../../aws/sqs.ts";
import { notBuilt, notTaken, terminal } from "../halt.ts";
import { handlerBy, type Kind } from "./kind.ts";

const handler = handlerBy(sqsResources, "aws:sqs/queue:Queue");

/** Attributes by ACK's names, with the names in the definition. */
const attributes = {
  contentBasedDeduplication: "contentBasedDeduplication",
  deduplicationScope: "deduplicationScope",
  delaySeconds: "delaySeconds",
  fifoQueue: "fifoQueue",
  fifoThroughputLimit: "fifoThroughputLimit",
  kmsDataKeyReusePeriodSeconds: "kmsDataKeyReusePeriodSeconds",
  kmsMasterKeyID: "kmsMasterKeyId",
  maximumMessageSize: "maxMessageSize",
  messageRetentionPeriod: "messageRetentionSeconds",
  policy: "policy",
  receiveMessageWaitTimeSeconds: "receiveWaitTimeSeconds",
  redriveAllowPolicy: "redriveAllowPolicy",
  redrivePolicy: "redrivePolicy",
  sqsManagedSSEEnabled: "sqsManagedSseEnabled",
  visibilityTimeout: "visibilityTimeoutSeconds",
} as const;

/** Upstream's generator.yaml, late_initialize; all but the last are waited for (manager.go, incompleteLateInitialization). */
const required = [
  "delaySeconds",
  "maximumMessageSize",
  "messageRetentionPeriod",
  "receiveMessageWaitTimeSeconds",
  "visibilityTimeout",
] as const;
const late = [...required, "sqsManagedSSEEnabled"] as const;

/** An attribute's text as the definition takes it; AWS would refuse one of another type too. */
function propertyOf(name: string, property: string, text: string): unknown {
  const type = typeOf((handler.definition?.fields[property] ?? {}) as Field);
  if (type === "boolean") {
    if (text !== "true" && text !== "false") throw notTaken(name, `is "true" or "false", got ${JSON.stringify(text)}`);
    return text === "true";
  }
  if (type !== "number") return text;
  if (!/^\d+$/.test(text)) throw notTaken(name, `is a whole number as text, got ${JSON.stringify(text)}`);
  return Number(text);
}

function inputsOf(spec: Properties): Properties {
  for (const reference of ["kmsMasterKeyRef", "policyRef"])
    if (spec[reference] !== undefined) throw notBuilt(`spec.${reference} refers to another object`);
  const given = Object.entries(attributes).flatMap(([name, property]): [string, unknown][] => {
    const text = spec[name];
    return typeof text === "string" ? [[property, propertyOf(name, property, text)]] : [];
  });
  const inputs: Properties = { name: spec["queueName"], ...Object.fromEntries(given) };
  // SQS knows neither attribute of a standard queue (CreateQueue: FifoQueue can't be false).
  if (inputs["fifoQueue"] === false) throw notTaken("fifoQueue", 'is "true" or left out, got "false"');
  if (inputs["fifoQueue"] === undefined && inputs["contentBasedDeduplication"] !== undefined)
    throw notTaken("contentBasedDeduplication", 'is for queues with fifoQueue "true" only');
  return inputs;
}

export const queue: Kind = {
  service: "sqs",
  handler,
  idOf: ({ status }) => status?.queueURL,
  inputsOf,
  tagsOf: ({ tags = {} }) => tags as Record<string, string>,
  // What the manifest doesn't set stays as AWS has it: SetQueueAttributes gets the attributes of the manifest only.
  compared: (inputs) => Object.keys(inputs).filter((name) => name !== "name"),
  expectChangeable(changed) {
    if (changed.includes("fifoQueue")) throw terminal("InvalidAttributeName: Unknown Attribute FifoQueue.");
  },
  statusOf: (queueURL) => ({ queueURL }),
  late: {
    required,
    of: (actual) =>
      Object.fromEntries(
        late.flatMap((name) => {
          const value = actual[attributes[name]];
          return value === undefined ? [] : [[name, String(value as string | number | boolean)]];
        }),
      ),
  },
  terminalCodes: [
    "InvalidAttributeName",
    "InvalidAttributeValue",
    "InvalidParameterValue",
    "InvalidParameterCombination",
  ],
};
