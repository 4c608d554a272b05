import { DeleteRolePolicyCommand, GetRolePolicyCommand, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import type { Aws } from "../clients.ts";
import { samePolicy } from "../compare.ts";
import { orGone } from "../errors.ts";
import { resource, splitImportId } from "../handler.ts";

interface Inputs {
  name: string;
  role: string;
  policy: string;
}

const put = (aws: Aws, { name, role, policy }: Inputs) =>
  aws.iam.send(new PutRolePolicyCommand({ RoleName: role, PolicyName: name, PolicyDocument: policy }));

const parse = (id: string) => splitImportId(id, ":", "role", "name") as { role: string; name: string };

export const rolePolicy = resource<Inputs>({
  token: "aws:iam/rolePolicy:RolePolicy",
  regional: false,
  inputs: ["name", "role", "policy"],
  replaceOn: ["name", "role"],
  autoName: { property: "name", maxLength: 128 },
  compare: { policy: samePolicy },

  async create(aws, inputs) {
    await put(aws, inputs);
    return `${inputs.role}:${inputs.name}`;
  },

  async read(aws, id) {
    const { role, name } = parse(id);
    const actual = await orGone(aws.iam.send(new GetRolePolicyCommand({ RoleName: role, PolicyName: name })));
    return actual ? { role, name, policy: decodeURIComponent(actual.PolicyDocument ?? "") } : null;
  },

  async update(aws, _id, change) {
    await put(aws, change.new);
  },

  async delete(aws, id) {
    const { role, name } = parse(id);
    await orGone(aws.iam.send(new DeleteRolePolicyCommand({ RoleName: role, PolicyName: name })));
  },
});
