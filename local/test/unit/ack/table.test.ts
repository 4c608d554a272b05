import { beforeEach, describe, expect, test } from "vitest";
import { table } from "../../../ack/kinds/table.ts";
import { dynamodb, FakeCluster, refusedByAws } from "./fakes.ts";

type Fields = Record<string, unknown>;

const NAME = "blue_shop_orders";
const FINALIZER = "finalizers.dynamodb.services.k8s.aws/Table";
const spec = {
  tableName: NAME,
  billingMode: "PAY_PER_REQUEST",
  attributeDefinitions: [{ attributeName: "id", attributeType: "S" }],
  keySchema: [{ attributeName: "id", keyType: "HASH" }],
  tags: [{ key: "environment", value: "dev" }],
};
const synced = {
  "ACK.ResourceSynced": "True Resource synced successfully",
  Ready: "True Resource synced successfully",
};
const inProgress = (state: string) => `table in '${state}' state, cannot be modified or deleted`;
const busy = (state: string) => ({
  "ACK.Recoverable": `True ${inProgress(state)}`,
  "ACK.ResourceSynced": "Unknown Unable to determine if desired resource state matches latest observed state",
  Ready: `False ${inProgress(state)}`,
});

let tables: Map<string, Fields>;
let answers: ReturnType<typeof dynamodb>;
let cluster: FakeCluster;
const inAws = () => tables.get(NAME) as Fields;

beforeEach(() => {
  tables = new Map();
  answers = dynamodb(tables);
  cluster = new FakeCluster(table, answers);
});

const made = async (more: object = {}) => {
  cluster.add("orders", { ...spec, ...more });
  expect(await cluster.pass("orders")).toBe(60_000);
};

describe("a table that is ordered", () => {
  test("is made with ACK's tags beside its own, and its object says where it is", async () => {
    await made();
    expect(inAws()).toMatchObject({
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
      Tags: [
        { Key: "services.k8s.aws/controller-version", Value: "dynamodb-v9.9.9" },
        { Key: "services.k8s.aws/namespace", Value: "shop" },
        { Key: "environment", Value: "dev" },
      ],
    });
    const { metadata, status } = cluster.get("orders");
    expect(metadata.finalizers).toEqual([FINALIZER]);
    expect(status).toMatchObject({
      tableStatus: "ACTIVE",
      ackResourceMetadata: {
        arn: `arn:aws:dynamodb:eu-central-1:111122223333:table/${NAME}`,
        ...{ ownerAccountID: "111122223333", partition: "aws", region: "eu-central-1" },
      },
    });
    expect(cluster.conditions("orders")).toEqual(synced);
  });

  test("is looked at again after the resync period, and a look that finds nothing changes nothing", async () => {
    await made();
    cluster.writes.length = 0;
    cluster.aws.calls.length = 0;
    expect(await cluster.pass("orders")).toBe(60_000);
    expect(cluster.writes).toEqual([]);
    expect(cluster.aws.operations().filter((operation) => !/^(Describe|List)/.test(operation))).toEqual([]);
  });

  test("is not waited for: while AWS makes it, nobody knows whether it is as it is wanted", async () => {
    const { CreateTable: create } = answers;
    const slow = (input: Fields) => {
      create(input);
      inAws()["TableStatus"] = "CREATING";
    };
    cluster = new FakeCluster(table, { ...answers, CreateTable: slow });
    cluster.add("orders", spec);
    expect(await cluster.pass("orders")).toBe(5000);
    expect(cluster.conditions("orders")).toEqual(busy("CREATING"));
    expect(await cluster.pass("orders")).toBe(5000);
    expect(cluster.get("orders").status?.tableStatus).toBe("CREATING");
    inAws()["TableStatus"] = "ACTIVE";
    expect(await cluster.pass("orders")).toBe(60_000);
    expect(cluster.conditions("orders")).toEqual(synced);
  });

  test("has backups and an expiry where they are ordered", async () => {
    await made({
      continuousBackups: { pointInTimeRecoveryEnabled: true },
      timeToLive: { enabled: true, attributeName: "until" },
    });
    expect(inAws()).toMatchObject({
      Recovery: "ENABLED",
      Ttl: { TimeToLiveStatus: "ENABLED", AttributeName: "until" },
    });
  });
});

