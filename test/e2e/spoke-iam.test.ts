import {
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  GetItemCommand,
  ListTablesCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import {
  CreateRoleCommand,
  DeleteRoleCommand,
  DeleteRolePermissionsBoundaryCommand,
  DeleteRolePolicyCommand,
  PutRolePolicyCommand,
  TagRoleCommand,
} from "@aws-sdk/client-iam";
import { GetSecretValueCommand, PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { policy } from "../../lib/iam/policy.ts";
import { serviceAccountTrust } from "../../lib/iam/trust.ts";
import { outcome } from "../support/process.ts";
import { APP, sharedApp } from "./support/apps.ts";
import { account, outputs } from "./support/fleet.ts";
import { actingAs, assume, STS_AUDIENCE, serviceAccountToken } from "./support/identity.ts";
import { getOnSpoke, on, sharedSpoke } from "./support/spokes.ts";

const SPOKE = "blue"; // environment dev
const prefix = `fleet-spoke-${SPOKE}`;
const own = `${prefix}_${APP}`;
/** Names of another application of the spoke, of the same application on another spoke, and of one whose name begins alike. */
const foreign = [`${prefix}_billing_payments`, `fleet-spoke-other_${APP}_payments`, `${prefix}-2_${APP}_payments`];
const denied = expect.stringMatching(/^AccessDenied/);
const keySchema = {
  KeySchema: [{ AttributeName: "payment_id", KeyType: "HASH" as const }],
  AttributeDefinitions: [{ AttributeName: "payment_id", AttributeType: "S" as const }],
  BillingMode: "PAY_PER_REQUEST" as const,
};
const arn = (resource: string) => `arn:aws:iam::000000000000:${resource}`;
const table = (name: string) => `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`;

let facts: Record<string, string>;
beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  await sharedApp(SPOKE, "dev");
  facts = (await getOnSpoke(SPOKE, ["configmap", "cluster-info", "--namespace", "flux-system"])).data;
});

/** AWS clients of an add-on of the spoke, by a real token of its service account. */
const addon = (name: string, account = facts[`${name}_service_account`] ?? "") =>
  actingAs(
    facts[`${name}_iam_role_arn`] ?? "",
    { namespace: facts[`${name}_namespace`] ?? "", name: account },
    on(SPOKE),
  );

describe("External Secrets of a dev spoke", () => {
  test("reads the sealing keys of dev, and no other secret of the fleet; it writes none", async () => {
    const { activeSealingKeys } = await outputs();
    const { secretsmanager } = await addon("external_secrets");
    const read = (SecretId: string) => outcome(secretsmanager.send(new GetSecretValueCommand({ SecretId })));
    const key = (scope: string) => `fleet/sealing-keys/${scope}/${activeSealingKeys[scope]}`;
    expect(await read(key("dev"))).toBe("allowed");
    // The twin of the refusals: they are there to be read.
    const others = [key("prod"), "fleet/git/gitops-system", "fleet/git/gitops-workloads"];
    for (const SecretId of others) {
      await account.secretsmanager.send(new GetSecretValueCommand({ SecretId }));
      expect(await read(SecretId), SecretId).toEqual(denied);
    }
    const write = new PutSecretValueCommand({ SecretId: key("dev"), SecretString: "{}" });
    expect(await outcome(secretsmanager.send(write))).toEqual(denied);
  });

  test("shares its role with no other service account of the spoke, and with none of the hub", async () => {
    const role = facts["external_secrets_iam_role_arn"] ?? "";
    const subject = {
      namespace: facts["external_secrets_namespace"] ?? "",
      name: facts["external_secrets_service_account"] ?? "",
    };
    await assume(role, await serviceAccountToken(subject, STS_AUDIENCE, on(SPOKE)));
    for (const other of [
      { ...subject, name: "default" },
      { namespace: APP, name: APP },
    ])
      expect(await outcome(assume(role, await serviceAccountToken(other, STS_AUDIENCE, on(SPOKE))))).toEqual(denied);
    const ofHub = await serviceAccountToken({ namespace: "default", name: "default" });
    expect(await outcome(assume(role, ofHub))).toMatch(/^(InvalidIdentityToken|AccessDenied)/);
  });
});

