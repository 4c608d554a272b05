/** Flow logs of VPCs, which are written to a log group of CloudWatch. */
import * as sdk from "@aws-sdk/client-ec2";
import { fixed } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { api, arnOf, ec2Tags } from "./define.ts";

export const flowLog = define({
  token: "aws:ec2/flowLog:FlowLog",
  crossplane: { kind: "ec2/FlowLog" },
  tags: ec2Tags("vpc-flow-log"),
  fields: {
    vpcId: { fixed, api: "ResourceIds", put: (id: string) => [id], get: ({ ResourceId }) => ResourceId },
    trafficType: { fixed },
    iamRoleArn: { fixed, api: "DeliverLogsPermissionArn" },
    logDestination: { fixed },
    logDestinationType: { fixed, default: "cloud-watch-logs" },
    arn: arnOf("vpc-flow-log"),
  },
  async create(aws, request) {
    const made = await api(aws).send(new sdk.CreateFlowLogsCommand({ ...request, ResourceType: "VPC" } as never));
    const failure = made.Unsuccessful?.[0]?.Error;
    if (failure) throw new Error(`${failure.Code}: ${failure.Message}`);
    return made.FlowLogIds?.[0];
  },
  find: async (aws, id) => (await api(aws).send(new sdk.DescribeFlowLogsCommand({ FlowLogIds: [id] }))).FlowLogs?.[0],
  also: async (aws) => ({ OwnerId: await aws.accountId() }),
  async delete(aws, id) {
    const { Unsuccessful } = await api(aws).send(new sdk.DeleteFlowLogsCommand({ FlowLogIds: [id] }));
    const failure = Unsuccessful?.[0]?.Error;
    if (failure && !failure.Code?.endsWith("NotFound")) throw new Error(`${failure.Code}: ${failure.Message}`);
  },
});