describe("what somebody changes in AWS", () => {
  test("is put right at the next look, and counts as done after the next one", async () => {
    await made();
    Object.assign(inAws(), { Recovery: "ENABLED", DeletionProtectionEnabled: true });
    expect(await cluster.pass("orders")).toBe(10_000);
    expect(inAws()).toMatchObject({ Recovery: "DISABLED", DeletionProtectionEnabled: false });
    expect(cluster.conditions("orders")).toEqual(busy("UPDATING"));
    expect(await cluster.pass("orders")).toBe(60_000);
    expect(cluster.conditions("orders")).toEqual(synced);
  });

  test("stays where it is an expiry that the manifest does not name: the table counts as changing until it does", async () => {
    await made();
    const Ttl = { TimeToLiveStatus: "ENABLED", AttributeName: "until" };
    Object.assign(inAws(), { Recovery: "ENABLED", Ttl });
    for (const _ of [1, 2]) {
      expect(await cluster.pass("orders")).toBe(10_000);
      expect(inAws()).toMatchObject({ Recovery: "DISABLED", Ttl });
      expect(cluster.conditions("orders")).toEqual(busy("UPDATING"));
    }
    cluster.change("orders", { spec: { timeToLive: { enabled: false, attributeName: "until" } } });
    expect(await cluster.pass("orders")).toBe(10_000);
    expect(inAws()).toMatchObject({ Ttl: { TimeToLiveStatus: "DISABLED" } });
    expect(await cluster.pass("orders")).toBe(60_000);
    expect(cluster.conditions("orders")).toEqual(synced);
  });

  test("in the tags is put right at once", async () => {
    await made();
    inAws()["Tags"] = [
      { Key: "environment", Value: "prod" },
      { Key: "aws:cloudformation:stack-name", Value: "x" },
      { Key: "mine", Value: "1" },
    ];
    expect(await cluster.pass("orders")).toBe(60_000);
    const tags = (inAws()["Tags"] as { Key: string }[]).map(({ Key }) => Key).sort();
    expect(tags).toEqual([
      "aws:cloudformation:stack-name",
      "environment",
      "services.k8s.aws/controller-version",
      "services.k8s.aws/namespace",
    ]);
  });

  test("can't be put right where it is the key of KMS: the manifest would have to name it", async () => {
    await made();
    inAws()["SSEDescription"] = { Status: "ENABLED", KMSMasterKeyArn: "arn:key" };
    expect(await cluster.pass("orders")).toBe("retry");
    expect(cluster.conditions("orders")["ACK.Recoverable"]).toMatch(/^True cannot update table: AWS encrypts it/);
  });
});

