import {
  CreateLaunchTemplateCommand,
  CreateLaunchTemplateVersionCommand,
  DeleteLaunchTemplateCommand,
  DescribeLaunchTemplatesCommand,
  DescribeLaunchTemplateVersionsCommand,
  DescribeTagsCommand,
  ModifyLaunchTemplateCommand,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { resource, type Tagged, type Tags } from "../handler.ts";
import { tagsFrom } from "../tags.ts";
import {
  dataProperties,
  type LaunchTemplateData,
  launchTemplateDataInputs,
  requestData,
} from "./launch-template-data.ts";
import { syncEc2Tags, tagSpecifications } from "./tags.ts";

interface Inputs extends Tagged, LaunchTemplateData {
  name: string;
  description?: string;
  defaultVersion?: number;
  updateDefaultVersion?: boolean;
}

const dataNames = [...new Set(launchTemplateDataInputs.map((path) => path.split(".")[0] as keyof LaunchTemplateData))];

const setDefault = (aws: Aws, id: string, version: number) =>
  aws.ec2.send(new ModifyLaunchTemplateCommand({ LaunchTemplateId: id, DefaultVersion: String(version) }));

/** By DescribeTags, because ministack describes a template with the tags that it was created with. */
async function tagsOf(aws: Aws, id: string): Promise<Tags> {
  const { Tags } = await aws.ec2.send(new DescribeTagsCommand({ Filters: [{ Name: "resource-id", Values: [id] }] }));
  return tagsFrom(Tags);
}

async function addVersion(aws: Aws, id: string, inputs: Inputs): Promise<number> {
  const { LaunchTemplateVersion } = await aws.ec2.send(
    new CreateLaunchTemplateVersionCommand({
      LaunchTemplateId: id,
      VersionDescription: inputs.description,
      LaunchTemplateData: requestData(inputs),
    }),
  );
  return LaunchTemplateVersion?.VersionNumber as number;
}

export const launchTemplate = resource<Inputs>({
  token: "aws:ec2/launchTemplate:LaunchTemplate",
  tagged: true,
  inputs: ["name", "description", "defaultVersion", "updateDefaultVersion", ...launchTemplateDataInputs],
  computed: ["defaultVersion", "metadataOptions"],
  replaceOn: ["name"],
  autoName: { property: "name", maxLength: 128 },
  sets: ["vpcSecurityGroupIds"],
  unread: ["updateDefaultVersion"],
  changedByUpdate: ["latestVersion", "defaultVersion"],

  validate(inputs) {
    if (inputs.defaultVersion !== undefined && inputs.updateDefaultVersion !== undefined)
      return [{ property: "updateDefaultVersion", reason: "set defaultVersion or updateDefaultVersion, not both" }];
    return [];
  },

  async create(aws, inputs) {
    const { LaunchTemplate } = await aws.ec2.send(
      new CreateLaunchTemplateCommand({
        LaunchTemplateName: inputs.name,
        VersionDescription: inputs.description,
        LaunchTemplateData: requestData(inputs),
        ...tagSpecifications("launch-template", inputs.tagsAll),
      }),
    );
    return LaunchTemplate?.LaunchTemplateId as string;
  },

  async read(aws, id) {
    const found = await orGone(aws.ec2.send(new DescribeLaunchTemplatesCommand({ LaunchTemplateIds: [id] })));
    const actual = found?.LaunchTemplates?.[0];
    if (!actual) return null;
    const latest = String(actual.LatestVersionNumber);
    const { LaunchTemplateVersions } = await aws.ec2.send(
      new DescribeLaunchTemplateVersionsCommand({ LaunchTemplateId: id, Versions: [latest] }),
    );
    const version = LaunchTemplateVersions?.[0];
    return {
      ...dataProperties(version?.LaunchTemplateData ?? {}),
      arn: `arn:${aws.partition}:ec2:${aws.region}:${await aws.accountId()}:launch-template/${id}`,
      defaultVersion: actual.DefaultVersionNumber,
      description: version?.VersionDescription,
      latestVersion: actual.LatestVersionNumber,
      name: actual.LaunchTemplateName,
      tagsAll: await tagsOf(aws, id),
    };
  },

  async update(aws, id, change) {
    const changed = change.has("description", ...dataNames);
    const version = changed ? await addVersion(aws, id, change.new) : undefined;
    const wanted = change.new.updateDefaultVersion
      ? version
      : change.has("defaultVersion") && change.new.defaultVersion;
    if (wanted) await setDefault(aws, id, wanted);
    await syncEc2Tags(aws, id, change);
  },

  async delete(aws, id) {
    await orGone(aws.ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateId: id })));
  },
});
