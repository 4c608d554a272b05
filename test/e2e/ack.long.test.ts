import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  DeleteTableCommand,
  DescribeTableCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import { GetRoleCommand } from "@aws-sdk/client-iam";
import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
} from "@aws-sdk/client-sqs";
import { prepareAddons } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { fleetNames } from "../../lib/names.ts";
import { expectOrders, expectRole, greetingAt, orders, ordersOf } from "../support/app.ts";
import { withResources, withSpec } from "../support/checkout.ts";
import { isMissing, isReady } from "../support/cluster.ts";
import { outcome } from "../support/process.ts";
import { APP, appFolder, fetchNow, info, onboard, untilHealthy } from "./support/apps.ts";
import { account, eventually, instance } from "./support/fleet.ts";
import { actingAs } from "./support/identity.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  clusterOf,
  clusterOn,
  getOnSpoke,
  on,
  onSpoke,
  removeSpoke,
  system,
  tryOnSpoke,
  untilReady,
  workloads,
} from "./support/spokes.ts";

/**
 * Tables and queues by ACK's kinds (docs/guides/applications.md#tables-and-queues-by-ack), on a spoke of its own: the stand-in for ACK's controllers in their pods, with the
 * charts' values, rights and roles. What is not the stand-in is as it is with upstream's: add-ons, overlays, boundary and admission policy.
 */

const name = "olive"; // environment dev
const addons = ["ack_dynamodb", "ack_sqs"] as const;
const steps = addons.map((addon) => addon.replace("_", "-"));
const place = {
  ...{ fleet: "fleet", spoke: name, environment: "dev" },
  ...{ accountId: "000000000000", region: "us-east-1", partition: "aws" },
};
const own = `${clusterOf(name)}_${APP}`;
const TableName = `${own}_payments`;
const cluster = clusterOn(name);
/** Seconds between two looks at what is in sync; upstream's default is ten hours. */
const RESYNC = 20;
/** What a change in AWS may take until it is taken back: a look, the one after it, and a busy machine. */
const DRIFT_SECONDS = 180;

let repository: Checkout;

const inApp = (kind: string, object: string) => [`${kind}.services.k8s.aws`, object, "--namespace", APP];
const conditionsOf = async (kind: string, object: string): Promise<Record<string, string>> => {
  const { status } = await getOnSpoke(name, inApp(kind, object));
  const found = (status?.conditions ?? []) as { type: string; status: string; message?: string }[];
  return Object.fromEntries(found.map((each) => [each.type, `${each.status} ${each.message ?? ""}`]));
};
const inSync = { "ACK.ResourceSynced": "True Resource synced successfully" };
const queueUrl = async () =>
  (await account.sqs.send(new GetQueueUrlCommand({ QueueName: `${own}_events` }))).QueueUrl ?? "";
const isGone = (...args: readonly string[]) => isMissing(cluster, args);
const inFlux = (step: string) => ["kustomizations.kustomize.toolkit.fluxcd.io", step, "--namespace", "flux-system"];
const tableInAws = (table: string) => outcome(account.dynamodb.send(new DescribeTableCommand({ TableName: table })));

/** A table of the application, as its team would write it. */
const table = (object: string, tableName: string, annotations: Readonly<Record<string, string>> = {}) => ({
  apiVersion: "dynamodb.services.k8s.aws/v1alpha1",
  kind: "Table",
  metadata: { name: object, namespace: APP, annotations },
  spec: {
    ...{ tableName, billingMode: "PAY_PER_REQUEST" },
    attributeDefinitions: [{ attributeName: "payment_id", attributeType: "S" }],
    keySchema: [{ attributeName: "payment_id", keyType: "HASH" }],
  },
});
const apply = (object: object) => onSpoke(name, ["apply", "--filename", "-"], { input: JSON.stringify(object) });

/** As docs/guides/add-ons.md says: values of the chart for one cluster. */
const valuesOf = (step: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: `${step}-values-cluster`,
    namespace: "flux-system",
    labels: { "reconcile.fluxcd.io/watch": "Enabled" },
  },
  data: { "values.yaml": stringify({ reconcile: { defaultResyncPeriod: RESYNC } }) },
});

/** Takes the application's folder away and waits until its namespace is gone. */
async function removeApp(): Promise<void> {
  const governance = await workloads();
  if (existsSync(join(governance.folder, appFolder(name)))) {
    await governance.remove(appFolder(name));
    await governance.push(`Remove ${APP} from ${name}`);
    await fetchNow(name, "gitops-workloads", "flux-system");
  }
  await eventually(300, async () => expect(await isGone("namespace", APP)).toBe(true));
}

