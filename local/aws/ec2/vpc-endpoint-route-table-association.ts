import { DescribeVpcEndpointsCommand, ModifyVpcEndpointCommand, type VpcEndpoint } from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { resource, splitImportId } from "../handler.ts";

interface Inputs {
  routeTableId: string;
  vpcEndpointId: string;
}

/** Endpoint and route table, as one imports it: the form of upstream's external name too. */
const idOf = ({ vpcEndpointId, routeTableId }: Inputs): string => `${vpcEndpointId}/${routeTableId}`;

const partsOf = (id: string): Inputs => splitImportId(id, "/", "vpcEndpointId", "routeTableId") as unknown as Inputs;

async function endpoint(aws: Aws, id: string): Promise<VpcEndpoint | undefined> {
  const found = await orGone(aws.ec2.send(new DescribeVpcEndpointsCommand({ VpcEndpointIds: [id] })));
  return found?.VpcEndpoints?.[0];
}

/** One route table of a gateway endpoint: EC2 keeps a route to the service in it. */
export const vpcEndpointRouteTableAssociation = resource<Inputs>({
  token: "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation",
  inputs: ["routeTableId", "vpcEndpointId"],
  replaceOn: ["routeTableId", "vpcEndpointId"],

  async create(aws, inputs) {
    const { routeTableId, vpcEndpointId } = inputs;
    await aws.ec2.send(
      new ModifyVpcEndpointCommand({ VpcEndpointId: vpcEndpointId, AddRouteTableIds: [routeTableId] }),
    );
    return idOf(inputs);
  },

  async read(aws, id) {
    const parts = partsOf(id);
    const actual = await endpoint(aws, parts.vpcEndpointId);
    return actual?.RouteTableIds?.includes(parts.routeTableId) ? { ...parts } : null;
  },

  async delete(aws, id) {
    const { routeTableId, vpcEndpointId } = partsOf(id);
    const actual = await endpoint(aws, vpcEndpointId);
    if (!actual?.RouteTableIds?.includes(routeTableId)) return;
    await aws.ec2.send(
      new ModifyVpcEndpointCommand({ VpcEndpointId: vpcEndpointId, RemoveRouteTableIds: [routeTableId] }),
    );
  },
});
