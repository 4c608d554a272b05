import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  DeleteInstanceProfileCommand,
  GetInstanceProfileCommand,
  RemoveRoleFromInstanceProfileCommand,
  TagInstanceProfileCommand,
  UntagInstanceProfileCommand,
} from "@aws-sdk/client-iam";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { syncTags, tagPairs, tagsFrom } from "../tags.ts";
import { iamTags } from "./tags.ts";

interface Inputs extends Tagged {
  name: string;
  path?: string;
  role?: string;
}

const add = (aws: Aws, profile: string, role: string) =>
  aws.iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName: profile, RoleName: role }));

const remove = (aws: Aws, profile: string, role: string) =>
  orGone(aws.iam.send(new RemoveRoleFromInstanceProfileCommand({ InstanceProfileName: profile, RoleName: role })));

async function find(aws: Aws, id: string) {
  const found = await orGone(aws.iam.send(new GetInstanceProfileCommand({ InstanceProfileName: id })));
  return found?.InstanceProfile;
}

export const instanceProfile = resource<Inputs>({
  token: "aws:iam/instanceProfile:InstanceProfile",
  regional: false,
  tagged: true,
  inputs: ["name", "path", "role"],
  replaceOn: ["name", "path"],
  defaults: { path: "/" },
  autoName: { property: "name", maxLength: 128 },

  async create(aws, inputs) {
    await aws.iam.send(
      new CreateInstanceProfileCommand({
        InstanceProfileName: inputs.name,
        Path: inputs.path,
        ...iamTags(inputs.tagsAll),
      }),
    );
    return finishing(inputs.name, async (id) => {
      if (inputs.role) await add(aws, id, inputs.role);
    });
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    return {
      arn: actual.Arn,
      createDate: actual.CreateDate?.toISOString(),
      name: actual.InstanceProfileName,
      path: actual.Path,
      role: actual.Roles?.[0]?.RoleName,
      tagsAll: tagsFrom(actual.Tags),
      uniqueId: actual.InstanceProfileId,
    };
  },

  async update(aws, id, change) {
    if (change.has("role")) {
      if (change.old.role) await remove(aws, id, change.old.role);
      if (change.new.role) await add(aws, id, change.new.role);
    }
    await syncTags(
      change,
      (tags) => aws.iam.send(new TagInstanceProfileCommand({ InstanceProfileName: id, Tags: tagPairs(tags) })),
      (keys) => aws.iam.send(new UntagInstanceProfileCommand({ InstanceProfileName: id, TagKeys: keys })),
    );
  },

  async delete(aws, id) {
    for (const { RoleName } of (await find(aws, id))?.Roles ?? []) if (RoleName) await remove(aws, id, RoleName);
    await orGone(aws.iam.send(new DeleteInstanceProfileCommand({ InstanceProfileName: id })));
  },
});