beforeAll(async () => {
  await prepareAddons(instance, addons);
  repository = await system();
  await addSpoke(repository, name, "dev", withSpec({ addons: [...addons] }));
  const secrets = `spokes/fleet/${name}/secrets`;
  await repository.write(`${secrets}/ack-values.yaml`, ...steps.map(valuesOf));
  await repository.edit(`${secrets}/kustomization.yaml`, withResources("ack-values.yaml"));
  await repository.push(`Add spoke ${name} with ACK's controllers`);
  await untilReady(name, 900);
  await eventually(300, async () => {
    for (const step of steps) expect(isReady(await getOnSpoke(name, inFlux(step))), step).toBe(true);
  });
  await onboard(name, "dev", ["--aws-engine", "ack"]);
  await untilHealthy(name);
});
afterAll(async () => {
  // Without the controllers, which go with the spoke, nobody would take the finalizers off.
  await removeApp();
  await removeSpoke(repository, name);
});

describe("ACK's controllers as add-ons", () => {
  test("run in a pod each, in restricted namespaces, with the role that the bridge tells them and the chart's resync period", async () => {
    for (const step of steps) {
      const [service = ""] = step.split("-").slice(1);
      const { items } = await getOnSpoke(name, ["pods", "--namespace", step]);
      expect(items, step).toHaveLength(1);
      expect(isReady(items[0]), step).toBe(true);
      const [container] = items[0].spec.containers;
      expect(container.image).toContain(`public.ecr.aws/aws-controllers-k8s/${service}-controller:`);
      expect(container.args).toContain(`--reconcile-default-resync-seconds=${RESYNC}`);
      expect(container.env).toContainEqual({
        name: "AWS_ROLE_ARN",
        value: `arn:aws:iam::${place.accountId}:role/fleet-spoke-${name}-addon-${step}`,
      });
    }
  });

  test("have roles under the boundary of add-ons", async () => {
    for (const step of steps) {
      const { Role } = await account.iam.send(new GetRoleCommand({ RoleName: `fleet-spoke-${name}-addon-${step}` }));
      expect(Role?.PermissionsBoundary?.PermissionsBoundaryArn).toContain(fleetNames(place.fleet).addonBoundaryPolicy);
    }
  });
});

describe("an application that orders by ACK's kinds", () => {
  test("answers HTTP as with Crossplane's, and none of its tables and queues is Crossplane's", async () => {
    expect((await info(name)).message).toBe(greetingAt(place));
    for (const kind of ["tables.dynamodb.aws.m.upbound.io", "queues.sqs.aws.m.upbound.io"])
      expect((await getOnSpoke(name, [kind, "--namespace", APP])).items, kind).toEqual([]);
  });

  test("has its table and its queue in AWS under the cluster's and its own name, with the fleet's tags and ACK's", async () => {
    await expectOrders(account, cluster, place, "ack");
    expect(await conditionsOf("table.dynamodb", "payments")).toMatchObject(inSync);
    expect(await conditionsOf("queue.sqs", "events")).toMatchObject(inSync);
    const { Table } = await account.dynamodb.send(new DescribeTableCommand({ TableName }));
    const { Tags = [] } = await account.dynamodb.send(new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn }));
    expect(Tags).toContainEqual({ Key: "services.k8s.aws/namespace", Value: APP });
    expect(Tags.map(({ Key }) => Key)).toContain("services.k8s.aws/controller-version");
  });

  test("uses both with its own role, which Crossplane made", async () => {
    await expectRole(account, cluster, place);
    const as = await actingAs(`arn:aws:iam::${place.accountId}:role/${own}`, { namespace: APP, name: APP }, on(name));
    const Item = { payment_id: { S: "1" } };
    expect(await outcome(as.dynamodb.send(new PutItemCommand({ TableName, Item })))).toBe("allowed");
    const message = new SendMessageCommand({ QueueUrl: await queueUrl(), MessageBody: "paid" });
    expect(await outcome(as.sqs.send(message))).toBe("allowed");
  });
});

describe("what somebody changes in AWS", () => {
  test("is put right: the table's protection and the queue's timeout are again what the manifests say", async () => {
    await account.dynamodb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
    const QueueUrl = await queueUrl();
    const attributes = { QueueUrl, Attributes: { VisibilityTimeout: "5" } };
    await account.sqs.send(new SetQueueAttributesCommand(attributes));
    await eventually(DRIFT_SECONDS, async () => {
      const { Table } = await account.dynamodb.send(new DescribeTableCommand({ TableName }));
      expect(Table?.DeletionProtectionEnabled ?? false).toBe(false);
      const look = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["VisibilityTimeout"] });
      expect((await account.sqs.send(look)).Attributes).toEqual({ VisibilityTimeout: "60" });
    });
    await eventually(DRIFT_SECONDS, async () => {
      expect(await conditionsOf("table.dynamodb", "payments")).toMatchObject(inSync);
      expect(await conditionsOf("queue.sqs", "events")).toMatchObject(inSync);
    });
  });
});

