import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { addonBoundary } from "../../lib/iam/addons.ts";
import { principalTags } from "../../lib/labels.ts";
import * as fixtures from "../functions/spoke/support/fixtures.ts";
import { allowed } from "../support/iam.ts";
import { committedConfig } from "../support/program.ts";
import { arn, rightsOf, roleOn } from "./support/addon-role.ts";
import { render, withAddons } from "./support/spoke.ts";

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
    expect(named("HelmRepository")?.spec).toMatchObject({
      url: "oci://public.ecr.aws/aws-controllers-k8s",
    });
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
    expect(roleOn("ack_dynamodb").subject).toEqual({
      namespace: "ack-dynamodb",
      serviceAccount: "ack-dynamodb-controller",
    });
  });
});
