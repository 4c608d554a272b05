import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { EKS } from "@aws-sdk/client-eks";
import type { CreateRoleCommandInput } from "@aws-sdk/client-iam";
import { describe, expect, test } from "vitest";
import { ACCOUNT, REGION } from "../../gateway/ministack.ts";
import {
  allow,
  arnOf,
  assume,
  type Clients,
  cloud,
  configOf,
  eks,
  iam,
  outcome,
  sts,
  trustOf,
  useGatewayCloud,
} from "../support/gateway.ts";

const eksTrust = trustOf({ Service: "eks.amazonaws.com" });

useGatewayCloud();

describe("who is who", () => {
  test("a request without a signature, with a foreign key or with the emulator's own keys is refused, the deployer's is not", async () => {
    const identity = (accessKeyId: string, secretAccessKey: string) =>
      outcome(cloud.as({ accessKeyId, secretAccessKey }).sts.getCallerIdentity({}));
    expect(await identity("test", "test")).toBe("InvalidClientTokenId");
    expect(await identity("111111111111", "test")).toBe("InvalidClientTokenId");
    expect(await identity(cloud.deployer.credentials?.accessKeyId ?? "", "wrong")).toBe("SignatureDoesNotMatch");
    expect(await outcome(sts.getCallerIdentity({}))).toBe("allowed");
    const { status } = await fetch(`${cloud.instance.awsEndpoint}/_ministack/reset`, { method: "POST" });
    expect(status).toBe(403);
    const target = { "x-amz-target": "secretsmanager.ListSecrets", "content-type": "application/x-amz-json-1.1" };
    for (const headers of [
      target,
      { ...target, authorization: "Bearer x" },
      { ...target, authorization: "AWS4-HMAC-SHA256 x" },
    ])
      expect((await fetch(cloud.instance.awsEndpoint, { method: "POST", headers, body: "{}" })).ok).toBe(false);
  });

  test("ministack itself refuses EKS calls and unkeyed calls that don't come through the gateway", async () => {
    const direct = `http://${cloud.instance.loopbackAddress}:4566`;
    const target = {
      "x-amz-target": "secretsmanager.ListSecrets",
      "content-type": "application/x-amz-json-1.1",
      authorization: "Bearer x",
    };
    expect((await fetch(direct, { method: "POST", headers: target, body: "{}" })).ok).toBe(false);
    const besides = new EKS({ endpoint: direct, region: REGION, credentials: cloud.deployer.credentials as never });
    expect(await outcome(besides.listClusters({}))).not.toBe("allowed");
    expect(await outcome(eks.listClusters({}))).toBe("allowed");
  });
});

test("a role is what its ARN with its path says: under another path there is no such role", async () => {
  const AssumeRolePolicyDocument = trustOf({ AWS: arnOf("user/deployer") });
  await iam.createRole({ RoleName: "with-a-path", Path: "/company/teams/", AssumeRolePolicyDocument });
  const as = (role: string) => outcome(assume(cloud.deployer, arnOf(role)));
  expect(await as("role/company/teams/with-a-path")).toBe("allowed");
  for (const role of ["role/with-a-path", "role/company/with-a-path"])
    expect(await as(role), role).toBe("AccessDenied");
});

