import { launchTemplate } from "../../../aws/ec2/launch-template.ts";
import { securityGroup } from "../../../aws/ec2/security-group.ts";
import {
  type SecurityGroupRuleInputs,
  securityGroupRule,
  securityGroupRuleId,
} from "../../../aws/ec2/security-group-rule.ts";
import { securityGroupEgressRule, securityGroupIngressRule } from "../../../aws/ec2/security-group-single-rule.ts";
import { tag } from "../../../aws/ec2/tag.ts";
import { arn, reference, required } from "../fields.ts";
import { assigned, joined, type Kind } from "../kind.ts";
import { byTags } from "./ec2-recovery.ts";

const group = "ec2";

/** SecurityGroupIngressRule and SecurityGroupEgressRule. */
const singleRule = (kind: string, plural: string, handler: Kind["handler"]): Kind => ({
  ...{ group, kind, plural, handler, externalName: assigned, recover: byTags("security-group-rule") },
  spec: {
    cidrIpv4: "string",
    cidrIpv6: "string",
    description: "string",
    fromPort: "number",
    ipProtocol: required("string"),
    prefixListId: "string",
    referencedSecurityGroupId: reference("ec2/SecurityGroup"),
    securityGroupId: reference("ec2/SecurityGroup"),
    toPort: "number",
  },
  status: { arn: "string", securityGroupRuleId: "string" },
});

export const compute: readonly Kind[] = [
  {
    ...{ group, kind: "SecurityGroup", plural: "securitygroups", handler: securityGroup },
    ...{ externalName: assigned, recover: byTags("security-group"), asynchronous: true },
    defaults: { description: "Managed by Terraform" },
    generatedName: "name",
    spec: {
      description: "string",
      name: "string",
      revokeRulesOnDelete: "boolean",
      vpcId: reference("ec2/VPC"),
    },
    status: { arn: "string", ownerId: "string" },
  },
  {
    ...{ group, kind: "SecurityGroupRule", plural: "securitygrouprules", handler: securityGroupRule },
    externalName: {
      kind: "derived",
      id: (inputs) =>
        inputs["securityGroupId"] ? securityGroupRuleId(inputs as unknown as SecurityGroupRuleInputs) : undefined,
    },
    spec: {
      cidrBlocks: {
        type: "strings",
        reference: {
          to: "ec2/VPC",
          value: { wanted: "cidrBlock" },
          names: ["cidrBlocksRefs", "cidrBlocksSelector"],
        },
      },
      description: "string",
      fromPort: required("number"),
      ipv6CidrBlocks: "strings",
      prefixListIds: "strings",
      protocol: required("string"),
      securityGroupId: reference("ec2/SecurityGroup"),
      self: "boolean",
      sourceSecurityGroupId: reference("ec2/SecurityGroup"),
      toPort: required("number"),
      type: required("string"),
    },
    status: { securityGroupRuleId: "string" },
  },
  singleRule("SecurityGroupIngressRule", "securitygroupingressrules", securityGroupIngressRule),
  singleRule("SecurityGroupEgressRule", "securitygroupegressrules", securityGroupEgressRule),
  {
    ...{ group, kind: "LaunchTemplate", plural: "launchtemplates", handler: launchTemplate },
    ...{ externalName: assigned, recover: byTags("launch-template") },
    generatedName: "name",
    spec: {
      blockDeviceMappings: {
        blocks: {
          deviceName: "string",
          ebs: {
            block: {
              deleteOnTermination: "string",
              encrypted: "string",
              iops: "number",
              kmsKeyId: reference("kms/Key", arn),
              snapshotId: "string",
              throughput: "number",
              volumeSize: "number",
              volumeType: "string",
            },
          },
        },
      },
      defaultVersion: "number",
      description: "string",
      ebsOptimized: "string",
      iamInstanceProfile: {
        block: { arn: reference("iam/InstanceProfile", arn), name: reference("iam/InstanceProfile") },
      },
      imageId: "string",
      instanceType: "string",
      keyName: "string",
      metadataOptions: {
        block: {
          httpEndpoint: "string",
          httpProtocolIpv6: "string",
          httpPutResponseHopLimit: "number",
          httpTokens: "string",
          instanceMetadataTags: "string",
        },
      },
      monitoring: { block: { enabled: "boolean" } },
      name: "string",
      tagSpecifications: { blocks: { resourceType: "string", tags: "map" } },
      updateDefaultVersion: "boolean",
      userData: "string",
      vpcSecurityGroupIds: {
        type: "set",
        reference: { to: "ec2/SecurityGroup" },
      },
    },
    status: { arn: "string", latestVersion: "number" },
  },
  {
    ...{ group, kind: "Tag", plural: "tags", handler: tag },
    externalName: { kind: "derived", id: joined(",", "resourceId", "key") },
    spec: {
      key: { type: "string", identifier: true },
      resourceId: { type: "string", identifier: true },
      value: required("string"),
    },
    status: {},
  },
];
