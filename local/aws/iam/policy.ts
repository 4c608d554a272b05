import {
  CreatePolicyCommand,
  CreatePolicyVersionCommand,
  DeletePolicyCommand,
  DeletePolicyVersionCommand,
  GetPolicyCommand,
  GetPolicyVersionCommand,
  ListPolicyVersionsCommand,
  TagPolicyCommand,
  UntagPolicyCommand,
} from "@aws-sdk/client-iam";
import type { Aws } from "../clients.ts";
import { samePolicy } from "../compare.ts";
import { orGone } from "../errors.ts";
import { resource, type Tagged } from "../handler.ts";
import { syncTags, tagPairs, tagsFrom } from "../tags.ts";
import { iamTags } from "./tags.ts";

interface Inputs extends Tagged {
  name: string;
  path?: string;
  policy: string;
  description?: string;
}

/** AWS keeps at most five versions of a policy. */
const maxVersions = 5;

async function otherVersions(aws: Aws, arn: string) {
  const versions = await orGone(aws.iam.send(new ListPolicyVersionsCommand({ PolicyArn: arn })));
  return (versions?.Versions ?? [])
    .filter(({ IsDefaultVersion }) => !IsDefaultVersion)
    .sort((a, b) => (a.CreateDate?.getTime() ?? 0) - (b.CreateDate?.getTime() ?? 0));
}

const deleteVersion = (aws: Aws, arn: string, version: string | undefined) =>
  orGone(aws.iam.send(new DeletePolicyVersionCommand({ PolicyArn: arn, VersionId: version })));

async function newVersion(aws: Aws, arn: string, document: string): Promise<void> {
  const others = await otherVersions(aws, arn);
  if (others.length + 1 >= maxVersions) await deleteVersion(aws, arn, others[0]?.VersionId);
  await aws.iam.send(new CreatePolicyVersionCommand({ PolicyArn: arn, PolicyDocument: document, SetAsDefault: true }));
}

export const policy = resource<Inputs>({
  token: "aws:iam/policy:Policy",
  regional: false,
  tagged: true,
  inputs: ["name", "path", "policy", "description"],
  replaceOn: ["name", "path", "description"],
  defaults: { path: "/" },
  autoName: { property: "name", maxLength: 128 },
  compare: { policy: samePolicy },

  async create(aws, inputs) {
    const { Policy } = await aws.iam.send(
      new CreatePolicyCommand({
        PolicyName: inputs.name,
        Path: inputs.path,
        PolicyDocument: inputs.policy,
        Description: inputs.description,
        ...iamTags(inputs.tagsAll),
      }),
    );
    return Policy?.Arn as string;
  },

  async read(aws, id) {
    const actual = (await orGone(aws.iam.send(new GetPolicyCommand({ PolicyArn: id }))))?.Policy;
    if (!actual) return null;
    const { PolicyVersion } = await aws.iam.send(
      new GetPolicyVersionCommand({ PolicyArn: id, VersionId: actual.DefaultVersionId }),
    );
    return {
      arn: actual.Arn,
      attachmentCount: actual.AttachmentCount,
      description: actual.Description || undefined,
      name: actual.PolicyName,
      path: actual.Path,
      policy: decodeURIComponent(PolicyVersion?.Document ?? ""),
      policyId: actual.PolicyId,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  async update(aws, id, change) {
    if (change.has("policy")) await newVersion(aws, id, change.new.policy);
    await syncTags(
      change,
      (tags) => aws.iam.send(new TagPolicyCommand({ PolicyArn: id, Tags: tagPairs(tags) })),
      (keys) => aws.iam.send(new UntagPolicyCommand({ PolicyArn: id, TagKeys: keys })),
    );
  },

  async delete(aws, id) {
    for (const { VersionId } of await otherVersions(aws, id)) await deleteVersion(aws, id, VersionId);
    await orGone(aws.iam.send(new DeletePolicyCommand({ PolicyArn: id })));
  },
});
