import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { CreateClusterCommand } from "@aws-sdk/client-eks";
import { GetRoleCommand } from "@aws-sdk/client-iam";
import { KMS } from "@aws-sdk/client-kms";
import { S3 } from "@aws-sdk/client-s3";
import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { SQS } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ensureAccount } from "../../gateway/deployer.ts";
import { RECORDED_CLUSTERS } from "../../gateway/eks/recorded-clusters.ts";
import { ensureGatewayKey, rootCredentials } from "../../gateway/key.ts";
import { ACCOUNT, REGION } from "../../gateway/ministack.ts";
import {
  allow,
  arnOf,
  assume,
  type Clients,
  cloud,
  configOf,
  outcome,
  trustOf,
  useGatewayCloud,
  wait,
} from "../support/gateway.ts";

const OTHER = "222222222222";
/** The owner of what is shared and who reads it, in both directions. */
const DIRECTIONS = [
  { owner: ACCOUNT, reader: OTHER },
  { owner: OTHER, reader: ACCOUNT },
];

const admins = new Map<string, Clients>();
const admin = (account: string): Clients => admins.get(account) as Clients;

// Nothing runs behind the clusters of this file.
vi.stubEnv(RECORDED_CLUSTERS, ".");
afterAll(() => vi.unstubAllEnvs());
useGatewayCloud(async () => {
  admins.set(ACCOUNT, cloud.deployer).set(OTHER, await cloud.account(OTHER));
});

const secretsOf = (clients: Clients) => new SecretsManager(configOf(clients));
const kmsOf = (clients: Clients) => new KMS(configOf(clients));

/** Makes a role in an account that its administrator may assume, with this policy. */
async function roleIn(account: string, name: string, policy: object, trust?: string): Promise<void> {
  const { iam } = admin(account);
  const AssumeRolePolicyDocument = trust ?? trustOf({ AWS: arnOf("user/deployer", account) });
  await iam.createRole({ RoleName: name, AssumeRolePolicyDocument });
  await iam.putRolePolicy({ RoleName: name, PolicyName: "policy", PolicyDocument: JSON.stringify(policy) });
}

/** A session of a role, by whoever may assume it. */
const session = async (by: Clients, roleArn: string, policy?: object): Promise<Clients> =>
  cloud.as(await assume(by, roleArn, {}, policy));

async function readerIn(account: string, name: string, policy: object): Promise<Clients> {
  await roleIn(account, name, policy);
  return session(admin(account), arnOf(`role/${name}`, account));
}

const statement = (account: string, action: string, more: object = {}) => ({
  Effect: "Allow",
  Principal: { AWS: arnOf("root", account) },
  Action: action,
  Resource: "*",
  ...more,
});
const document = (...statements: object[]) => JSON.stringify({ Version: "2012-10-17", Statement: statements });

