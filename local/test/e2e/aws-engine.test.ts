import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureToolchain } from "../../toolchain/index.ts";
import { account, instance } from "../support/own-cloud.ts";
import { makeProject, type Project } from "../support/project.ts";

const program = ({ cidr = "10.77.0.0/16", name = "one", secret = "first" } = {}) => `
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
const vpc = new aws.ec2.Vpc("vpc", { cidrBlock: "${cidr}", enableDnsHostnames: true, tags: { Name: "${name}" } });
const subnet = new aws.ec2.Subnet("subnet", { vpcId: vpc.id, cidrBlock: "${cidr.replace("/16", "/24")}" });
const role = new aws.iam.Role("role", {
  name: "engine-test",
  assumeRolePolicy: { Version: "2012-10-17", Statement: [{ Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: "sts:AssumeRole" }] } as never,
});
const policy = new aws.iam.RolePolicy("policy", {
  name: "inline", role: role.name,
  policy: JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: ["s3:GetObject"], Resource: "*" }] }),
});
const key = new aws.kms.Key("key", { deletionWindowInDays: 7 });
const secret = new aws.secretsmanager.Secret("secret", { kmsKeyId: key.arn, recoveryWindowInDays: 0 });
const version = new aws.secretsmanager.SecretVersion("version", { secretId: secret.id, secretString: pulumi.secret("the-${secret}-value") });
export const vpcId = vpc.id;
export const tagsAll = vpc.tagsAll;
export const account = (await aws.getCallerIdentity()).accountId;
`;

let project: Project;
beforeAll(async () => {
  const { accessKeyId, secretAccessKey } = await account.iam.config.credentials();
  const toolchain = await ensureToolchain();
  project = await makeProject(toolchain.bin, {
    AWS_ENDPOINT_URL: instance.awsEndpoint,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_REGION: account.region,
  });
  await project.command("config", "set", "--path", "aws:defaultTags.tags.fleet", "engine-test");
  await project.write(program());
});
afterAll(async () => {
  await project?.run("destroy");
  await project?.remove();
});

test("a preview, an up, and a second up that changes nothing", async () => {
  expect((await project.run("preview")).changes).toEqual({ create: 8 });
  expect((await project.run("up")).changes).toEqual({ create: 8 });
  expect((await project.run("up")).changes).toEqual({ same: 8 });
  expect(await project.outputs()).toMatchObject({
    account: await account.accountId(),
    tagsAll: { Name: "one", fleet: "engine-test" },
  });
});

test("a refresh finds no drift where there is none", async () => {
  expect((await project.run("refresh", "--expect-no-changes")).code).toBe(0);
});

test("no secret value is in the state", async () => {
  expect(await project.state()).not.toContain("the-first-value");
});

test("a changed tag is an update in place, a changed network and a changed secret are replacements", async () => {
  await project.write(program({ name: "two" }));
  expect((await project.run("up")).steps).toEqual([expect.stringMatching(/^update vpc: /)]);
  await project.write(program({ name: "two", cidr: "10.78.0.0/16", secret: "second" }));
  const { changes } = await project.run("up");
  expect(changes).toMatchObject({ replace: 3 });
  expect(await project.state()).not.toContain("the-second-value");
});

test("a resource that was deleted behind Pulumi's back is found and made again", async () => {
  await account.iam.deleteRolePolicy({ RoleName: "engine-test", PolicyName: "inline" });
  expect((await project.run("refresh")).changes).toMatchObject({ delete: 1 });
  expect((await project.run("up")).changes).toMatchObject({ create: 1 });
});

test("a destroy leaves nothing in AWS", async () => {
  expect((await project.run("destroy")).code).toBe(0);
  const tagged = await account.ec2.describeVpcs({ Filters: [{ Name: "tag:fleet", Values: ["engine-test"] }] });
  expect(tagged.Vpcs).toEqual([]);
});
