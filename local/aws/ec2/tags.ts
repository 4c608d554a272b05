import { CreateTagsCommand, DeleteTagsCommand, type ResourceType } from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import type { Tagged, Tags } from "../handler.ts";
import { syncTags, tagPairs } from "../tags.ts";

/** Tags at creation; nothing when there are none (EC2 refuses an empty list). */
export function tagSpecifications(type: ResourceType, tags: Tags | undefined) {
  if (!tags || Object.keys(tags).length === 0) return {};
  return { TagSpecifications: [{ ResourceType: type, Tags: tagPairs(tags) }] };
}

export function syncEc2Tags(aws: Aws, id: string, change: { old: Tagged; new: Tagged }): Promise<void> {
  return syncTags(
    change,
    (tags) => aws.ec2.send(new CreateTagsCommand({ Resources: [id], Tags: tagPairs(tags) })),
    (keys) => aws.ec2.send(new DeleteTagsCommand({ Resources: [id], Tags: keys.map((Key) => ({ Key })) })),
  );
}

/** ARN of an EC2 object. */
export function ec2Arn(aws: Aws, owner: string | undefined, type: string, id: string): string {
  return `arn:${aws.partition}:ec2:${aws.region}:${owner ?? ""}:${type}/${id}`;
}
