import {
  CreateNetworkInterfaceCommand,
  CreateSecurityGroupCommand,
  CreateTagsCommand,
  EC2Client,
} from "@aws-sdk/client-ec2";
import { DeleteUserPolicyCommand, PutUserPolicyCommand } from "@aws-sdk/client-iam";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sweepPolicy } from "../../lib/iam/sweep.ts";
import { outcome } from "../support/process.ts";
import { account, eventually, get, instance } from "./support/fleet.ts";
import { spokeInventory } from "./support/inventory.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  clusterOf,
  condition,
  fleet,
  managedOf,
  REMOVAL_SECONDS,
  system,
  untilGone,
  untilReady,
} from "./support/spokes.ts";

/** A removal that is held by what nobody manages (docs/guides/remove-a-hub.md, "What keeps the VPC"). */

const SPOKE = "t2d";
const FLEET = "fleet";
const CLUSTER = clusterOf(SPOKE);
const ec2 = new EC2Client({
  region: "us-east-1",
  endpoint: instance.awsEndpoint,
  credentials: account.sts.config.credentials,
});

/** The deployer has no such rights until a person gives them. */
const sweeping = { UserName: "deployer", PolicyName: "fleet-sweep" };

let repository: Checkout;
afterAll(() => outcome(account.iam.send(new DeleteUserPolicyCommand(sweeping))));
beforeAll(async () => {
  repository = await system();
});

/** The ID in AWS of the first managed resource of a kind. */
async function idOf(kind: string): Promise<string> {
  const found = (await managedOf(SPOKE)).find((each) => each.kind === kind);
  const { metadata } = await get([kind, found?.metadata.name ?? "", "--namespace", "spokes"]);
  return metadata.annotations["crossplane.io/external-name"];
}

const tagged = (id: string | undefined, tags: Readonly<Record<string, string>>) =>
  ec2.send(
    new CreateTagsCommand({
      Resources: [id ?? ""],
      Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
    }),
  );

/** As the VPC CNI leaves an interface whose node ended between detaching and deleting it, and EKS its security group. */
async function leave(): Promise<{ readonly eni: string; readonly group: string }> {
  const made = await ec2.send(
    new CreateNetworkInterfaceCommand({ SubnetId: await idOf("Subnet"), Description: "aws-K8S-i-0123456789abcdef0" }),
  );
  const eni = made.NetworkInterface?.NetworkInterfaceId ?? "";
  await tagged(eni, { "node.k8s.amazonaws.com/instance_id": "i-0123456789abcdef0" });
  const name = `k8s-elb-${SPOKE}`;
  const VpcId = await idOf("VPC");
  const { GroupId: group = "" } = await ec2.send(
    new CreateSecurityGroupCommand({ GroupName: name, VpcId, Description: "of a load balancer" }),
  );
  await tagged(group, { [`kubernetes.io/cluster/${CLUSTER}`]: "owned" });
  return { eni, group };
}

async function sweep(...more: string[]) {
  const { code, stdout, stderr } = await fleet(["sweep", SPOKE, ...more]);
  return { code, said: stdout + stderr };
}

test("a VPC that leftovers keep goes by one command, which touches nothing before its time", async () => {
  await addSpoke(repository, SPOKE, "dev");
  await repository.push(`Add spoke ${SPOKE}`);
  await untilReady(SPOKE);
  const { eni, group } = await leave();
  expect(await sweep("--yes")).toMatchObject({ code: 2, said: expect.stringContaining("is not being removed") });

  await repository.remove(`spokes/fleet/${SPOKE}`);
  await repository.push(`Remove spoke ${SPOKE}`);
  await eventually(REMOVAL_SECONDS, async () => {
    const deleting = await condition(SPOKE, "Deleting");
    expect(deleting?.message).toContain("DependencyViolation");
    expect(deleting?.message).toContain("fleet sweep <name>");
  });
  const first = await sweep();
  expect(first).toMatchObject({ code: 1, said: expect.stringContaining("Nothing was changed: --yes does it") });
  for (const id of [eni, group]) expect(first.said).toContain(id);
  const refused = await sweep("--yes");
  expect(refused).toMatchObject({
    code: 1,
    said: expect.stringContaining("fleet-sweep.json has all that is asked for"),
  });
  await account.iam.send(new PutUserPolicyCommand({ ...sweeping, PolicyDocument: JSON.stringify(sweepPolicy()) }));
  expect(await sweep("--yes")).toMatchObject({
    code: 0,
    said: expect.stringContaining("Removed what was left behind"),
  });
  await untilGone(SPOKE);
  expect(await spokeInventory(FLEET, SPOKE)).toEqual([]);
}, 1_800_000);
