import * as sdk from "@aws-sdk/client-iam";
import type { Aws } from "../connection.ts";
import { fixed, out } from "../define/fields.ts";
import { define, pairTags } from "../define/resource.ts";
import { orGone } from "../errors.ts";
import { api, policyDocument } from "./common.ts";

/** AWS keeps at most five versions of a policy. */
const maxVersions = 5;

async function otherVersions(aws: Aws, PolicyArn: string) {
  const versions = await orGone(api(aws).send(new sdk.ListPolicyVersionsCommand({ PolicyArn })));
  return (versions?.Versions ?? [])
    .filter(({ IsDefaultVersion }) => !IsDefaultVersion)
    .sort((a, b) => (a.CreateDate?.getTime() ?? 0) - (b.CreateDate?.getTime() ?? 0));
}

export const policy = define({
  token: "aws:iam/policy:Policy",
  regional: false,
  autoName: { property: "name", maxLength: 128 },
  tags: pairTags(
    (aws, PolicyArn, Tags) => api(aws).send(new sdk.TagPolicyCommand({ PolicyArn, Tags })),
    (aws, PolicyArn, TagKeys) => api(aws).send(new sdk.UntagPolicyCommand({ PolicyArn, TagKeys })),
  ),
  fields: {
    name: { fixed, api: "PolicyName" },
    path: { fixed, default: "/" },
    description: { fixed },
    policy: policyDocument("PolicyDocument"),
    arn: out(),
    attachmentCount: out(undefined, { type: "number" }),
    policyId: out(),
  },
  create: async (aws, request) => (await api(aws).send(new sdk.CreatePolicyCommand(request as never))).Policy?.Arn,
  find: async (aws, PolicyArn) => (await api(aws).send(new sdk.GetPolicyCommand({ PolicyArn }))).Policy,
  async also(aws, PolicyArn, { DefaultVersionId }) {
    const version = new sdk.GetPolicyVersionCommand({ PolicyArn, VersionId: DefaultVersionId as string });
    return { PolicyDocument: (await api(aws).send(version)).PolicyVersion?.Document };
  },
  settings: [
    {
      fields: ["policy"],
      async call(aws, PolicyArn, { policy: PolicyDocument }) {
        const others = await otherVersions(aws, PolicyArn);
        if (others.length + 1 >= maxVersions)
          await orGone(
            api(aws).send(new sdk.DeletePolicyVersionCommand({ PolicyArn, VersionId: others[0]?.VersionId })),
          );
        await api(aws).send(new sdk.CreatePolicyVersionCommand({ PolicyArn, PolicyDocument, SetAsDefault: true }));
      },
    },
  ],
  async delete(aws, PolicyArn) {
    for (const { VersionId } of await otherVersions(aws, PolicyArn))
      await orGone(api(aws).send(new sdk.DeletePolicyVersionCommand({ PolicyArn, VersionId })));
    await api(aws).send(new sdk.DeletePolicyCommand({ PolicyArn }));
  },
});