describe("what is somebody else's", () => {
  test("is refused by its name: a queue and a table of another application", async () => {
    const others = `${clusterOf(name)}_billing_events`;
    const queue = {
      apiVersion: "sqs.services.k8s.aws/v1alpha1",
      kind: "Queue",
      metadata: { name: "theirs", namespace: APP },
      spec: { queueName: others },
    };
    for (const object of [queue, table("theirs", others)]) {
      const { code, stderr } = await tryOnSpoke(name, ["create", "--filename", "-"], { input: JSON.stringify(object) });
      expect(code, object.kind).not.toBe(0);
      expect(stderr).toContain(`must be ${own} or begin with ${own}_; got ${others}`);
    }
  });

  test("is left alone where it has a name of the application's: a table that another object made is not taken over", async () => {
    await apply(table("again", TableName));
    await eventually(60, async () =>
      expect(await conditionsOf("table.dynamodb", "again")).toMatchObject({
        "ACK.Terminal": "True Resource already exists",
      }),
    );
    await onSpoke(name, ["delete", ...inApp("table.dynamodb", "again"), "--timeout=60s"]);
    expect(await tableInAws(TableName)).toBe("allowed");
  });

  test("is out of reach of the controllers' roles: another cluster's tables", async () => {
    const as = await actingAs(
      `arn:aws:iam::${place.accountId}:role/fleet-spoke-${name}-addon-ack-dynamodb`,
      { namespace: "ack-dynamodb", name: "ack-dynamodb-controller" },
      on(name),
    );
    const remove = (other: string) => outcome(as.dynamodb.send(new DeleteTableCommand({ TableName: other })));
    for (const other of ["fleet-spoke-blue_payment-app_payments", "orders"])
      expect(await remove(other), other).toMatch(/^AccessDenied/);
  });
});

describe("a table that is ordered with the annotation to retain it", () => {
  const kept = `${own}_kept`;
  const retained = { "services.k8s.aws/deletion-policy": "retain" };
  const made = () =>
    eventually(120, async () => expect(await conditionsOf("table.dynamodb", "kept")).toMatchObject(inSync));

  test("stays in AWS without its object, and is found again by one that adopts it", async () => {
    await apply(table("kept", kept, retained));
    await made();
    await onSpoke(name, ["delete", ...inApp("table.dynamodb", "kept"), "--timeout=60s"]);
    expect(await tableInAws(kept)).toBe("allowed");
    await apply(table("kept", kept, { "services.k8s.aws/adoption-policy": "adopt-or-create" }));
    await made();
    const { metadata } = await getOnSpoke(name, inApp("table.dynamodb", "kept"));
    expect(metadata.annotations).toMatchObject({ "services.k8s.aws/adopted": "true" });
    await onSpoke(name, ["delete", ...inApp("table.dynamodb", "kept"), "--timeout=60s"]);
    // The object goes as soon as AWS has taken the call.
    await eventually(60, async () => expect(await tableInAws(kept)).toBe("ResourceNotFoundException"));
  });
});

describe("the end", () => {
  test("of the application takes its table, its queue and its role out of AWS", async () => {
    expect(await ordersOf(account, place)).toEqual(orders.there);
    await removeApp();
    await eventually(60, async () => expect(await ordersOf(account, place)).toEqual(orders.gone));
    for (const kind of ["tables.dynamodb", "queues.sqs"])
      expect((await getOnSpoke(name, [`${kind}.services.k8s.aws`, "--all-namespaces"])).items, kind).toEqual([]);
    await untilReady(name);
  });

  test("of the add-ons leaves neither pods nor rights nor roles", async () => {
    await repository.edit(`spokes/fleet/${name}/spoke.yaml`, withSpec({ addons: [] }));
    await repository.push(`Turn ACK's controllers off on ${name}`);
    await eventually(300, async () => {
      for (const step of steps) {
        for (const object of [inFlux(step), ["namespace", step], ["clusterrole", step]])
          expect(await isGone(...object), object.join(" ")).toBe(true);
        const look = new GetRoleCommand({ RoleName: `fleet-spoke-${name}-addon-${step}` });
        expect(await outcome(account.iam.send(look))).toMatch(/^NoSuchEntity/);
      }
    });
    await untilReady(name);
  });
});
