import { DescribeTagsCommand, type ResourceType, type TagDescription } from "@aws-sdk/client-ec2";
import type { Aws } from "../../../aws/connection.ts";
import { routeTableAssociation } from "../../../aws/ec2/route-table-association.ts";
import type { Tags } from "../../../aws/handler.ts";
import type { Kind } from "../kind.ts";
import { defaultTagKeys } from "../tags.ts";

type Recover = NonNullable<Kind["recover"]>;

const tagsWith = async (aws: Aws, filters: Record<string, string[]>): Promise<TagDescription[]> => {
  const Filters = Object.entries(filters).map(([Name, Values]) => ({ Name, Values }));
  return (await aws.ec2.send(new DescribeTagsCommand({ Filters }))).Tags ?? [];
};

/** Finds an EC2 resource by all the tags that it was to be made with; they hold the object's kind and name. */
export const byTags =
  (type: ResourceType): Recover =>
  async (aws, inputs, { name }) => {
    const wanted = (inputs["tagsAll"] ?? {}) as Tags;
    if (wanted[defaultTagKeys.name] !== name)
      throw new Error(
        `its creation was interrupted, and without the tag ${defaultTagKeys.name} nobody can tell whether it was made. ` +
          "Look for it in AWS: set the annotation crossplane.io/external-name to its id, or remove crossplane.io/external-create-pending",
      );
    const candidates = await tagsWith(aws, {
      "resource-type": [type],
      key: [defaultTagKeys.name],
      value: [name],
    });
    const ids = candidates.flatMap(({ ResourceId }) => ResourceId ?? []);
    if (ids.length === 0) return undefined;
    const all = await tagsWith(aws, { "resource-id": ids });
    const has = (id: string, key: string, value: string) =>
      all.some((tag) => tag.ResourceId === id && tag.Key === key && tag.Value === value);
    const found = ids.filter((id) => Object.entries(wanted).every(([key, value]) => has(id, key, value)));
    if (found.length > 1)
      throw new Error(
        `its creation was interrupted, and more than one ${type} has its tags: ${found.join(", ")}. ` +
          "Set the annotation crossplane.io/external-name to the right one and delete the others in AWS",
      );
    return found[0];
  };

/** A subnet or gateway has one association at most. */
export const associationOf: Recover = async (aws, inputs) => {
  const target = inputs["subnetId"] ?? inputs["gatewayId"];
  try {
    return (await routeTableAssociation.importId?.(aws, `${String(target)}/${String(inputs["routeTableId"])}`))?.id;
  } catch (error) {
    if (/has no association with/.test((error as Error).message)) return undefined;
    throw error;
  }
};
