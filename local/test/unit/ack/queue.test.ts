import { beforeEach, describe, expect, test } from "vitest";
import { queue } from "../../../ack/kinds/queue.ts";
import { FakeCluster, sqs } from "./fakes.ts";

type Fields = Record<string, unknown>;

const NAME = "blue_shop_events";
const URL = `https://sqs.eu-central-1.amazonaws.com/111122223333/${NAME}`;
const spec = { queueName: NAME, visibilityTimeout: "60", sqsManagedSSEEnabled: "true", tags: { environment: "dev" } };
const synced = {
  "ACK.LateInitialized": "True Late initialization successful",
  "ACK.ResourceSynced": "True Resource synced successfully",
  Ready: "True Resource synced successfully",
};

let queues: Map<string, Fields>;
let cluster: FakeCluster;
const inAws = () => queues.get(URL) as { attributes: Fields; tags: Fields };

beforeEach(() => {
  queues = new Map();
  cluster = new FakeCluster(queue, sqs(queues));
});

const made = async (more: object = {}) => {
  cluster.add("events", { ...spec, ...more });
  expect(await cluster.pass("events")).toBe(60_000);
};

describe("a queue that is ordered", () => {
  test("is made with ACK's tags beside its own, and its object knows its URL and what AWS filled in", async () => {
    await made();
    expect(inAws()).toMatchObject({
      attributes: { VisibilityTimeout: "60", SqsManagedSseEnabled: "true" },
      tags: {
        environment: "dev",
        "services.k8s.aws/controller-version": "sqs-v9.9.9",
        "services.k8s.aws/namespace": "shop",
      },
    });
    const { metadata, status, spec: written } = cluster.get("events");
    expect(metadata.finalizers).toEqual(["finalizers.sqs.services.k8s.aws/Queue"]);
    expect(status).toMatchObject({
      queueURL: URL,
      ackResourceMetadata: { arn: `arn:aws:sqs:eu-central-1:111122223333:${NAME}`, region: "eu-central-1" },
    });
    expect(written).toEqual({
      ...spec,
      ...{ delaySeconds: "0", maximumMessageSize: "262144", messageRetentionPeriod: "345600" },
      receiveMessageWaitTimeSeconds: "0",
    });
    expect(cluster.conditions("events")).toEqual(synced);
  });

  test("is looked at again after the resync period, and a look that finds nothing changes nothing", async () => {
    await made();
    await cluster.pass("events");
    cluster.writes.length = 0;
    cluster.aws.calls.length = 0;
    expect(await cluster.pass("events")).toBe(60_000);
    expect(cluster.writes).toEqual([]);
    expect(cluster.aws.operations()).toEqual(["GetQueueAttributes", "ListQueueTags"]);
  });

  test("is in sync once AWS has told all that it fills in", async () => {
    const answers = sqs(queues);
    const GetQueueAttributes = (input: Fields) => {
      const { DelaySeconds: _, ...Attributes } = answers.GetQueueAttributes(input).Attributes;
      return { Attributes };
    };
    cluster = new FakeCluster(queue, { ...answers, GetQueueAttributes });
    cluster.add("events", spec);
    expect(await cluster.pass("events")).toBe(5000);
    expect(cluster.conditions("events")).toMatchObject({
      "ACK.LateInitialized": expect.stringMatching(/^False Late initialization did not complete/),
      "ACK.ResourceSynced": "False",
    });
  });
});

describe("what somebody changes in AWS", () => {
  test("is put right at the next look, in attributes and tags", async () => {
    await made();
    inAws().attributes["VisibilityTimeout"] = "5";
    inAws().tags["mine"] = "1";
    expect(await cluster.pass("events")).toBe(60_000);
    expect(inAws().attributes["VisibilityTimeout"]).toBe("60");
    expect(inAws().tags).not.toHaveProperty("mine");
    expect(cluster.conditions("events")).toEqual(synced);
  });

  test("stays where the manifest says nothing of it, as upstream leaves it", async () => {
    await made();
    inAws().attributes["Policy"] = "{}";
    expect(await cluster.pass("events")).toBe(60_000);
    expect(inAws().attributes["Policy"]).toBe("{}");
  });

  test("a queue that somebody removed is made again", async () => {
    await made();
    queues.clear();
    expect(await cluster.pass("events")).toBe(60_000);
    expect(queues.has(URL)).toBe(true);
  });
});

describe("a queue that is there already", () => {
  test("is handed over by SQS if the manifest agrees with it, and goes with the object then", async () => {
    sqs(queues).CreateQueue({ QueueName: NAME, Attributes: { VisibilityTimeout: "60" } });
    await made();
    cluster.delete("events");
    await cluster.pass("events");
    expect(queues.size).toBe(0);
  });

  test("is refused by SQS if it does not, which is tried again", async () => {
    sqs(queues).CreateQueue({ QueueName: NAME, Attributes: { VisibilityTimeout: "7" } });
    cluster.add("events", spec);
    expect(await cluster.pass("events")).toBe("retry");
    expect(cluster.conditions("events")["ACK.Recoverable"]).toMatch(/^True QueueNameExists: /);
    cluster.delete("events");
    expect(cluster.objects.has("events")).toBe(false);
    expect(inAws().attributes["VisibilityTimeout"]).toBe("7");
  });
});

describe("a specification that is not taken", () => {
  test.each([
    [{ visibilityTimeout: "a minute" }, 'spec.visibilityTimeout is a whole number as text, got "a minute"'],
    [{ sqsManagedSSEEnabled: "yes" }, 'spec.sqsManagedSSEEnabled is "true" or "false", got "yes"'],
    [{ fifoQueue: "false" }, 'spec.fifoQueue is "true" or left out, got "false"'],
    [{ contentBasedDeduplication: "true" }, 'spec.contentBasedDeduplication is for queues with fifoQueue "true" only'],
    [
      { policyRef: { from: { name: "p" } } },
      "spec.policyRef refers to another object: the stand-in for ACK's controllers does not do that; upstream's do",
    ],
  ])("%j is refused for good, and nothing is made", async (more, message) => {
    cluster.add("events", { ...spec, ...more });
    expect(await cluster.pass("events")).toBe("wait");
    expect(cluster.conditions("events")["ACK.Terminal"]).toBe(`True ${message}`);
    expect(queues.size).toBe(0);
  });

  test("a queue does not become FIFO later", async () => {
    await made();
    cluster.change("events", { spec: { fifoQueue: "true" } });
    expect(await cluster.pass("events")).toBe("wait");
    expect(cluster.conditions("events")["ACK.Terminal"]).toBe(
      "True InvalidAttributeName: Unknown Attribute FifoQueue.",
    );
  });
});

describe("a queue whose object goes", () => {
  test("goes too", async () => {
    await made();
    cluster.delete("events");
    expect(await cluster.pass("events")).toBe("wait");
    expect([cluster.objects.size, queues.size]).toEqual([0, 0]);
  });

  test("stays with the annotation to retain it", async () => {
    cluster.add("events", spec, { "services.k8s.aws/deletion-policy": "retain" });
    await cluster.pass("events");
    cluster.delete("events");
    await cluster.pass("events");
    expect([cluster.objects.size, queues.size]).toEqual([0, 1]);
  });
});