describe("what the emulator's evaluation gained", () => {
  test("iam:PassRole holds for one service only where iam:PassedToService says so", async () => {
    await iam.createRole({ RoleName: "passable", AssumeRolePolicyDocument: eksTrust });
    const passer = async (name: string, service: string) =>
      cloud.roleWith(
        name,
        allow(
          { Action: "eks:*" },
          {
            Action: "iam:PassRole",
            Resource: arnOf("role/passable"),
            Condition: { StringEquals: { "iam:PassedToService": service } },
          },
        ),
      );
    const create = (by: Clients) =>
      outcome(
        // In one zone only: EKS refuses it after IAM has allowed it.
        by.eks.createCluster({
          name: "passing",
          roleArn: arnOf("role/passable"),
          accessConfig: { authenticationMode: "API" },
          resourcesVpcConfig: { subnetIds: [] },
        }),
      );
    expect(await create(await passer("passes-to-eks", "eks.amazonaws.com"))).toBe("InvalidParameterException");
    expect(await create(await passer("passes-to-ec2", "ec2.amazonaws.com"))).toBe("AccessDeniedException");
  });

  test("a boundary limits its role: what it doesn't allow is refused, whatever the role's own policies say", async () => {
    const PolicyDocument = JSON.stringify(allow({ Action: ["eks:*", "ec2:*"] }));
    await iam.createPolicy({ PolicyName: "other-boundary", PolicyDocument });
    await cloud.roleWith("bounded", allow({ Action: "*" }));
    await iam.putRolePermissionsBoundary({ RoleName: "bounded", PermissionsBoundary: arnOf("policy/other-boundary") });
    const bounded = cloud.as(await assume(cloud.deployer, "bounded"));
    expect(await outcome(bounded.eks.listClusters({}))).toBe("allowed");
    expect(await outcome(bounded.iam.listRoles({}))).toBe("AccessDenied");
  });

  test("a role is deleted and trusted anew by whom its boundary and its tags let", async () => {
    const PolicyDocument = JSON.stringify(allow({ Action: "ec2:*" }));
    await iam.createPolicy({ PolicyName: "of-makers", PolicyDocument });
    const PermissionsBoundary = arnOf("policy/of-makers");
    const makes = (RoleName: string, more: Partial<CreateRoleCommandInput> = {}) =>
      iam.createRole({ RoleName, AssumeRolePolicyDocument: eksTrust, ...more });
    const Tags = [{ Key: "made-by", Value: "maker" }];
    await makes("its-own", { PermissionsBoundary, Tags });
    await makes("its-own-unbounded", { Tags });
    await makes("of-others", { PermissionsBoundary, Tags: [{ Key: "made-by", Value: "others" }] });
    const { iam: maker } = await cloud.roleWith(
      "maker",
      allow({
        Action: ["iam:DeleteRole", "iam:UpdateAssumeRolePolicy"],
        Condition: {
          StringEquals: { "iam:PermissionsBoundary": PermissionsBoundary, "iam:ResourceTag/made-by": "maker" },
        },
      }),
    );
    const changes = async (RoleName: string) => [
      await outcome(maker.updateAssumeRolePolicy({ RoleName, PolicyDocument: eksTrust })),
      await outcome(maker.deleteRole({ RoleName })),
    ];
    for (const role of ["its-own-unbounded", "of-others"])
      expect(await changes(role), role).toEqual(["AccessDenied", "AccessDenied"]);
    expect(await changes("its-own")).toEqual(["allowed", "allowed"]);
  });

  test("each item of a DynamoDB transaction is judged on its own table", async () => {
    const dynamodb = (by: Clients) => new DynamoDB(configOf(by));
    for (const TableName of ["first", "second"])
      await dynamodb(cloud.deployer).createTable({
        TableName,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      });
    const Key = { id: { S: "a" } };
    const write = (by: Clients, ...tables: string[]) => {
      const TransactItems = tables.map((TableName) => ({ Put: { TableName, Item: Key } }));
      return outcome(dynamodb(by).transactWriteItems({ TransactItems }));
    };
    const read = (by: Clients, ...tables: string[]) => {
      const TransactItems = tables.map((TableName) => ({ Get: { TableName, Key } }));
      return outcome(dynamodb(by).transactGetItems({ TransactItems }));
    };
    const table = (name: string) => `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
    const items = { Action: ["dynamodb:PutItem", "dynamodb:GetItem"] };
    const both = await cloud.roleWith("both-tables", allow({ ...items, Resource: [table("first"), table("second")] }));
    const one = await cloud.roleWith("one-table", allow({ ...items, Resource: table("first") }));
    const allButFirst = await cloud.roleWith(
      "all-tables-but-first",
      allow(items, { ...items, Effect: "Deny", Resource: table("first") }),
    );
    for (const transact of [write, read]) {
      expect(await transact(both, "first", "second")).toBe("allowed");
      expect(await transact(one, "first")).toBe("allowed");
      expect(await transact(one, "first", "second")).toBe("AccessDeniedException");
      expect(await transact(one, "second", "first")).toBe("AccessDeniedException");
      expect(await transact(allButFirst, "second")).toBe("allowed");
      expect(await transact(allButFirst, "first", "second")).toBe("AccessDeniedException");
      expect(await transact(allButFirst, "second", "first")).toBe("AccessDeniedException");
    }
  });

  test("a role with a path is known by its whole ARN", async () => {
    const byPath = await cloud.roleWith(
      "by-path",
      allow({ Action: ["iam:CreateRole", "iam:DeleteRole"], Resource: arnOf("role/team/*") }),
    );
    const create = (Path: string) =>
      outcome(byPath.iam.createRole({ RoleName: "pathed", Path, AssumeRolePolicyDocument: eksTrust }));
    expect(await create("/other/")).toBe("AccessDenied");
    expect(await create("/team/")).toBe("allowed");
    expect(await outcome(byPath.iam.deleteRole({ RoleName: "pathed" }))).toBe("allowed");
    expect(await outcome(byPath.iam.deleteRole({ RoleName: "passable" }))).toBe("AccessDenied");
  });
});