describe("two accounts", () => {
  test("are told apart by their access keys", async () => {
    for (const account of [ACCOUNT, OTHER])
      expect(await admin(account).sts.getCallerIdentity({})).toMatchObject({
        Account: account,
        Arn: arnOf("user/deployer", account),
      });
    expect(await (await cloud.root(OTHER)).sts.getCallerIdentity({})).toMatchObject({
      Account: OTHER,
      Arn: arnOf("root", OTHER),
    });
  });

  test("have no root but the one of the instance's key, and keep a key that works", async () => {
    const root = rootCredentials(await ensureGatewayKey(cloud.instance), OTHER);
    const elsewhere = root.accessKeyId.replace(OTHER, "333333333333");
    for (const accessKeyId of [elsewhere, OTHER, `ROOT${OTHER}`])
      expect(await outcome(cloud.as({ ...root, accessKeyId }).sts.getCallerIdentity({})), accessKeyId).toBe(
        "InvalidClientTokenId",
      );
    const again = await cloud.account(OTHER);
    expect(again.credentials?.secretAccessKey).toBe(admin(OTHER).credentials?.secretAccessKey);
    await expect(ensureAccount(cloud.instance, ACCOUNT)).rejects.toThrow("which is the hub's");
  });

  test("have roles, VPCs and clusters of the same names, and see their own only", async () => {
    const made = new Map<string, { role: string; vpc: string; cluster: string }>();
    for (const account of [ACCOUNT, OTHER]) {
      const { iam, ec2, eks } = admin(account);
      const { Role } = await iam.createRole({
        RoleName: "same",
        AssumeRolePolicyDocument: trustOf({ Service: "eks.amazonaws.com" }),
      });
      const { Vpc } = await ec2.createVpc({ CidrBlock: "10.7.0.0/16" });
      const subnets = await Promise.all(
        ["a", "b"].map((zone, at) =>
          ec2.createSubnet({ VpcId: Vpc?.VpcId, CidrBlock: `10.7.${at}.0/24`, AvailabilityZone: `${REGION}${zone}` }),
        ),
      );
      const { cluster } = await eks.createCluster({
        name: "same",
        roleArn: arnOf("role/same", account),
        resourcesVpcConfig: { subnetIds: subnets.map(({ Subnet }) => Subnet?.SubnetId ?? "") },
        accessConfig: { authenticationMode: "API" },
      });
      made.set(account, { role: Role?.RoleId ?? "", vpc: Vpc?.VpcId ?? "", cluster: cluster?.arn ?? "" });
    }
    const [one, two] = [made.get(ACCOUNT), made.get(OTHER)];
    expect(one?.role).not.toBe(two?.role);
    for (const account of [ACCOUNT, OTHER]) {
      const { iam, ec2, eks } = admin(account);
      const own = made.get(account);
      expect((await iam.getRole({ RoleName: "same" })).Role?.RoleId).toBe(own?.role);
      const { Vpcs = [] } = await ec2.describeVpcs({});
      expect(Vpcs.map(({ VpcId }) => VpcId)).toContain(own?.vpc);
      expect(Vpcs.map(({ VpcId }) => VpcId)).not.toContain((own === one ? two : one)?.vpc);
      await eks.waitUntilClusterActive({ name: "same" }, wait);
      const { cluster } = await eks.describeCluster({ name: "same" });
      expect(cluster?.arn).toBe(`arn:aws:eks:${REGION}:${account}:cluster/same`);
      expect(cluster?.resourcesVpcConfig?.vpcId).toBe(own?.vpc);
    }
    await admin(OTHER).eks.deleteCluster({ name: "same" });
    await admin(OTHER).eks.waitUntilClusterDeleted({ name: "same" }, wait);
    expect((await admin(OTHER).eks.listClusters({})).clusters).toEqual([]);
    expect((await admin(ACCOUNT).eks.listClusters({})).clusters).toEqual(["same"]);
    await admin(ACCOUNT).eks.deleteCluster({ name: "same" });
  });

  test("pass no roles to each other's services, and have no look at each other's policies", async () => {
    for (const { owner, reader } of DIRECTIONS) {
      const { iam } = admin(owner);
      const PolicyName = "own";
      const PolicyDocument = JSON.stringify(allow({ Action: "s3:*" }));
      const { Policy } = await iam.createPolicy({ PolicyName, PolicyDocument });
      const PolicyArn = Policy?.Arn ?? "";
      expect(await outcome(iam.getPolicy({ PolicyArn }))).toBe("allowed");
      expect(await outcome(admin(reader).iam.getPolicy({ PolicyArn }))).toBe("AccessDenied");
      for (const RoleName of ["same", "none"])
        expect(await outcome(admin(reader).iam.attachRolePolicy({ RoleName, PolicyArn }))).toBe(
          "NoSuchEntityException",
        );
      const cluster = new CreateClusterCommand({
        name: "foreign",
        roleArn: arnOf("role/same", owner),
        resourcesVpcConfig: { subnetIds: ["subnet-a", "subnet-b"] },
      });
      expect(await outcome(admin(reader).eks.send(cluster))).toBe("AccessDeniedException");
    }
  });
});

