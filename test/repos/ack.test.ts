import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { addonBoundary } from "../../lib/iam/addons.ts";
import { principalTags } from "../../lib/labels.ts";
import * as fixtures from "../functions/spoke/support/fixtures.ts";
import { unknownFields } from "../support/ack-kinds.ts";
import { allowed } from "../support/iam.ts";
import { committedConfig } from "../support/program.ts";
import { arn, rightsOf, roleOn } from "./support/addon-role.ts";
import { refusal } from "./support/admission.ts";
import { substituted } from "./support/flux.ts";
import { policies } from "./support/judged.ts";
import { build, type Manifest } from "./support/kustomize.ts";
import { render, repos, withAddons } from "./support/spoke.ts";

/** The controllers of ACK as add-ons of a spoke. */

const cluster = "fleet-spoke-blue";
const controllers = [
  { addon: "ack_dynamodb", step: "ack-dynamodb", kind: "Table" },
  { addon: "ack_sqs", step: "ack-sqs", kind: "Queue" },
] as const;
const spoke = withAddons(
  "minimal",
  controllers.map(({ addon }) => addon),
);
const rendered = render(spoke, { hub: { ...fixtures.hub, chartsRegistry: "" } });
const table = (name: string, region = "us-east-1") => `arn:aws:dynamodb:${region}:000000000000:table/${name}`;

