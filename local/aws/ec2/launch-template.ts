import * as sdk from "@aws-sdk/client-ec2";
import { computed, type Field, fixed, type Item, out } from "../define/fields.ts";
import { requestOf } from "../define/mapping.ts";
import { define } from "../define/resource.ts";
import type { Tags } from "../properties.ts";
import { tagPairs, tagsFrom } from "../tags.ts";
import { api, ec2Tags, send } from "./define.ts";

const text = (value: unknown): string | undefined => (typeof value === "boolean" ? String(value) : undefined);

/** The schema has texts for booleans that can also be unset. */
const flag = (api: string): Field => ({
  put: (value: string) => value === "true",
  get: ({ [api]: value }) => text(value),
});

/** What a version of a template holds. */
const data = {
  blockDeviceMappings: {
    type: {
      blocks: {
        deviceName: {},
        ebs: {
          type: {
            block: {
              deleteOnTermination: flag("DeleteOnTermination"),
              encrypted: flag("Encrypted"),
              kmsKeyId: {},
              volumeSize: { type: "number" },
              volumeType: {},
            },
          },
        },
      },
    },
  },
  metadataOptions: {
    computed,
    type: { block: { httpEndpoint: {}, httpPutResponseHopLimit: { type: "number" }, httpTokens: {} } },
  },
  tagSpecifications: {
    type: {
      blocks: {
        resourceType: {},
        tags: {
          type: "map",
          put: (tags: Tags) => tagPairs(tags),
          get: ({ Tags: pairs }) => tagsFrom(pairs as Parameters<typeof tagsFrom>[0]),
        },
      },
    },
  },
} as const satisfies Record<string, Field>;
const dataNames = Object.keys(data) as (keyof typeof data)[];

const versioned = (request: Item, { description }: { description?: string | undefined }, inputs: Item): Item => ({
  ...request,
  VersionDescription: description,
  LaunchTemplateData: requestOf(data, inputs, "pascal"),
});

export const launchTemplate = define({
  token: "aws:ec2/launchTemplate:LaunchTemplate",
  crossplane: { kind: "ec2/LaunchTemplate", generatedName: "name" },
  tags: {
    ...ec2Tags("launch-template"),
    // ministack describes a template with the tags that it was created with.
    of: async (aws, id) => {
      const Filters = [{ Name: "resource-id", Values: [id] }];
      return tagsFrom((await api(aws).send(new sdk.DescribeTagsCommand({ Filters }))).Tags);
    },
  },
  autoName: { property: "name", maxLength: 128 },
  fields: {
    ...data,
    name: { fixed, api: "LaunchTemplateName" },
    description: { api: "VersionDescription" },
    updateDefaultVersion: { type: "boolean", api: null, unread: true },
    arn: out("Arn"),
    defaultVersion: out("DefaultVersionNumber", { type: "number", updated: true }),
    latestVersion: out("LatestVersionNumber", { type: "number", updated: true }),
  },
  async create(aws, _request, inputs) {
    // The template's own tags: those of `tagSpecifications` are of what is made from it.
    const own = (inputs as { tagsAll?: Tags }).tagsAll ?? {};
    const tags = Object.keys(own).length > 0 ? ec2Tags("launch-template").request?.(own) : {};
    const request = { LaunchTemplateName: inputs.name, ...tags };
    const answer = await send(aws, sdk.CreateLaunchTemplateCommand, versioned(request, inputs, inputs));
    return (answer["LaunchTemplate"] as { LaunchTemplateId?: string }).LaunchTemplateId;
  },
  async find(aws, id) {
    const { LaunchTemplates } = await api(aws).send(
      new sdk.DescribeLaunchTemplatesCommand({ LaunchTemplateIds: [id] }),
    );
    return LaunchTemplates?.[0];
  },
  async also(aws, id, { LatestVersionNumber }) {
    const Versions = [String(LatestVersionNumber)];
    const versions = await api(aws).send(
      new sdk.DescribeLaunchTemplateVersionsCommand({ LaunchTemplateId: id, Versions }),
    );
    const { LaunchTemplateData, VersionDescription } = versions.LaunchTemplateVersions?.[0] ?? {};
    const Arn = `arn:${aws.partition}:ec2:${aws.region}:${await aws.accountId()}:launch-template/${id}`;
    return { ...LaunchTemplateData, VersionDescription, Arn };
  },
  settings: [
    {
      fields: ["description", ...dataNames],
      async call(aws, id, inputs) {
        const request = versioned({ LaunchTemplateId: id }, inputs, inputs);
        const answer = await send(aws, sdk.CreateLaunchTemplateVersionCommand, request);
        const version = (answer["LaunchTemplateVersion"] as { VersionNumber?: number }).VersionNumber;
        if (inputs.updateDefaultVersion)
          await api(aws).send(
            new sdk.ModifyLaunchTemplateCommand({ LaunchTemplateId: id, DefaultVersion: String(version) }),
          );
      },
    },
  ],
  delete: (aws, id) => api(aws).send(new sdk.DeleteLaunchTemplateCommand({ LaunchTemplateId: id })),
});