describe.each(DIRECTIONS)("what $owner has and does not share", ({ owner, reader }) => {
  test("is found by nobody of the other account, by its ARN or ID, whatever its rights: root as little as an administrator", async () => {
    const of = configOf(admin(owner));
    const Bucket = `of-${owner}`;
    const s3 = new S3({ ...of, forcePathStyle: true });
    await s3.createBucket({ Bucket });
    await s3.putObject({ Bucket, Key: "key", Body: "value" });
    const { QueueUrl } = await new SQS(of).createQueue({ QueueName: "unshared" });
    const { TableDescription } = await new DynamoDB(of).createTable({
      TableName: "unshared",
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      BillingMode: "PAY_PER_REQUEST",
    });
    const { Vpc } = await admin(owner).ec2.createVpc({ CidrBlock: "10.8.0.0/16" });
    const asked = async (by: Clients) => {
      const config = configOf(by);
      const objects = new S3({ ...config, forcePathStyle: true });
      return {
        object: await outcome(objects.getObject({ Bucket, Key: "key" })),
        queue: await outcome(new SQS(config).getQueueAttributes({ QueueUrl })),
        table: await outcome(new DynamoDB(config).describeTable({ TableName: TableDescription?.TableArn })),
        vpc: await outcome(by.ec2.deleteVpc({ VpcId: Vpc?.VpcId })),
      };
    };
    for (const by of [admin(reader), await cloud.root(reader)])
      expect(await asked(by)).toEqual({
        object: "AccessDenied",
        queue: expect.stringMatching(/^AccessDenied/),
        table: "AccessDeniedException",
        vpc: "InvalidVpcID.NotFound",
      });
    expect(await asked(admin(owner))).toEqual({
      object: "allowed",
      queue: "allowed",
      table: "allowed",
      vpc: "allowed",
    });
  });
});

describe.each(DIRECTIONS)("a role of $owner, assumed from $reader", ({ owner, reader }) => {
  const roleArn = arnOf("role/shared", owner);
  const caller = { Condition: { ArnEquals: { "aws:PrincipalArn": arnOf(`role/caller-of-${reader}`, reader) } } };
  beforeAll(async () => {
    const trust = { Effect: "Allow", Principal: { AWS: arnOf("root", reader) }, Action: "sts:AssumeRole", ...caller };
    await roleIn(owner, "shared", allow({ Action: "iam:GetRole" }), document(trust));
    await roleIn(owner, "own", allow({ Action: "iam:GetRole" }), trustOf({ AWS: arnOf("root", owner) }));
    const mayAssume = allow({ Action: "sts:AssumeRole", Resource: [roleArn, arnOf("role/own", owner)] });
    await roleIn(reader, `caller-of-${reader}`, mayAssume);
    await roleIn(reader, `other-of-${reader}`, mayAssume);
    await roleIn(reader, `unable-of-${reader}`, allow({ Action: "sts:GetCallerIdentity" }));
  });
  const as = (role: string, policy?: object) =>
    session(admin(reader), arnOf(`role/${role}-of-${reader}`, reader), policy);
  const assumes = async (by: Clients, RoleArn = roleArn) =>
    outcome(by.sts.assumeRole({ RoleArn, RoleSessionName: "test" }));

  test("gives its caller the owner's account, and nothing of the caller's", async () => {
    const shared = await session(await as("caller"), roleArn);
    expect(await shared.sts.getCallerIdentity({})).toMatchObject({ Account: owner });
    const { Role } = await shared.iam.getRole({ RoleName: "shared" });
    expect(Role?.Arn).toBe(roleArn);
    const ofCaller = new GetRoleCommand({ RoleName: `caller-of-${reader}` });
    expect(await outcome(shared.iam.send(ofCaller))).toBe("NoSuchEntityException");
  });

  test("is refused to a role that it does not trust, with every right of its own", async () => {
    expect(await assumes(await as("other"))).toBe("AccessDenied");
    expect(await assumes(await as("caller"), arnOf("role/own", owner))).toBe("AccessDenied");
  });

  test("is refused to root of the other account, whom the condition does not name", async () => {
    expect(await assumes(await cloud.root(reader))).toBe("AccessDenied");
  });

  test("is refused to a role without the right, and to a session or boundary that withholds it", async () => {
    expect(await assumes(await as("unable"))).toBe("AccessDenied");
    expect(await assumes(await as("caller", allow({ Action: "s3:*" })))).toBe("AccessDenied");
    const { iam } = admin(reader);
    const PolicyDocument = JSON.stringify(allow({ Action: "s3:*" }));
    const { Policy } = await iam.createPolicy({ PolicyName: "narrow", PolicyDocument });
    await iam.putRolePermissionsBoundary({ RoleName: `caller-of-${reader}`, PermissionsBoundary: Policy?.Arn ?? "" });
    expect(await assumes(await as("caller"))).toBe("AccessDenied");
  });

  test("is refused where there is none of the name, also if the caller's account has one", async () => {
    expect(await assumes(admin(reader), arnOf(`role/unable-of-${reader}`, owner))).toBe("AccessDenied");
  });
});