describe.for(controllers)("the controller of $addon", ({ addon, step, kind }) => {
  const named = (wanted: string) => rendered.by(step).find((object) => object.kind === wanted);
  const values = parse(rendered.by(step).find(({ kind }) => kind === "ConfigMap")?.["data"]["values.yaml"]);

  test("comes from upstream's chart, in a version that Git names", () => {
    const { chart } = named("HelmRelease")?.spec ?? {};
    expect(chart.spec).toMatchObject({
      chart: `${addon.replace("ack_", "")}-chart`,
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    expect(named("HelmRepository")?.spec).toMatchObject({ url: "oci://public.ecr.aws/aws-controllers-k8s" });
  });

  test("makes what the namespaces of applications order, in the region of the cluster, and no other kind", () => {
    expect(values.reconcile.resources).toEqual([kind]);
    expect(values.aws.region).toBe("us-east-1");
  });

  test("acts in no other account and as no other role, and reads nothing of one namespace for another", () => {
    expect(values).toMatchObject({ enableCARM: false, enableCrossNamespace: false });
    expect(values.featureGates).toMatchObject({
      IAMRoleSelector: false,
      ServiceLevelCARM: false,
      TeamLevelCARM: false,
    });
  });

  test("tags what it makes with its namespace, and leaves the fleet's tags to manifests, as Crossplane does", () => {
    expect(values.resourceTags.map((tag: string) => tag.split("=")[0])).toEqual([
      "services.k8s.aws/controller-version",
      "services.k8s.aws/namespace",
    ]);
  });

  test("removes in AWS what is removed in Git, unless its manifest says otherwise", () => {
    expect(values.deletionPolicy).toBe("delete");
  });

  test("goes on with the definitions of its kinds when its chart changes them", () => {
    const { install, upgrade } = named("HelmRelease")?.spec ?? {};
    expect([install.crds, upgrade.crds]).toEqual(["CreateReplace", "CreateReplace"]);
  });
});

describe("the role of ACK's controller for tables", () => {
  const may = rightsOf("ack_dynamodb");

  test("makes, reads and removes tables of its own cluster's applications, and no others", () => {
    for (const action of ["dynamodb:CreateTable", "dynamodb:DescribeTable", "dynamodb:DeleteTable"]) {
      expect(may(action, table(`${cluster}_payment-app_payments`)), action).toBe(true);
      for (const other of ["fleet-spoke-green_payment-app_payments", `${cluster}-2_app_t`, "fleet-hub_t", "orders"])
        expect(may(action, table(other)), `${action} on ${other}`).toBe(false);
      expect(may(action, table(`${cluster}_payment-app_payments`, "eu-west-1")), action).toBe(false);
    }
  });

  test("reads no items and shares no table with others", () => {
    for (const call of ["GetItem", "Scan", "PutItem", "PutResourcePolicy", "CreateTableReplica", "CreateBackup"])
      expect(may(`dynamodb:${call}`, table(`${cluster}_payment-app_payments`)), call).toBe(false);
  });
});

describe("the role of ACK's controller for queues", () => {
  const may = rightsOf("ack_sqs");

  test("makes, reads and removes queues of its own cluster's applications, and no others", () => {
    for (const action of ["sqs:CreateQueue", "sqs:GetQueueAttributes", "sqs:DeleteQueue"]) {
      expect(may(action, arn("sqs", `${cluster}_payment-app_events`)), action).toBe(true);
      for (const other of ["fleet-spoke-green_payment-app_events", `${cluster}-2_app_q`, "events"])
        expect(may(action, arn("sqs", other)), `${action} on ${other}`).toBe(false);
    }
  });

  test("reads and sends no messages, and shares no queue with others", () => {
    for (const call of ["ReceiveMessage", "SendMessage", "PurgeQueue", "AddPermission"])
      expect(may(`sqs:${call}`, arn("sqs", `${cluster}_payment-app_events`)), call).toBe(false);
  });
});

describe("the boundary of add-ons, permitted as the pages of ACK's controllers say", () => {
  const permissions = parse(committedConfig("local")["eks-gitops-fleet:addonPermissions"] ?? "[]").map(
    (permission: object) => ({ resources: ["*"], ...permission }),
  );
  const boundary = addonBoundary(
    { partition: "aws", accountId: "000000000000", region: "us-east-1", fleet: "fleet" },
    permissions,
  );
  const may = (action: string, resource: string, caller: string) =>
    allowed(boundary, {
      action,
      resource,
      context: { "aws:RequestedRegion": "us-east-1", [`aws:PrincipalTag/${principalTags.cluster}`]: caller },
    });

  test("keeps each cluster's controllers to the cluster's own names, whatever their roles say", () => {
    const owned = [
      ["dynamodb:DeleteTable", table(`${cluster}_payment-app_payments`)],
      ["sqs:DeleteQueue", arn("sqs", `${cluster}_payment-app_events`)],
    ] as const;
    for (const [action, resource] of owned) {
      expect(may(action, resource, cluster), action).toBe(true);
      expect(may(action, resource, "fleet-spoke-green"), action).toBe(false);
    }
  });
});

/** The overlay of an environment as Flux applies it on the spoke blue. */
const overlay = (name: string): Manifest[] =>
  build(join(repos, "payment-app-manifests", "overlays", name)).map((object) => substituted(object, facts));
const tags = { "cost-center": "4711", "fleet.internal/fleet": "fleet", "fleet.internal/cluster": "blue" };
const facts = {
  aws_account_id: "000000000000",
  aws_cluster_name: cluster,
  aws_role_path: "/",
  aws_partition: "aws",
  aws_region: "us-east-1",
  aws_tag_list: JSON.stringify(Object.entries(tags).map(([key, value]) => ({ key, value }))),
  aws_tags: JSON.stringify(tags),
  cluster_name: "blue",
  environment: "dev",
  fleet: "fleet",
};
const ordered = (objects: readonly Manifest[], kind: string): Manifest => {
  const found = objects.filter((object) => object.kind === kind && object.apiVersion.includes("aws"));
  expect(found, kind).toHaveLength(1);
  return found[0] as Manifest;
};

describe.for(["dev", "prod"])("the overlay %s-ack of the sample application", (environment) => {
  const [byCrossplane, byAck] = [overlay(environment), overlay(`${environment}-ack`)];

  test("has the same objects but for those that AWS makes something of", () => {
    const others = (objects: readonly Manifest[]) =>
      objects.filter(({ kind }) => !["Queue", "Table"].includes(kind)).sort((a, b) => a.kind.localeCompare(b.kind));
    expect(others(byAck)).toEqual(others(byCrossplane));
    expect(ordered(byAck, "Table").apiVersion).toBe("dynamodb.services.k8s.aws/v1alpha1");
    expect(ordered(byAck, "Queue").apiVersion).toBe("sqs.services.k8s.aws/v1alpha1");
  });

  test("orders the same table: name, key, payment, backups and tags", () => {
    const { metadata, spec } = ordered(byCrossplane, "Table");
    const { billingMode, hashKey, attribute, tags, pointInTimeRecovery } = spec.forProvider;
    const table = ordered(byAck, "Table");
    expect(table.metadata).toMatchObject({ name: metadata.name });
    expect(table.spec).toEqual({
      tableName: metadata.annotations?.["crossplane.io/external-name"],
      billingMode,
      attributeDefinitions: attribute.map(({ name, type }: Record<string, string>) => ({
        attributeName: name,
        attributeType: type,
      })),
      keySchema: [{ attributeName: hashKey, keyType: "HASH" }],
      tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
      ...(pointInTimeRecovery && { continuousBackups: { pointInTimeRecoveryEnabled: pointInTimeRecovery.enabled } }),
    });
  });

  test("orders the same queue: name, encryption, times and tags", () => {
    const { metadata, spec } = ordered(byCrossplane, "Queue");
    const wanted = spec.forProvider;
    const queue = ordered(byAck, "Queue");
    expect(queue.metadata).toMatchObject({ name: metadata.name });
    expect(queue.spec).toEqual({
      queueName: wanted.name,
      sqsManagedSSEEnabled: String(wanted.sqsManagedSseEnabled),
      messageRetentionPeriod: String(wanted.messageRetentionSeconds),
      receiveMessageWaitTimeSeconds: String(wanted.receiveWaitTimeSeconds),
      visibilityTimeout: String(wanted.visibilityTimeoutSeconds),
      tags: wanted.tags,
    });
  });

  test("uses fields that ACK's kinds have, and orders what the policy lets the namespace have", () => {
    const policy = policies.get("tenant-ack.fleet.internal") as Manifest;
    for (const object of [ordered(byAck, "Table"), ordered(byAck, "Queue")]) {
      expect(unknownFields(object)).toEqual([]);
      const request = { object, namespace: "payment-app", namespaceLabels: { "fleet.internal/tenant": "payments" } };
      expect(refusal(policy, request), object.kind).toBeUndefined();
      expect(refusal(policy, { ...request, namespace: "billing" }), object.kind).toContain("must be");
    }
  });
});

describe("the policy on orders by ACK's kinds", () => {
  test("knows the controllers by the service accounts that the add-ons give them", () => {
    const expression = JSON.stringify(policies.get("tenant-ack.fleet.internal")?.spec.variables);
    expect(expression).toContain("'system:serviceaccount:ack-' + variables.service + ':ack-' + variables.service");
    for (const { addon } of controllers) {
      const service = addon.replace("ack_", "");
      expect(roleOn(addon).subject).toEqual({
        namespace: `ack-${service}`,
        serviceAccount: `ack-${service}-controller`,
      });
    }
  });

  test("is on every spoke, so that nothing is there that it has not judged when a controller comes", () => {
    const names = render(withAddons("minimal", []))
      .by("tools")
      .filter(({ kind }) => kind === "ValidatingAdmissionPolicy")
      .map(({ metadata }) => metadata.name);
    expect(names).toContain("tenant-ack.fleet.internal");
  });
});
