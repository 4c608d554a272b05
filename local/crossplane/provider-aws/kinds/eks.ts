import { ListPodIdentityAssociationsCommand } from "@aws-sdk/client-eks";
import { accessEntry } from "../../../aws/eks/access-entry.ts";
import { accessPolicyAssociation } from "../../../aws/eks/access-policy-association.ts";
import { addon } from "../../../aws/eks/addon.ts";
import { cluster } from "../../../aws/eks/cluster.ts";
import { nodeGroup } from "../../../aws/eks/node-group.ts";
import { podIdentityAssociation } from "../../../aws/eks/pod-identity-association.ts";
import { arn, from, id, reference, references, required } from "../fields.ts";
import { assigned, joined, type Kind, named } from "../kind.ts";
import { clusterAuth } from "./eks-cluster-auth.ts";

const group = "eks";
const role = (more = {}) => reference("iam/Role", arn, more);

export const kinds: readonly Kind[] = [
  {
    ...{ group, kind: "Cluster", plural: "clusters", handler: cluster, externalName: named("name") },
    asynchronous: true,
    spec: {
      accessConfig: {
        block: { authenticationMode: "string", bootstrapClusterCreatorAdminPermissions: "boolean" },
      },
      bootstrapSelfManagedAddons: "boolean",
      deletionProtection: "boolean",
      enabledClusterLogTypes: "set",
      encryptionConfig: { block: { provider: { block: { keyArn: "string" } }, resources: "set" } },
      forceUpdateVersion: "boolean",
      kubernetesNetworkConfig: { block: { ipFamily: "string", serviceIpv4Cidr: "string" } },
      roleArn: role(),
      upgradePolicy: { block: { supportType: "string" } },
      version: "string",
      vpcConfig: required({
        block: {
          endpointPrivateAccess: "boolean",
          endpointPublicAccess: "boolean",
          publicAccessCidrs: "set",
          securityGroupIds: references("ec2/SecurityGroup"),
          subnetIds: references("ec2/Subnet"),
        },
      }),
    },
    status: {
      arn: "string",
      certificateAuthority: { single: { data: "string" } },
      createdAt: "string",
      endpoint: "string",
      identity: from("identities", { blocks: { oidc: from("oidcs", { blocks: { issuer: "string" } }) } }),
      platformVersion: "string",
      status: "string",
      vpcConfig: {
        block: {
          clusterSecurityGroupId: "string",
          endpointPrivateAccess: "boolean",
          endpointPublicAccess: "boolean",
          publicAccessCidrs: "set",
          securityGroupIds: "set",
          subnetIds: "set",
          vpcId: "string",
        },
      },
    },
  },
  {
    ...{ group, kind: "NodeGroup", plural: "nodegroups", handler: nodeGroup },
    externalName: {
      kind: "name",
      input: "nodeGroupName",
      id: joined(":", "clusterName", "nodeGroupName"),
    },
    asynchronous: true,
    spec: {
      amiType: "string",
      capacityType: "string",
      clusterName: reference("eks/Cluster", "external-name-if-active", { identifier: true }),
      diskSize: "number",
      forceUpdateVersion: "boolean",
      instanceTypes: "strings",
      labels: "map",
      launchTemplate: { block: { id: "string", name: "string", version: "string" } },
      nodeRoleArn: role(),
      releaseVersion: "string",
      scalingConfig: required({ block: { desiredSize: "number", maxSize: "number", minSize: "number" } }),
      subnetIds: references("ec2/Subnet"),
      taint: from("taints", { blocks: { effect: "string", key: "string", value: "string" } }),
      updateConfig: { block: { maxUnavailable: "number", maxUnavailablePercentage: "number" } },
      version: reference("eks/Cluster", { wanted: "version" }),
    },
    status: {
      arn: "string",
      resources: {
        blocks: {
          autoscalingGroups: { blocks: { name: "string" } },
          remoteAccessSecurityGroupId: "string",
        },
      },
      status: "string",
    },
  },
  {
    ...{ group, kind: "AccessEntry", plural: "accessentries", handler: accessEntry },
    externalName: { kind: "derived", id: joined(":", "clusterName", "principalArn") },
    spec: {
      clusterName: reference("eks/Cluster", id, { identifier: true }),
      kubernetesGroups: "set",
      principalArn: {
        type: "string",
        identifier: true,
        reference: {
          to: "iam/Role",
          value: arn,
          names: ["principalArnFromRoleRef", "principalArnFromRoleSelector"],
        },
      },
      type: "string",
      userName: "string",
    },
    status: { accessEntryArn: "string", createdAt: "string", modifiedAt: "string" },
  },
  {
    ...{ group, kind: "AccessPolicyAssociation", plural: "accesspolicyassociations" },
    handler: accessPolicyAssociation,
    externalName: { kind: "derived", id: joined("#", "clusterName", "principalArn", "policyArn") },
    spec: {
      accessScope: required({ block: { namespaces: "set", type: "string" } }),
      clusterName: reference("eks/Cluster", id, { identifier: true }),
      policyArn: { type: "string", identifier: true },
      principalArn: reference("eks/AccessEntry", { observed: "principalArn" }, { identifier: true }),
    },
    status: { associatedAt: "string", modifiedAt: "string" },
  },
  {
    ...{ group, kind: "Addon", plural: "addons", handler: addon },
    externalName: { kind: "derived", id: joined(":", "clusterName", "addonName") },
    asynchronous: true,
    spec: {
      addonName: required("string"),
      addonVersion: "string",
      clusterName: reference("eks/Cluster"),
      configurationValues: "string",
      preserve: "boolean",
      resolveConflictsOnCreate: "string",
      resolveConflictsOnUpdate: "string",
      serviceAccountRoleArn: role(),
    },
    status: { arn: "string", createdAt: "string", modifiedAt: "string" },
  },
  {
    ...{ group, kind: "PodIdentityAssociation", plural: "podidentityassociations" },
    handler: podIdentityAssociation,
    externalName: assigned,
    recover: async (aws, inputs) => {
      const [clusterName, namespace, serviceAccount] = ["clusterName", "namespace", "serviceAccount"].map((name) =>
        String(inputs[name]),
      );
      const query = new ListPodIdentityAssociationsCommand({ clusterName, namespace, serviceAccount });
      return (await aws.eks.send(query)).associations?.[0]?.associationId;
    },
    spec: {
      clusterName: reference("eks/Cluster"),
      disableSessionTags: "boolean",
      namespace: required("string"),
      roleArn: role(),
      serviceAccount: required("string"),
      targetRoleArn: role(),
    },
    status: { associationArn: "string", associationId: "string", externalId: "string" },
  },
  clusterAuth,
];