describe.each(DIRECTIONS)("a secret of $owner, read from $reader", ({ owner, reader }) => {
  let secretArn: string;
  let keyArn: string;
  let clients: Clients;
  const readable = (arn: string) => allow({ Action: "secretsmanager:GetSecretValue", Resource: arn });
  const ownKey = statement(owner, "kms:*");
  const through = (service: string) => ({ Condition: { StringEquals: { "kms:ViaService": service } } });
  const secretsManager = `secretsmanager.${REGION}.amazonaws.com`;

  const share = (policy: string) =>
    secretsOf(admin(owner)).putResourcePolicy({ SecretId: secretArn, ResourcePolicy: policy });
  const shareKey = (policy: string) => kmsOf(admin(owner)).putKeyPolicy({ KeyId: keyArn, Policy: policy });
  const value = (by: Clients, SecretId = secretArn) => secretsOf(by).getSecretValue({ SecretId });

  beforeAll(async () => {
    keyArn = (await kmsOf(admin(owner)).createKey({})).KeyMetadata?.Arn ?? "";
    const made = { Name: `shared/${owner}`, SecretString: `of ${owner}`, KmsKeyId: keyArn };
    secretArn = (await secretsOf(admin(owner)).createSecret(made)).ARN ?? "";
    clients = await readerIn(
      reader,
      "secret-reader",
      allow(
        { Action: ["secretsmanager:*"], Resource: `arn:aws:secretsmanager:${REGION}:${owner}:*` },
        { Action: "kms:Decrypt", Resource: keyArn },
      ),
    );
  });

  test("is refused before the owner shares it, and while one of both policies is missing", async () => {
    expect(await outcome(value(clients))).toBe("AccessDeniedException");
    await share(document(statement(reader, "secretsmanager:GetSecretValue")));
    await expect(value(clients)).rejects.toThrow("Access to KMS is not allowed");
    await shareKey(document(ownKey, statement(reader, "kms:Decrypt", through(`s3.${REGION}.amazonaws.com`))));
    await expect(value(clients)).rejects.toThrow("Access to KMS is not allowed");
    await shareKey(document(ownKey, statement(reader, "kms:Decrypt", through(secretsManager))));
    expect((await value(clients)).SecretString).toBe(`of ${owner}`);
  });

  test("is given for what is shared only: the operation, the secret in the encryption context, the caller's tags", async () => {
    expect(await outcome(secretsOf(clients).describeSecret({ SecretId: secretArn }))).toBe("AccessDeniedException");
    const inContext = (arn: string) =>
      statement(reader, "kms:Decrypt", { Condition: { StringLike: { "kms:EncryptionContext:SecretARN": arn } } });
    await shareKey(document(ownKey, inContext(`${secretArn.slice(0, -6)}other-*`)));
    expect(await outcome(value(clients))).toBe("AccessDeniedException");
    await shareKey(document(ownKey, inContext(`${secretArn.slice(0, -6)}*`)));
    expect(await outcome(value(clients))).toBe("allowed");
    const named = (name: string) =>
      share(
        document(
          statement(reader, "secretsmanager:GetSecretValue", {
            Condition: { ArnLike: { "aws:PrincipalArn": arnOf(`role/${name}`, reader) } },
          }),
        ),
      );
    await named("another");
    expect(await outcome(value(clients))).toBe("AccessDeniedException");
    await named("secret-*");
    expect(await outcome(value(clients))).toBe("allowed");
  });

  test("is refused to whom the own account gives no right, and to its root while only a role is named", async () => {
    const without = await readerIn(reader, "key-only", allow({ Action: "kms:Decrypt" }));
    expect(await outcome(value(without))).toBe("AccessDeniedException");
    const noKey = await readerIn(reader, "secret-only", readable(secretArn));
    await share(document(statement(reader, "secretsmanager:GetSecretValue")));
    await expect(value(noKey)).rejects.toThrow("Access to KMS is not allowed");
    expect(await outcome(value(await cloud.root(reader)))).toBe("allowed");
    await share(
      document({
        ...statement(reader, "secretsmanager:GetSecretValue"),
        Principal: { AWS: arnOf("role/secret-reader", reader) },
      }),
    );
    expect(await outcome(value(await cloud.root(reader)))).toBe("AccessDeniedException");
    expect(await outcome(value(clients))).toBe("allowed");
  });

  test("is found by its whole ARN, not by its name or a part of its ARN", async () => {
    expect(await outcome(value(clients, `shared/${owner}`))).toBe("AccessDeniedException");
    expect(await outcome(value(admin(reader), `shared/${owner}`))).toBe("ResourceNotFoundException");
    expect(await outcome(value(clients, secretArn.slice(0, -7)))).toBe("AccessDeniedException");
  });

  test("that AWS's own key encrypts is given to nobody of another account", async () => {
    const made = { Name: "under-the-service-key", SecretString: "x" };
    const { ARN = "" } = await secretsOf(admin(owner)).createSecret(made);
    const shared = document(statement(reader, "secretsmanager:GetSecretValue"));
    await secretsOf(admin(owner)).putResourcePolicy({ SecretId: ARN, ResourcePolicy: shared });
    await expect(value(clients, ARN)).rejects.toMatchObject({ name: "InvalidRequestException" });
    expect(await outcome(value(admin(owner), ARN))).toBe("allowed");
  });

  test("shares with principals that exist, and with no other", async () => {
    const nobody = {
      ...statement(reader, "secretsmanager:GetSecretValue"),
      Principal: { AWS: arnOf("role/no", reader) },
    };
    expect(await outcome(share(document(nobody)))).toBe("MalformedPolicyDocumentException");
    expect(await outcome(value(clients))).toBe("allowed");
  });
});

