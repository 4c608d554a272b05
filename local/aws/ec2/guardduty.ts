/**
 * GuardDuty's VPC endpoint and security group, which the AWS provider removes where they block a deletion, as far as its permissions suffice
 * (terraform-provider-aws#46953: internal/service/ec2, vpc_subnet.go and vpc_.go).
 */
import * as sdk from "@aws-sdk/client-ec2";
import type { Aws } from "../connection.ts";
import { hasCode, orGone } from "../errors.ts";
import { poll } from "../poll.ts";
import { api } from "./define.ts";

const managed = { Name: "tag:GuardDutyManaged", Values: ["true"] };

async function endpointsOf(aws: Aws, vpc: string): Promise<sdk.VpcEndpoint[]> {
  const Filters = [{ Name: "vpc-id", Values: [vpc] }, { Name: "service-name", Values: ["*guardduty-data*"] }, managed];
  return (await api(aws).send(new sdk.DescribeVpcEndpointsCommand({ Filters }))).VpcEndpoints ?? [];
}

/** Takes a subnet out of the endpoint. */
async function leaveSubnet(aws: Aws, vpc: string, subnet: string): Promise<void> {
  for (const { VpcEndpointId, SubnetIds = [] } of await endpointsOf(aws, vpc))
    if (SubnetIds.includes(subnet))
      await orGone(api(aws).send(new sdk.ModifyVpcEndpointCommand({ VpcEndpointId, RemoveSubnetIds: [subnet] })));
}

/** Deletes the endpoint, and the group once no interface uses it. */
async function leaveVpc(aws: Aws, vpc: string): Promise<void> {
  const ids = (await endpointsOf(aws, vpc)).flatMap(({ VpcEndpointId }) => VpcEndpointId ?? []);
  if (ids.length > 0) {
    await api(aws).send(new sdk.DeleteVpcEndpointsCommand({ VpcEndpointIds: ids }));
    await poll({ what: `VPC endpoints ${ids.join(", ")} to be deleted`, timeout: aws.timeout }, async () =>
      (await endpointsOf(aws, vpc)).length === 0 ? true : undefined,
    );
  }
  const name = { Name: "group-name", Values: [`GuardDutyManagedSecurityGroup-${vpc}`] };
  const Filters = [{ Name: "vpc-id", Values: [vpc] }, name, managed];
  const { SecurityGroups = [] } = await api(aws).send(new sdk.DescribeSecurityGroupsCommand({ Filters }));
  for (const { GroupId } of SecurityGroups)
    await orGone(api(aws).send(new sdk.DeleteSecurityGroupCommand({ GroupId })));
}

/** Runs a deletion, and again without what GuardDuty created if AWS rejects it for dependencies and the caller may remove that. */
async function without(clean: () => Promise<void>, remove: () => Promise<unknown>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    if (!hasCode(error, "DependencyViolation")) throw error;
    try {
      await clean();
    } catch (refusal) {
      throw hasCode(refusal, "UnauthorizedOperation", "AccessDenied") ? error : refusal;
    }
    await remove();
  }
}

export const deleteSubnet = (aws: Aws, id: string, vpc: string): Promise<void> =>
  without(
    () => leaveSubnet(aws, vpc, id),
    () => api(aws).send(new sdk.DeleteSubnetCommand({ SubnetId: id })),
  );

export const deleteVpc = (aws: Aws, id: string): Promise<void> =>
  without(
    () => leaveVpc(aws, id),
    () => api(aws).send(new sdk.DeleteVpcCommand({ VpcId: id })),
  );
