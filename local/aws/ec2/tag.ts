import { CreateTagsCommand, DeleteTagsCommand, DescribeTagsCommand } from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { resource, splitImportId } from "../handler.ts";

interface Inputs {
  resourceId: string;
  key: string;
  value: string;
}

const set = (aws: Aws, { resourceId, key, value }: Inputs) =>
  aws.ec2.send(new CreateTagsCommand({ Resources: [resourceId], Tags: [{ Key: key, Value: value }] }));

/** One tag on a resource that something else owns. */
export const tag = resource<Inputs>({
  token: "aws:ec2/tag:Tag",
  inputs: ["resourceId", "key", "value"],
  replaceOn: ["resourceId", "key"],

  async create(aws, inputs) {
    await set(aws, inputs);
    return `${inputs.resourceId},${inputs.key}`;
  },

  async read(aws, id) {
    const { resourceId, key } = splitImportId(id, ",", "resourceId", "key") as Record<string, string>;
    const filters = [
      { Name: "resource-id", Values: [resourceId as string] },
      { Name: "key", Values: [key as string] },
    ];
    const { Tags } = await aws.ec2.send(new DescribeTagsCommand({ Filters: filters }));
    const actual = Tags?.find(({ Key, ResourceId }) => Key === key && ResourceId === resourceId);
    return actual ? { resourceId, key, value: actual.Value } : null;
  },

  async update(aws, _id, change) {
    await set(aws, change.new);
  },

  async delete(aws, _id, { resourceId, key }) {
    await orGone(aws.ec2.send(new DeleteTagsCommand({ Resources: [resourceId as string], Tags: [{ Key: key }] })));
  },
});