describe.each(DIRECTIONS)("a key of $owner, used from $reader", ({ owner, reader }) => {
  let keyArn: string;
  let clients: Clients;
  const ownKey = statement(owner, "kms:*");
  const share = (...statements: object[]) =>
    kmsOf(admin(owner)).putKeyPolicy({ KeyId: keyArn, Policy: document(ownKey, ...statements) });

  beforeAll(async () => {
    keyArn = (await kmsOf(admin(owner)).createKey({})).KeyMetadata?.Arn ?? "";
    clients = await readerIn(reader, "key-user", allow({ Action: "kms:*", Resource: keyArn }));
  });

  test("decrypts for whom its policy and the caller's allow it, and only so", async () => {
    const { CiphertextBlob } = await kmsOf(admin(owner)).encrypt({ KeyId: keyArn, Plaintext: Buffer.from("plain") });
    const decrypted = (by: Clients, KeyId?: string) => kmsOf(by).decrypt({ CiphertextBlob, KeyId });
    for (const KeyId of [keyArn, undefined])
      expect(await outcome(decrypted(clients, KeyId)), String(KeyId)).toBe("AccessDeniedException");
    expect(await outcome(decrypted(await cloud.root(reader), keyArn))).toBe("AccessDeniedException");
    await share(statement(reader, "kms:Decrypt"));
    for (const KeyId of [keyArn, undefined])
      expect(Buffer.from((await decrypted(clients, KeyId)).Plaintext ?? []).toString()).toBe("plain");
    const without = await readerIn(reader, "key-stranger", allow({ Action: "kms:DescribeKey" }));
    expect(await outcome(decrypted(without, keyArn))).toBe("AccessDeniedException");
    expect(await outcome(kmsOf(clients).describeKey({ KeyId: keyArn }))).toBe("AccessDeniedException");
  });

  test("is never administered from another account, whatever its policy says", async () => {
    await share(statement(reader, "kms:*"));
    const kms = kmsOf(clients);
    expect(await outcome(kms.describeKey({ KeyId: keyArn }))).toBe("allowed");
    for (const call of [
      kms.getKeyPolicy({ KeyId: keyArn }),
      kms.putKeyPolicy({ KeyId: keyArn, Policy: document(ownKey) }),
      kms.scheduleKeyDeletion({ KeyId: keyArn }),
    ])
      expect(await outcome(call)).toBe("AccessDeniedException");
  });

  test("takes no policy with a principal that does not exist, and none that locks its author out", async () => {
    const gone = { ...statement(reader, "kms:Decrypt"), Principal: { AWS: arnOf("role/no", reader) } };
    expect(await outcome(share(gone))).toBe("MalformedPolicyDocumentException");
    const put = (Policy: string, more: object = {}) =>
      outcome(kmsOf(admin(owner)).putKeyPolicy({ KeyId: keyArn, Policy, ...more }));
    const { Policy } = await kmsOf(admin(owner)).getKeyPolicy({ KeyId: keyArn });
    const useOnly = document(statement(owner, "kms:Decrypt"));
    expect(await put(useOnly)).toBe("MalformedPolicyDocumentException");
    expect(await put("no policy")).toBe("MalformedPolicyDocumentException");
    expect((await kmsOf(admin(owner)).getKeyPolicy({ KeyId: keyArn })).Policy).toBe(Policy);
    expect(await outcome(kmsOf(admin(owner)).createKey({ Policy: useOnly }))).toBe("MalformedPolicyDocumentException");
    expect(await outcome(kmsOf(admin(owner)).createKey({ Policy: document(ownKey) }))).toBe("allowed");
    const rootKms = kmsOf(await cloud.root(owner));
    const asRoot = (policy: string) => outcome(rootKms.putKeyPolicy({ KeyId: keyArn, Policy: policy }));
    expect(await asRoot(useOnly)).toBe("MalformedPolicyDocumentException");
    expect(await asRoot(document(ownKey))).toBe("allowed");
    expect(await put(useOnly, { BypassPolicyLockoutSafetyCheck: true })).toBe("allowed");
    expect(await put(document(ownKey))).toBe("AccessDeniedException");
  });
});