describe("a table that is there already", () => {
  const there = () => {
    answers.CreateTable({
      TableName: NAME,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      DeletionProtectionEnabled: false,
    });
  };

  test("is left alone, and the object says for good that it is somebody else's", async () => {
    there();
    cluster.add("orders", spec);
    expect(await cluster.pass("orders")).toBe("wait");
    expect(cluster.conditions("orders")).toEqual({
      "ACK.Terminal": "True Resource already exists",
      "ACK.ResourceSynced": "False Resource not synced",
      Ready: "False Resource already exists",
    });
    const [said] = cluster.get("orders").status?.conditions ?? [];
    expect(said?.reason).toMatch(/^This resource already exists but is not managed by ACK\./);
    expect(inAws()["Tags"]).toEqual([]);
    cluster.delete("orders");
    expect(cluster.objects.has("orders")).toBe(false);
    expect(tables.has(NAME)).toBe(true);
  });

  test("is taken over with adopt-or-create, which the controller notes, and is its own then", async () => {
    there();
    cluster.add("orders", spec, { "services.k8s.aws/adoption-policy": "adopt-or-create" });
    expect(await cluster.pass("orders")).toBe("again");
    expect(cluster.get("orders").metadata).toMatchObject({
      finalizers: [FINALIZER],
      annotations: { "services.k8s.aws/adopted": "true" },
    });
    expect(cluster.conditions("orders")["ACK.Recoverable"]).toBeUndefined();
    expect(await cluster.pass("orders")).toBe(60_000);
    expect(cluster.conditions("orders")).toEqual(synced);
    cluster.delete("orders");
    await cluster.pass("orders");
    expect(tables.has(NAME)).toBe(false);
  });

  test("is not made again once it was taken over and is gone", async () => {
    there();
    cluster.add("orders", spec, { "services.k8s.aws/adoption-policy": "adopt-or-create" });
    await cluster.pass("orders");
    await cluster.pass("orders");
    tables.delete(NAME);
    expect(await cluster.pass("orders")).toBe("retry");
    expect(tables.has(NAME)).toBe(false);
    expect(cluster.conditions("orders")).toEqual(synced);
  });

  test("stays somebody else's where the feature gate is off", async () => {
    there();
    cluster = new FakeCluster(table, answers, ["--feature-gates=ReadOnlyResources=false,ResourceAdoption=false"]);
    cluster.add("orders", spec, { "services.k8s.aws/adoption-policy": "adopt-or-create" });
    expect(await cluster.pass("orders")).toBe("wait");
    expect(cluster.conditions("orders")["ACK.Terminal"]).toBe("True Resource already exists");
  });
});

describe("a refusal of AWS", () => {
  test("of a right is tried again with growing pauses, and holds nothing: the object may go", async () => {
    const CreateTable = () => {
      throw refusedByAws("AccessDeniedException", "not authorized to perform: dynamodb:CreateTable");
    };
    cluster = new FakeCluster(table, { ...answers, CreateTable });
    cluster.add("orders", spec);
    expect(await cluster.pass("orders")).toBe("retry");
    const message = "AccessDeniedException: not authorized to perform: dynamodb:CreateTable";
    expect(cluster.conditions("orders")).toMatchObject({
      "ACK.Recoverable": `True ${message}`,
      Ready: `False ${message}`,
    });
    expect(cluster.get("orders").metadata.finalizers).toEqual([]);
  });

  test("of the specification is for good", async () => {
    const CreateTable = () => {
      throw refusedByAws("ValidationException", "One or more parameter values were invalid");
    };
    cluster = new FakeCluster(table, { ...answers, CreateTable });
    cluster.add("orders", spec);
    expect(await cluster.pass("orders")).toBe("wait");
    expect(cluster.conditions("orders")["ACK.Terminal"]).toMatch(/^True ValidationException: /);
  });

  test("leaves the finalizer where no answer came: the table may be there", async () => {
    const CreateTable = () => {
      throw new Error("socket hang up");
    };
    cluster = new FakeCluster(table, { ...answers, CreateTable });
    cluster.add("orders", spec);
    expect(await cluster.pass("orders")).toBe("retry");
    expect(cluster.get("orders").metadata.finalizers).toEqual([FINALIZER]);
  });
});

