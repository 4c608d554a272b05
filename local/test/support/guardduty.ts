import type { EC2 } from "@aws-sdk/client-ec2";
import { REGION } from "../../gateway/ministack.ts";

const Tags = [{ Key: "GuardDutyManaged", Value: "true" }];

/**
 * Creates what GuardDuty Runtime Monitoring creates in a VPC with a cluster: an endpoint in its subnets and the endpoint's security group, with
 * the names and the tag that terraform-provider-aws#46953 looks for. Nothing but this call creates them: the emulator has no GuardDuty.
 * @param ec2 with the account's rights: GuardDuty acts by its service-linked role
 */
export async function addGuardDuty(
  ec2: EC2,
  VpcId: string,
  SubnetIds: string[],
): Promise<{ endpoint: string; group: string }> {
  const { GroupId = "" } = await ec2.createSecurityGroup({
    ...{ VpcId, GroupName: `GuardDutyManagedSecurityGroup-${VpcId}` },
    Description: `Associated with VPC-${VpcId} and tagged as GuardDutyManaged`,
    TagSpecifications: [{ ResourceType: "security-group", Tags }],
  });
  const { VpcEndpoint } = await ec2.createVpcEndpoint({
    ...{ VpcId, SubnetIds, SecurityGroupIds: [GroupId], VpcEndpointType: "Interface", PrivateDnsEnabled: false },
    ServiceName: `com.amazonaws.${REGION}.guardduty-data`,
    TagSpecifications: [{ ResourceType: "vpc-endpoint", Tags }],
  });
  return { endpoint: VpcEndpoint?.VpcEndpointId ?? "", group: GroupId };
}