describe("an application's role", () => {
  let app: Awaited<ReturnType<typeof actingAs>>;
  const urls = new Map<string, string>();

  beforeAll(async () => {
    app = await actingAs(arn(`role/${own}`), { namespace: APP, name: APP }, on(SPOKE));
    for (const name of foreign) {
      await account.dynamodb.send(new CreateTableCommand({ TableName: name, ...keySchema }));
      const { QueueUrl } = await account.sqs.send(new CreateQueueCommand({ QueueName: name }));
      urls.set(name, QueueUrl ?? "");
    }
  });
  afterAll(async () => {
    for (const name of foreign) {
      await account.dynamodb.send(new DeleteTableCommand({ TableName: name }));
      await account.sqs.send(new DeleteQueueCommand({ QueueUrl: urls.get(name) }));
    }
  });

  test("reads and writes its own table, and no table of another application or spoke", async () => {
    const id = { payment_id: { S: "trial" } };
    const calls = (TableName: string) => [
      new PutItemCommand({ TableName, Item: id }),
      new GetItemCommand({ TableName, Key: id }),
      new DeleteItemCommand({ TableName, Key: id }),
    ];
    const all = async (name: string) => {
      const found: string[] = [];
      for (const call of calls(name)) found.push(await outcome(app.dynamodb.send(call as PutItemCommand)));
      return found;
    };
    expect(await all(`${own}_payments`)).toEqual(["allowed", "allowed", "allowed"]);
    for (const name of foreign) expect(await all(name), name).toEqual([denied, denied, denied]);
  });

  test("sends to and receives from its own queue, and no queue of another application or spoke", async () => {
    const all = async (QueueUrl: string) => [
      await outcome(app.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "trial" }))),
      await outcome(app.sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 0 }))),
    ];
    const { QueueUrl } = await app.sqs.send(new GetQueueUrlCommand({ QueueName: `${own}_events` }));
    expect(await all(QueueUrl ?? "")).toEqual(["allowed", "allowed"]);
    for (const name of foreign) expect(await all(urls.get(name) ?? ""), name).toEqual([denied, denied]);
  });

  test("neither makes nor removes tables and queues, nor lists what the account has, nor touches IAM", async () => {
    await app.dynamodb.send(new DescribeTableCommand({ TableName: `${own}_payments` }));
    const refused = await Promise.all([
      outcome(app.dynamodb.send(new CreateTableCommand({ TableName: `${own}_more`, ...keySchema }))),
      outcome(app.dynamodb.send(new DeleteTableCommand({ TableName: `${own}_payments` }))),
      outcome(app.dynamodb.send(new ListTablesCommand({}))),
      outcome(app.sqs.send(new CreateQueueCommand({ QueueName: `${own}_more` }))),
      outcome(app.iam.send(new DeleteRolePermissionsBoundaryCommand({ RoleName: own }))),
    ]);
    expect(refused).toEqual(refused.map(() => denied));
  });
});

