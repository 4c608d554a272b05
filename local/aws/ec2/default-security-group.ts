import { DescribeSecurityGroupsCommand } from "@aws-sdk/client-ec2";
import { finishing, resource, type Tagged } from "../handler.ts";
import type { RuleBlock } from "./permissions.ts";
import { findGroup, groupProperties, ruleInputs, sameRules, setRules } from "./security-group.ts";
import { syncEc2Tags } from "./tags.ts";

interface Inputs extends Tagged {
  vpcId: string;
  ingress?: RuleBlock[];
  egress?: RuleBlock[];
}

/** The group that AWS makes with a VPC: adopted, emptied to the rules of the program, never deleted (as in Terraform). */
export const defaultSecurityGroup = resource<Inputs>({
  token: "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
  tagged: true,
  inputs: ["vpcId", ...ruleInputs],
  replaceOn: ["vpcId"],
  compare: { ingress: sameRules, egress: sameRules },

  async create(aws, inputs) {
    const filters = [
      { Name: "group-name", Values: ["default"] },
      { Name: "vpc-id", Values: [inputs.vpcId] },
    ];
    const { SecurityGroups } = await aws.ec2.send(new DescribeSecurityGroupsCommand({ Filters: filters }));
    const group = SecurityGroups?.[0];
    if (!group) throw new Error(`VPC ${inputs.vpcId} has no default security group`);
    return finishing(group.GroupId, async (id) => {
      await setRules(aws, id, "ingress", inputs.ingress ?? []);
      await setRules(aws, id, "egress", inputs.egress ?? []);
      await syncEc2Tags(aws, id, { old: {}, new: inputs });
    });
  },

  async read(aws, id) {
    const actual = await findGroup(aws, id);
    return actual ? groupProperties(aws, id, actual) : null;
  },

  async update(aws, id, change) {
    if (change.has("ingress")) await setRules(aws, id, "ingress", change.new.ingress ?? []);
    if (change.has("egress")) await setRules(aws, id, "egress", change.new.egress ?? []);
    await syncEc2Tags(aws, id, change);
  },

  delete: () => Promise.resolve(), // it goes with its VPC
});
