/** A cluster in memory with objects of one of ACK's kinds, and DynamoDB and SQS as far as the stand-in calls them. */
import type { Kind } from "../../../ack/kinds/kind.ts";
import type { AckObject } from "../../../ack/object.ts";
import { Pass, type World } from "../../../ack/reconciler.ts";
import { readSettings } from "../../../ack/settings.ts";
import type { Properties } from "../../../aws/properties.ts";
import { ApiError } from "../../../crossplane/provider-aws/cluster/client.ts";
import type { Next } from "../../../work-queue.ts";
import { awsError, fakeAws } from "../aws/fake.ts";

type Fields = Record<string, unknown>;

const isMap = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const rest = isMap(target) ? target : {};
  const entries = Object.entries(patch).map(([key, value]) => [key, merge(rest[key], value)] as const);
  return { ...rest, ...Object.fromEntries(entries) };
}

/** A refusal of AWS, as the SDK throws it. */
export const refusedByAws = (code: string, message: string) =>
  Object.assign(awsError(code, message), { $fault: "client" });

/** Answers of DynamoDB with tables in memory. */
export function dynamodb(tables: Map<string, Fields>) {
  const arnOf = (name: unknown) => `arn:aws:dynamodb:eu-central-1:111122223333:table/${String(name)}`;
  const tableOf = ({ TableName: name }: Fields): Fields => {
    const found = tables.get(String(name));
    if (!found) throw refusedByAws("ResourceNotFoundException", `Table: ${String(name)} not found`);
    return found;
  };
  const byArn = ({ ResourceArn: arn }: Fields) => tableOf({ TableName: String(arn).split("/").at(-1) });
  return {
    CreateTable: ({ Tags = [], BillingMode, ...input }: Fields) => {
      if (tables.has(String(input["TableName"]))) throw refusedByAws("ResourceInUseException", "Table already exists");
      const billing = { BillingModeSummary: { BillingMode } };
      tables.set(String(input["TableName"]), {
        ...{ ...input, ...billing, Tags, TableStatus: "ACTIVE", TableArn: arnOf(input["TableName"]) },
      });
      return {};
    },
    DescribeTable: (input: Fields) => ({ Table: tableOf(input) }),
    DescribeTimeToLive: (input: Fields) => ({ TimeToLiveDescription: tableOf(input)["Ttl"] }),
    DescribeContinuousBackups: (input: Fields) => ({
      ContinuousBackupsDescription: {
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: tableOf(input)["Recovery"] ?? "DISABLED" },
      },
    }),
    ListTagsOfResource: (input: Fields) => ({ Tags: byArn(input)["Tags"] }),
    TagResource: (input: Fields) => {
      const found = byArn(input);
      const given = input["Tags"] as { Key: string }[];
      const kept = (found["Tags"] as { Key: string }[]).filter(({ Key }) => !given.some((tag) => tag.Key === Key));
      found["Tags"] = [...kept, ...given];
      return {};
    },
    UntagResource: (input: Fields) => {
      const [found, keys] = [byArn(input), input["TagKeys"] as string[]];
      found["Tags"] = (found["Tags"] as { Key: string }[]).filter(({ Key }) => !keys.includes(Key));
      return {};
    },
    UpdateTable: ({ BillingMode, ...input }: Fields) => {
      Object.assign(tableOf(input), input, BillingMode ? { BillingModeSummary: { BillingMode } } : {});
      return {};
    },
    UpdateContinuousBackups: (input: Fields) => {
      const { PointInTimeRecoveryEnabled: on } = input["PointInTimeRecoverySpecification"] as Fields;
      tableOf(input)["Recovery"] = on ? "ENABLED" : "DISABLED";
      return {};
    },
    UpdateTimeToLive: (input: Fields) => {
      const { Enabled, AttributeName } = input["TimeToLiveSpecification"] as Fields;
      tableOf(input)["Ttl"] = { TimeToLiveStatus: Enabled ? "ENABLED" : "DISABLED", AttributeName };
      return {};
    },
    DeleteTable: (input: Fields) => {
      if (tableOf(input)["DeletionProtectionEnabled"])
        throw refusedByAws(
          "ValidationException",
          "Resource cannot be deleted as it is currently protected against deletion",
        );
      tables.delete(String(input["TableName"]));
      return {};
    },
  };
}

const defaults = {
  DelaySeconds: "0",
  MaximumMessageSize: "262144",
  MessageRetentionPeriod: "345600",
  ReceiveMessageWaitTimeSeconds: "0",
  SqsManagedSseEnabled: "true",
  VisibilityTimeout: "30",
};

