/** Launch template data: between the blocks of the schema and the EC2 API. */
import type { RequestLaunchTemplateData, ResponseLaunchTemplateData } from "@aws-sdk/client-ec2";

export interface LaunchTemplateData {
  blockDeviceMappings?: {
    deviceName?: string;
    ebs?: {
      deleteOnTermination?: string;
      encrypted?: string;
      iops?: number;
      kmsKeyId?: string;
      snapshotId?: string;
      throughput?: number;
      volumeSize?: number;
      volumeType?: string;
    };
  }[];
  ebsOptimized?: string;
  iamInstanceProfile?: { arn?: string; name?: string };
  imageId?: string;
  instanceType?: string;
  keyName?: string;
  metadataOptions?: {
    httpEndpoint?: string;
    httpProtocolIpv6?: string;
    httpPutResponseHopLimit?: number;
    httpTokens?: string;
    instanceMetadataTags?: string;
  };
  monitoring?: { enabled?: boolean };
  tagSpecifications?: { resourceType?: string; tags?: Record<string, string> }[];
  userData?: string;
  vpcSecurityGroupIds?: string[];
}

/** Paths of the inputs above. */
export const launchTemplateDataInputs = [
  "blockDeviceMappings.deviceName",
  ...[
    "deleteOnTermination",
    "encrypted",
    "iops",
    "kmsKeyId",
    "snapshotId",
    "throughput",
    "volumeSize",
    "volumeType",
  ].map((name) => `blockDeviceMappings.ebs.${name}`),
  "ebsOptimized",
  "iamInstanceProfile.arn",
  "iamInstanceProfile.name",
  "imageId",
  "instanceType",
  "keyName",
  ...["httpEndpoint", "httpProtocolIpv6", "httpPutResponseHopLimit", "httpTokens", "instanceMetadataTags"].map(
    (name) => `metadataOptions.${name}`,
  ),
  "monitoring.enabled",
  "tagSpecifications.resourceType",
  "tagSpecifications.tags.*",
  "userData",
  "vpcSecurityGroupIds",
];

// The schema has texts for booleans that can also be unset.
const flag = (text: string | undefined): boolean | undefined => (text ? text === "true" : undefined);
const text = (value: boolean | undefined): string | undefined => (value === undefined ? undefined : String(value));

export function requestData(data: LaunchTemplateData): RequestLaunchTemplateData {
  return {
    BlockDeviceMappings: data.blockDeviceMappings?.map(({ deviceName, ebs }) => ({
      DeviceName: deviceName,
      Ebs: ebs && {
        DeleteOnTermination: flag(ebs.deleteOnTermination),
        Encrypted: flag(ebs.encrypted),
        Iops: ebs.iops,
        KmsKeyId: ebs.kmsKeyId,
        SnapshotId: ebs.snapshotId,
        Throughput: ebs.throughput,
        VolumeSize: ebs.volumeSize,
        VolumeType: ebs.volumeType as never,
      },
    })),
    EbsOptimized: flag(data.ebsOptimized),
    IamInstanceProfile: data.iamInstanceProfile && {
      Arn: data.iamInstanceProfile.arn,
      Name: data.iamInstanceProfile.name,
    },
    ImageId: data.imageId,
    InstanceType: data.instanceType as never,
    KeyName: data.keyName,
    MetadataOptions: data.metadataOptions && {
      HttpEndpoint: data.metadataOptions.httpEndpoint as never,
      HttpProtocolIpv6: data.metadataOptions.httpProtocolIpv6 as never,
      HttpPutResponseHopLimit: data.metadataOptions.httpPutResponseHopLimit,
      HttpTokens: data.metadataOptions.httpTokens as never,
      InstanceMetadataTags: data.metadataOptions.instanceMetadataTags as never,
    },
    Monitoring: data.monitoring && { Enabled: data.monitoring.enabled },
    TagSpecifications: data.tagSpecifications?.map(({ resourceType, tags }) => ({
      ResourceType: resourceType as never,
      Tags: Object.entries(tags ?? {}).map(([Key, Value]) => ({ Key, Value })),
    })),
    UserData: data.userData,
    SecurityGroupIds: data.vpcSecurityGroupIds,
  };
}

/** Blocks that are not in the template are absent. */
export function dataProperties(data: ResponseLaunchTemplateData): Record<string, unknown> {
  const { MetadataOptions: metadata, IamInstanceProfile: profile, Monitoring: monitoring } = data;
  return {
    blockDeviceMappings: data.BlockDeviceMappings?.map(({ DeviceName, Ebs }) => ({
      deviceName: DeviceName,
      ebs: Ebs && {
        deleteOnTermination: text(Ebs.DeleteOnTermination),
        encrypted: text(Ebs.Encrypted),
        iops: Ebs.Iops,
        kmsKeyId: Ebs.KmsKeyId,
        snapshotId: Ebs.SnapshotId,
        throughput: Ebs.Throughput,
        volumeSize: Ebs.VolumeSize,
        volumeType: Ebs.VolumeType,
      },
    })),
    ebsOptimized: text(data.EbsOptimized),
    iamInstanceProfile: profile && { arn: profile.Arn, name: profile.Name },
    imageId: data.ImageId,
    instanceType: data.InstanceType,
    keyName: data.KeyName,
    metadataOptions: metadata && {
      httpEndpoint: metadata.HttpEndpoint,
      httpProtocolIpv6: metadata.HttpProtocolIpv6,
      httpPutResponseHopLimit: metadata.HttpPutResponseHopLimit,
      httpTokens: metadata.HttpTokens,
      instanceMetadataTags: metadata.InstanceMetadataTags,
    },
    monitoring: monitoring && { enabled: monitoring.Enabled },
    tagSpecifications: data.TagSpecifications?.map(({ ResourceType, Tags }) => ({
      resourceType: ResourceType,
      tags: Object.fromEntries((Tags ?? []).map(({ Key, Value }) => [Key, Value])),
    })),
    userData: data.UserData,
    vpcSecurityGroupIds: data.SecurityGroupIds,
  };
}