describe("Crossplane of a spoke", () => {
  let crossplane: Awaited<ReturnType<typeof actingAs>>;
  const trial = `${prefix}_trial`;
  const create = (RoleName: string, PermissionsBoundary?: string) =>
    outcome(
      crossplane.iam.send(
        new CreateRoleCommand({
          RoleName,
          AssumeRolePolicyDocument: JSON.stringify({
            Version: "2012-10-17",
            Statement: [{ Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: "sts:AssumeRole" }],
          }),
          ...(PermissionsBoundary === undefined ? {} : { PermissionsBoundary }),
        }),
      ),
    );
  const remove = (RoleName: string) => outcome(crossplane.iam.send(new DeleteRoleCommand({ RoleName })));

  beforeAll(async () => {
    crossplane = await addon("crossplane", "provider-aws-iam");
  });

  test("gives each of its AWS providers its role, and not the one of the family, which calls nothing, or Crossplane itself", async () => {
    const assumed = (account: string) => outcome(addon("crossplane", account));
    for (const service of ["dynamodb", "iam", "sqs"])
      expect(await assumed(`provider-aws-${service}`), service).toBe("allowed");
    for (const account of ["provider-family-aws", "crossplane", "default"])
      expect(await assumed(account), account).toEqual(denied);
  });

  test("makes roles under the tenants' boundary only", async () => {
    expect(await create(trial, facts["tenant_boundary_arn"])).toBe("allowed");
    expect(await remove(trial)).toBe("allowed");
    for (const boundary of [undefined, facts["permissions_boundary_arn"], arn("policy/AdministratorAccess")])
      expect(await create(trial, boundary), boundary).toEqual(denied);
  });

  test("makes roles under its cluster's name for applications only: not the cluster's own, nor another spoke's", async () => {
    const names = [`${prefix}-node-2`, "fleet-spoke-other_payment-app", `${prefix}-2_payment-app`, "administrator"];
    for (const name of names) expect(await create(name, facts["tenant_boundary_arn"]), name).toEqual(denied);
  });

  test("gives rights to roles of applications, not to its own; and takes no boundary off", async () => {
    const policy = {
      PolicyName: "trial",
      PolicyDocument: JSON.stringify({
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Action: "*", Resource: "*" }],
      }),
    };
    const put = (RoleName: string) => outcome(crossplane.iam.send(new PutRolePolicyCommand({ RoleName, ...policy })));
    expect(await put(own)).toBe("allowed");
    const { PolicyName } = policy;
    expect(await outcome(crossplane.iam.send(new DeleteRolePolicyCommand({ RoleName: own, PolicyName })))).toBe(
      "allowed",
    );
    for (const name of [`${prefix}-crossplane`, `${prefix}-external-secrets`, "fleet-hub-crossplane-iam"])
      expect(await put(name), name).toEqual(denied);
    const free = new DeleteRolePermissionsBoundaryCommand({ RoleName: own });
    expect(await outcome(crossplane.iam.send(free))).toEqual(denied);
  });

  test("reaches through a role that it makes, with all rights and any tags, only what is called after that role", async () => {
    const subject = {
      namespace: facts["crossplane_namespace"] ?? "",
      serviceAccount: "provider-aws-iam",
    };
    const issuer = { providerArn: facts["oidc_provider_arn"] ?? "", issuer: facts["oidc_provider"] ?? "" };
    const everything = policy({ Effect: "Allow", Action: ["*"], Resource: ["*"] });
    const mine = `${trial}_own`;
    const tables = [mine, ...foreign];
    const tagsOf = (cluster: string, namespace: string) => [
      { Key: "eks-cluster-name", Value: cluster },
      { Key: "kubernetes-namespace", Value: namespace },
    ];
    const reached = async (Tags: ReturnType<typeof tagsOf>) => {
      await crossplane.iam.send(new TagRoleCommand({ RoleName: trial, Tags }));
      const holder = { namespace: subject.namespace, name: subject.serviceAccount };
      const { dynamodb } = await actingAs(arn(`role/${trial}`), holder, on(SPOKE));
      const open: string[] = [];
      for (const TableName of [...tables, `${own}_payments`]) {
        const get = new GetItemCommand({ TableName, Key: { payment_id: { S: "trial" } } });
        if ((await outcome(dynamodb.send(get))) === "allowed") open.push(TableName);
      }
      return open;
    };
    const PolicyName = "all";
    for (const TableName of tables) await account.dynamodb.send(new CreateTableCommand({ TableName, ...keySchema }));
    await crossplane.iam.send(
      new CreateRoleCommand({
        RoleName: trial,
        AssumeRolePolicyDocument: JSON.stringify(serviceAccountTrust(issuer, subject)),
        PermissionsBoundary: facts["tenant_boundary_arn"],
      }),
    );
    try {
      const put = { RoleName: trial, PolicyName, PolicyDocument: JSON.stringify(everything) };
      await crossplane.iam.send(new PutRolePolicyCommand(put));
      expect(await reached(tagsOf(prefix, "trial"))).toEqual([mine]);
      const others = [
        [prefix, APP],
        ["fleet-spoke-other", APP],
        [`${prefix}-2`, APP],
        [prefix, ""],
      ] as const;
      for (const [cluster, namespace] of others)
        expect(await reached(tagsOf(cluster, namespace)), `${cluster} ${namespace}`).toEqual([]);
    } finally {
      await crossplane.iam.send(new DeleteRolePolicyCommand({ RoleName: trial, PolicyName }));
      await remove(trial);
      for (const TableName of tables) await account.dynamodb.send(new DeleteTableCommand({ TableName }));
    }
  });

  test("makes and describes tables and queues under its cluster's name only, and reads nothing out of them", async () => {
    const TableName = `${trial}_t`;
    expect(await outcome(crossplane.dynamodb.send(new CreateTableCommand({ TableName, ...keySchema })))).toBe(
      "allowed",
    );
    const tags = (name: string) => new ListTagsOfResourceCommand({ ResourceArn: table(name) });
    expect(await outcome(crossplane.dynamodb.send(tags(TableName)))).toBe("allowed");
    const get = new GetItemCommand({ TableName, Key: { payment_id: { S: "trial" } } });
    expect(await outcome(crossplane.dynamodb.send(get))).toEqual(denied);
    expect(await outcome(crossplane.dynamodb.send(new DeleteTableCommand({ TableName })))).toBe("allowed");
    const elsewhere = `fleet-spoke-other_${APP}_payments`;
    const attributes = (QueueUrl: string) => new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
    const { QueueUrl = "" } = await account.sqs.send(new GetQueueUrlCommand({ QueueName: `${own}_events` }));
    expect(await outcome(crossplane.sqs.send(attributes(QueueUrl)))).toBe("allowed");
    const refused = await Promise.all([
      outcome(crossplane.dynamodb.send(new CreateTableCommand({ TableName: elsewhere, ...keySchema }))),
      outcome(crossplane.dynamodb.send(tags(elsewhere))),
      outcome(crossplane.sqs.send(new CreateQueueCommand({ QueueName: elsewhere }))),
      outcome(crossplane.sqs.send(attributes(QueueUrl.replace(`${own}_events`, elsewhere)))),
    ]);
    expect(refused).toEqual(refused.map(() => denied));
  });
});
