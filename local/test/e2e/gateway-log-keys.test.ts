import { AssociateKmsKeyCommand, CloudWatchLogs, CreateLogGroupCommand } from "@aws-sdk/client-cloudwatch-logs";
import { KMS } from "@aws-sdk/client-kms";
import { describe, expect, test } from "vitest";
import { REGION } from "../../gateway/ministack.ts";
import { logsKeyPolicy } from "../support/aws-handler-cases.ts";
import { allow, cloud, configOf, outcome, useGatewayCloud } from "../support/gateway.ts";

const group = "/aws/eks/case/cluster";
const arn = `arn:aws:logs:${REGION}:000000000000:log-group:${group}`;

let kms: KMS;
/** Of a role with permissions in CloudWatch Logs only. */
let logs: CloudWatchLogs;

const newKey = async (Policy?: string) => (await kms.createKey({ ...(Policy && { Policy }) })).KeyMetadata?.Arn ?? "";

useGatewayCloud(async () => {
  const clients = await cloud.roleWith("logs", allow({ Action: "logs:*" }));
  kms = new KMS(configOf());
  logs = new CloudWatchLogs(configOf(clients));
});

describe("the KMS key of a log group", () => {
  const associate = (kmsKeyId: string) => logs.associateKmsKey({ logGroupName: group, kmsKeyId });
  const keyOf = async () => (await logs.describeLogGroups({ logGroupNamePrefix: group })).logGroups?.[0]?.kmsKeyId;

  test("is associated at creation, replaced and disassociated without permissions in KMS", async () => {
    const [first, second] = [await newKey(logsKeyPolicy(REGION, group)), await newKey(logsKeyPolicy(REGION))];
    await logs.createLogGroup({ logGroupName: group, kmsKeyId: first });
    expect(await keyOf()).toBe(first);
    await associate(second);
    expect(await keyOf()).toBe(second);
    await logs.disassociateKmsKey({ logGroupName: group });
    expect(await keyOf()).toBe(undefined);
  });

  test.each([
    ["by default", undefined],
    ["for another region", logsKeyPolicy("eu-west-1")],
    ["for another group", logsKeyPolicy(REGION, "/aws/eks/other/*")],
  ])("must have a policy that admits CloudWatch Logs, and doesn't %s", async (_name, policy) => {
    const key = await newKey(policy);
    const refused = `The specified KMS key does not exist or is not allowed to be used with Arn '${arn}'`;
    await expect(associate(key)).rejects.toMatchObject({ name: "AccessDeniedException", message: refused });
    const create = new CreateLogGroupCommand({ logGroupName: `${group}-other`, kmsKeyId: key });
    expect(await outcome(logs.send(create))).toContain("AccessDeniedException");
    expect(await keyOf()).toBe(undefined);
  });

  test("must exist, be enabled and be named by its ARN", async () => {
    const disabled = await newKey(logsKeyPolicy(REGION));
    await kms.disableKey({ KeyId: disabled });
    for (const key of [disabled, `${disabled.slice(0, -4)}0000`, disabled.split("/")[1] ?? ""])
      await expect(associate(key), key).rejects.toMatchObject({ name: "InvalidParameterException" });
  });

  test("belongs to a log group that exists, and needs logs:AssociateKmsKey", async () => {
    const key = await newKey(logsKeyPolicy(REGION));
    const absent = new AssociateKmsKeyCommand({ logGroupName: "/absent", kmsKeyId: key });
    await expect(logs.send(absent)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
    const creator = new CloudWatchLogs(
      configOf(await cloud.roleWith("creator", allow({ Action: "logs:CreateLogGroup" }))),
    );
    const call = new AssociateKmsKeyCommand({ logGroupName: group, kmsKeyId: key });
    await expect(creator.send(call)).rejects.toMatchObject({ name: "AccessDeniedException" });
  });
});
