import {
  DeleteFlowLogsCommand,
  DeleteInternetGatewayCommand,
  DeleteLaunchTemplateCommand,
  DeleteNatGatewayCommand,
  DeleteRouteTableCommand,
  DeleteSubnetCommand,
  DeleteVpcCommand,
  DeleteVpcEndpointsCommand,
  DescribeInternetGatewaysCommand,
  DetachInternetGatewayCommand,
  ReleaseAddressCommand,
} from "@aws-sdk/client-ec2";
import { ScheduleKeyDeletionCommand } from "@aws-sdk/client-kms";
import { account, eventually } from "./fleet.ts";
import { fleet } from "./spokes.ts";

/** Deletes in AWS what `fleet recover` says was made twice, or could not be made, as a person does who has looked whether something uses it. */

type Delete = (id: string) => Promise<unknown>;

const { ec2, kms } = account;

/** By what IDs begin with, in the order in which AWS lets go of them. */
const deletions: readonly (readonly [prefix: string, remove: Delete])[] = [
  ["fl-", (id) => ec2.send(new DeleteFlowLogsCommand({ FlowLogIds: [id] }))],
  ["nat-", (NatGatewayId) => ec2.send(new DeleteNatGatewayCommand({ NatGatewayId }))],
  ["vpce-", deleteVpcEndpoint],
  ["eipalloc-", (AllocationId) => ec2.send(new ReleaseAddressCommand({ AllocationId }))],
  ["subnet-", (SubnetId) => ec2.send(new DeleteSubnetCommand({ SubnetId }))],
  ["rtb-", (RouteTableId) => ec2.send(new DeleteRouteTableCommand({ RouteTableId }))],
  ["igw-", deleteInternetGateway],
  ["lt-", (LaunchTemplateId) => ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateId }))],
  ["vpc-", (VpcId) => ec2.send(new DeleteVpcCommand({ VpcId }))],
];
/** Of KMS keys, which have none before theirs. */
const keyId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const deleteKey: Delete = (KeyId) => kms.send(new ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 7 }));

/** This call alone reports a refusal in its answer. */
async function deleteVpcEndpoint(id: string): Promise<void> {
  const { Unsuccessful = [] } = await ec2.send(new DeleteVpcEndpointsCommand({ VpcEndpointIds: [id] }));
  for (const { Error: refusal } of Unsuccessful)
    throw Object.assign(new Error(refusal?.Message), { name: refusal?.Code });
}

async function deleteInternetGateway(InternetGatewayId: string): Promise<void> {
  const { InternetGateways = [] } = await ec2.send(
    new DescribeInternetGatewaysCommand({ InternetGatewayIds: [InternetGatewayId] }),
  );
  for (const { VpcId } of InternetGateways.flatMap(({ Attachments }) => Attachments ?? []))
    await ec2.send(new DetachInternetGatewayCommand({ InternetGatewayId, VpcId }));
  await ec2.send(new DeleteInternetGatewayCommand({ InternetGatewayId }));
}

const idsInText = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[a-z]+-[0-9a-f]{8,}\b/g;

/** The IDs that are to be deleted: all but the last of several, and all of what failed or nobody manages. */
function madeTwice(said: string): string[] {
  const blocks = said.split(/\n(?=\S)/);
  const idsOf = (block: string) =>
    block
      .split("\n")
      .slice(1)
      // AWS's reason, in parentheses, may name what is not to be deleted.
      .map((line) => line.replace(/ \(.*$/, "").match(idsInText) ?? []);
  return blocks.flatMap((block) => {
    if (block.startsWith("AWS has several")) return idsOf(block).flatMap((ids) => ids.slice(0, -1));
    return /^(With the spoke's tags|AWS failed)/.test(block) ? idsOf(block).flat() : [];
  });
}

/** Deletes what the output of `fleet recover` names. Rejects where something of it stays in use. */
export async function deleteMadeTwice(said: string): Promise<void> {
  const ids = madeTwice(said);
  for (const id of ids.filter((each) => keyId.test(each))) await deleteKey(id);
  for (const [prefix, remove] of deletions)
    for (const id of ids.filter((each) => each.startsWith(prefix)))
      await eventually(60, () =>
        remove(id).catch((error: Error) => {
          if (!/NotFound/.test(error.name)) throw error;
        }),
      );
}

/** What a person does about a spoke whose status names `fleet recover`. Throws when the command could not run. */
export async function recover(spoke: string): Promise<void> {
  const { code, stdout, stderr } = await fleet(["recover", spoke, "--yes"]);
  if (code === 2) throw new Error(`fleet recover ${spoke} could not run: ${stdout}${stderr}`);
  await deleteMadeTwice(stdout);
}