describe("a secret under a customer's key, in one account", () => {
  test("is read with kms:Decrypt through Secrets Manager, and not without", async () => {
    const { KeyMetadata } = await kmsOf(cloud.deployer).createKey({});
    const made = { Name: "under-a-key", SecretString: "x", KmsKeyId: KeyMetadata?.KeyId };
    const { ARN = "" } = await secretsOf(cloud.deployer).createSecret(made);
    const reads = async (name: string, ...more: object[]) => {
      const action = ["secretsmanager:GetSecretValue", "secretsmanager:BatchGetSecretValue"];
      const secrets = secretsOf(await cloud.roleWith(name, allow({ Action: action }, ...more)));
      const one = await outcome(secrets.getSecretValue({ SecretId: ARN }));
      const batch = await secrets.batchGetSecretValue({ SecretIdList: [ARN] });
      return { one, batch: batch.SecretValues?.length ?? 0 };
    };
    const decrypt = (service: string) => ({
      Action: "kms:Decrypt",
      Resource: KeyMetadata?.Arn,
      Condition: { StringEquals: { "kms:ViaService": `${service}.${REGION}.amazonaws.com` } },
    });
    expect(await reads("no-key")).toEqual({ one: "AccessDeniedException", batch: 0 });
    expect(await reads("key-of-s3", decrypt("s3"))).toEqual({ one: "AccessDeniedException", batch: 0 });
    expect(await reads("key-of-secrets", decrypt("secretsmanager"))).toEqual({ one: "allowed", batch: 1 });
  });
});

test("a user of one account is nobody in the other: its key serves no policy there", async () => {
  const { iam } = admin(OTHER);
  await iam.createUser({ UserName: "plain" });
  const { AccessKey } = await iam.createAccessKey({ UserName: "plain" });
  const plain = cloud.as({
    accessKeyId: AccessKey?.AccessKeyId ?? "",
    secretAccessKey: AccessKey?.SecretAccessKey ?? "",
  });
  expect(await plain.sts.getCallerIdentity({})).toMatchObject({ Account: OTHER });
  expect(await outcome(plain.eks.listClusters({}))).toBe("AccessDeniedException");
  expect(await outcome(plain.ec2.describeVpcs({}))).toBe("UnauthorizedOperation");
});
