import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serving } from "../../../support/serving.ts";
import { type Plugin, startPlugin } from "../harness.ts";

/** An AWS API that knows who calls and nothing else. */
const identity = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::111122223333:user/deployer</Arn><UserId>AIDA</UserId><Account>111122223333</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>`;

let plugin: Plugin;
beforeAll(async () => {
  plugin = await startPlugin("local/pulumi/aws/main.ts", {
    AWS_ENDPOINT_URL: await serving((_request, _body, response) =>
      response.setHeader("content-type", "text/xml").end(identity),
    ),
    AWS_ACCESS_KEY_ID: "key",
    AWS_SECRET_ACCESS_KEY: "secret",
  });
});
afterAll(() => plugin.close());

const region = "us-east-1";

test("refuses an account that is not allowed", async () => {
  const config = { region, allowedAccountIds: ["444455556666"] };
  await expect(plugin.configure(config)).rejects.toThrow(
    "AWS account 111122223333, but aws:allowedAccountIds allows 444455556666",
  );
});

describe("configured", () => {
  beforeAll(() => plugin.configure({ region, defaultTags: { tags: { fleet: "one" } } }));

  test("refuses types, inputs and members that it does not implement, by name", async () => {
    await expect(plugin.check("aws:lambda/function:Function", "b", {})).rejects.toThrow(
      "does not implement the resource type aws:lambda/function:Function",
    );
    const { failures } = await plugin.check("aws:ec2/vpc:Vpc", "v", {
      cidrBlock: "10.0.0.0/16",
      ipv6CidrBlock: "::/56",
      nonsense: 1,
    });
    expect(failures.join("\n")).toContain("does not implement 'ipv6CidrBlock'");
    expect(failures.join("\n")).toContain("has no input 'nonsense' in @pulumi/aws");
    const nested = await plugin.check("aws:eks/cluster:Cluster", "c", {
      name: "c",
      roleArn: "arn",
      vpcConfig: { subnetIds: ["a"], controlPlaneEgressMode: "x" },
    });
    expect(nested.failures.join("\n")).toContain("does not implement 'vpcConfig.controlPlaneEgressMode'");
  });

  test("refuses what AWS would refuse, before anything is created", async () => {
    const { failures } = await plugin.check("aws:kms/alias:Alias", "a", { name: "alias/aws/mine", targetKeyId: "k" });
    expect(failures.join("\n")).toContain("is not an alias name");
  });

  test("fills in the defaults of the schema, in blocks too", async () => {
    const { inputs } = await plugin.check("aws:eks/cluster:Cluster", "c", {
      name: "c",
      roleArn: "arn",
      vpcConfig: { subnetIds: ["a"] },
    });
    expect(inputs["vpcConfig"]).toEqual({ subnetIds: ["a"], endpointPrivateAccess: false, endpointPublicAccess: true });
  });

  test("marks the value of a secret as secret", async () => {
    const token = "aws:secretsmanager/secretVersion:SecretVersion";
    const { outputs } = await plugin.create(token, { secretId: "arn", secretString: "plain" }, { preview: true });
    expect(outputs["secretString"]).toMatchObject({ kind: "secret", value: "plain" });
  });

  test("a cluster's preview says that members which EKS fills in are unknown", async () => {
    const { outputs } = await plugin.create(
      "aws:eks/cluster:Cluster",
      { name: "c", roleArn: "arn", vpcConfig: { subnetIds: ["a"] } },
      { preview: true },
    );
    expect(outputs["vpcConfig"]).toMatchObject({ subnetIds: ["a"], clusterSecurityGroupId: { kind: "unknown" } });
  });

  test("tells who calls, and the partition without a call", async () => {
    const caller = await plugin.invoke("aws:index/getCallerIdentity:getCallerIdentity", {});
    expect(caller.outputs).toMatchObject({ accountId: "111122223333", arn: "arn:aws:iam::111122223333:user/deployer" });
    const partition = await plugin.invoke("aws:index/getPartition:getPartition", {});
    expect(partition.outputs).toMatchObject({
      partition: "aws",
      dnsSuffix: "amazonaws.com",
      reverseDnsPrefix: "com.amazonaws",
    });
  });
});