/** Answers of SQS with queues in memory. */
export function sqs(queues: Map<string, Fields>) {
  const urlOf = (name: unknown) => `https://sqs.eu-central-1.amazonaws.com/111122223333/${String(name)}`;
  const queueOf = ({ QueueUrl: url }: Fields): { attributes: Fields; tags: Fields } => {
    const found = queues.get(String(url));
    if (!found) throw refusedByAws("QueueDoesNotExist", "The specified queue does not exist.");
    return found as { attributes: Fields; tags: Fields };
  };
  return {
    CreateQueue: ({ QueueName, Attributes, tags = {} }: Fields) => {
      const url = urlOf(QueueName);
      const given = Attributes as Fields;
      const there = queues.get(url)?.["attributes"] as Fields | undefined;
      if (there && Object.entries(given).some(([name, value]) => there[name] !== value))
        throw refusedByAws("QueueNameExists", "A queue already exists with the same name and a different value");
      if (!there) {
        const QueueArn = `arn:aws:sqs:eu-central-1:111122223333:${String(QueueName)}`;
        queues.set(url, { attributes: { ...defaults, ...given, QueueArn }, tags });
      }
      return { QueueUrl: url };
    },
    GetQueueAttributes: (input: Fields) => ({ Attributes: { ...queueOf(input).attributes } }),
    ListQueueTags: (input: Fields) => ({ Tags: queueOf(input).tags }),
    SetQueueAttributes: (input: Fields) => {
      Object.assign(queueOf(input).attributes, input["Attributes"]);
      return {};
    },
    TagQueue: (input: Fields) => {
      Object.assign(queueOf(input).tags, input["Tags"]);
      return {};
    },
    UntagQueue: (input: Fields) => {
      for (const key of input["TagKeys"] as string[]) delete queueOf(input).tags[key];
      return {};
    },
    DeleteQueue: (input: Fields) => {
      queueOf(input);
      queues.delete(String(input["QueueUrl"]));
      return {};
    },
  };
}

const flags = [
  "--aws-region=eu-central-1",
  "--enable-carm=false",
  "--enable-cross-namespace=false",
  "--feature-gates=ReadOnlyResources=false",
  "--resource-tags=services.k8s.aws/controller-version=%CONTROLLER_SERVICE%-%CONTROLLER_VERSION%,services.k8s.aws/namespace=%K8S_NAMESPACE%",
  "--reconcile-default-resync-seconds=60",
];

/** Objects of one kind in the namespace `shop`. */
export class FakeCluster {
  readonly aws: ReturnType<typeof fakeAws>;
  readonly kind: Kind;
  readonly objects = new Map<string, AckObject>();
  readonly namespaceAnnotations: Record<string, string> = {};
  /** Writes of the stand-in, in order. */
  readonly writes: string[] = [];
  readonly #world: World;
  #version = 0;

  constructor(kind: Kind, answers: Parameters<typeof fakeAws>[0], more: readonly string[] = []) {
    this.kind = kind;
    this.aws = fakeAws(answers);
    this.#world = {
      aws: this.aws.aws,
      settings: readSettings([kind.service, ...flags, ...more]),
      version: "v9.9.9",
      now: () => new Date("2026-01-01T00:00:00Z"),
      cluster: {
        get: (_kind, _namespace, name) => Promise.resolve(this.objects.get(name)),
        patch: async (_kind, { metadata }, body) => {
          const before = this.get(metadata.name);
          if (before.metadata.resourceVersion !== metadata.resourceVersion)
            throw new ApiError(409, "the object has been modified");
          this.writes.push(Object.keys(body).join());
          return this.#store(merge(before, body) as AckObject, before);
        },
        patchStatus: async (_kind, object, status) => {
          const before = this.objects.get(object.metadata.name);
          if (!before) return object;
          this.writes.push("status");
          return this.#store({ ...before, status: merge(before.status, status) } as AckObject, before);
        },
        annotationsOf: () => Promise.resolve(this.namespaceAnnotations),
      },
    };
  }

  add(name: string, spec: Properties, annotations: Record<string, string> = {}): void {
    const { group, names } = { group: `${this.kind.service}.services.k8s.aws`, names: { kind: "Any" } };
    const metadata = { name, namespace: "shop", uid: `uid-${name}`, resourceVersion: "0", generation: 0, annotations };
    this.#store({ apiVersion: `${group}/v1alpha1`, kind: names.kind, metadata, spec });
  }

  get(name: string): AckObject {
    return this.objects.get(name) as AckObject;
  }

  /** What a person does. */
  change(name: string, patch: object): void {
    this.#store(merge(this.get(name), patch) as AckObject, this.get(name));
  }

  delete(name: string): void {
    this.change(name, { metadata: { deletionTimestamp: "2026-01-02T00:00:00Z" } });
  }

  /** One pass over an object. */
  pass(name: string): Promise<Next> {
    return new Pass(this.kind, this.get(name), this.#world).run();
  }

  /** Its conditions, as `status message`. */
  conditions(name: string): Record<string, string> {
    const found = this.get(name).status?.conditions ?? [];
    return Object.fromEntries(found.map(({ type, status, message = "" }) => [type, `${status} ${message}`.trim()]));
  }

  #store(object: AckObject, before?: AckObject): AckObject {
    this.#version += 1;
    const { finalizers = [], deletionTimestamp } = object.metadata;
    const isChanged = JSON.stringify(before?.spec) !== JSON.stringify(object.spec);
    const generation = object.metadata.generation + (isChanged ? 1 : 0);
    const stored = { ...object, metadata: { ...object.metadata, generation, resourceVersion: String(this.#version) } };
    if (deletionTimestamp !== undefined && finalizers.length === 0) this.objects.delete(object.metadata.name);
    else this.objects.set(object.metadata.name, stored);
    return stored;
  }
}