describe("a specification that is not taken", () => {
  test.each([
    [{ globalSecondaryIndexes: [{ indexName: "by-day" }] }, /spec\.globalSecondaryIndexes is given: the stand-in/],
    [{ contributorInsights: "ENABLE" }, /spec\.contributorInsights is given/],
    [{ streamSpecification: { streamEnabled: true } }, /spec\.streamSpecification is given/],
    [{ tableClass: "STANDARD_INFREQUENT_ACCESS" }, /spec\.tableClass is STANDARD_INFREQUENT_ACCESS/],
    [{ sseSpecification: { enabled: true, kmsMasterKeyRef: { from: { name: "k" } } } }, /kmsMasterKeyRef refers/],
    [{ sseSpecification: { enabled: true, sseType: "AES256" } }, /sseType is KMS or left out, got AES256/],
    [{ billingMode: "PROVISIONED" }, /spec\.provisionedThroughput has readCapacityUnits and writeCapacityUnits/],
  ])("%j is refused for good, and nothing is made", async (more, message) => {
    cluster.add("orders", { ...spec, ...more });
    expect(await cluster.pass("orders")).toBe("wait");
    expect(cluster.conditions("orders")["ACK.Terminal"]).toMatch(message);
    expect(tables.size).toBe(0);
  });

  test.each([
    [{ "services.k8s.aws/region": "eu-west-1" }, {}, /annotation services.k8s.aws\/region is eu-west-1/],
    [{}, { "services.k8s.aws/owner-account-id": "999999999999" }, /owner-account-id is 999999999999/],
    [{ "services.k8s.aws/adoption-policy": "adopt" }, {}, /adoption-policy is adopt/],
    [{ "services.k8s.aws/adoption-policy": "mine" }, {}, /unrecognized adoption policy mine/],
    [
      { "services.k8s.aws/adoption-policy": "adopt-or-create", "services.k8s.aws/adoption-fields": "{}" },
      {},
      /adoption-fields is given/,
    ],
  ])("%j with the namespace's %j is refused too", async (annotations, ofNamespace, message) => {
    Object.assign(cluster.namespaceAnnotations, ofNamespace);
    cluster.add("orders", spec, annotations as unknown as Record<string, string>);
    expect(await cluster.pass("orders")).toBe("wait");
    expect(cluster.conditions("orders")["ACK.Terminal"]).toMatch(message);
    expect(tables.size).toBe(0);
  });
});

describe("a table whose object goes", () => {
  test("goes too, and is not waited for: the object is gone as soon as AWS has taken the call", async () => {
    const DeleteTable = () => {
      inAws()["TableStatus"] = "DELETING";
      return {};
    };
    cluster = new FakeCluster(table, { ...answers, DeleteTable });
    await made();
    cluster.delete("orders");
    expect(await cluster.pass("orders")).toBe("wait");
    expect(cluster.objects.has("orders")).toBe(false);
  });

  test.each([
    ["its own annotation", { "services.k8s.aws/deletion-policy": "retain" }, {}],
    ["that of its namespace", {}, { "dynamodb.services.k8s.aws/deletion-policy": "retain" }],
  ])("stays with %s", async (_what, annotations, ofNamespace) => {
    Object.assign(cluster.namespaceAnnotations, ofNamespace);
    cluster.add("orders", spec, annotations as unknown as Record<string, string>);
    await cluster.pass("orders");
    cluster.delete("orders");
    expect(await cluster.pass("orders")).toBe("wait");
    expect(cluster.objects.has("orders")).toBe(false);
    expect(tables.has(NAME)).toBe(true);
  });

  test("goes where the controller retains and its own annotation says delete", async () => {
    cluster = new FakeCluster(table, answers, ["--deletion-policy=retain"]);
    cluster.add("orders", spec, { "services.k8s.aws/deletion-policy": "delete" });
    await cluster.pass("orders");
    cluster.delete("orders");
    await cluster.pass("orders");
    expect(tables.has(NAME)).toBe(false);
  });

  test("stays while it is protected, and the object says so", async () => {
    await made({ deletionProtectionEnabled: true });
    cluster.delete("orders");
    expect(await cluster.pass("orders")).toBe("wait");
    expect(cluster.conditions("orders")).toMatchObject({
      "ACK.Terminal": expect.stringMatching(/^True ValidationException: Resource cannot be deleted/),
      "ACK.ResourceSynced": synced["ACK.ResourceSynced"],
    });
    expect(cluster.get("orders").metadata.finalizers).toEqual([FINALIZER]);
  });

  test("that is gone already holds nothing up", async () => {
    await made();
    tables.clear();
    cluster.delete("orders");
    expect(await cluster.pass("orders")).toBe("wait");
    expect(cluster.objects.has("orders")).toBe(false);
  });
});

test("an object that changed since it was read is looked at again, and nothing is made of the old one", async () => {
  cluster.add("orders", spec);
  const stale = cluster.pass("orders");
  cluster.change("orders", { metadata: { labels: { a: "b" } } });
  expect(await stale).toBe("again");
  expect(tables.size).toBe(0);
});
