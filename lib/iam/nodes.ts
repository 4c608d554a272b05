import { clusterApiMaker, madeByTag, principalTags, sharedNetworkTag } from "../labels.ts";
import { ec2Actions, makeStatement, tagNewStatement } from "./ec2.ts";
import { arns, inAnyPartition, principalTag, type Scope, type Statement } from "./policy.ts";

/** What roles of a spoke do to its nodes, in boundaries, where IAM has little room. */

/** The EKS cluster whose role calls: {@link principalTags} on every role of a spoke. */
export const ownCluster = principalTag(principalTags.cluster);

/** A resource of the caller's own cluster: the composition function tags what it makes, and has the add-ons tag what they make. */
const ofOwnCluster = { [`aws:ResourceTag/${principalTags.cluster}`]: ownCluster };
const forOwnCluster = { [`aws:RequestTag/${principalTags.cluster}`]: ownCluster };

/** The tag that EKS gives to the security group of a cluster, which has none of ours (EKS User Guide, "Security group requirements"). */
export const ofEks = "aws:ResourceTag/aws:eks:cluster-name";

/** {@link tagNewStatement} of a boundary, where a short Sid leaves room. */
export const boundaryTagStatement: Statement = { ...tagNewStatement, Sid: "New" };

/**
 * A node of the caller's own cluster that no launch template of ours tagged: EKS gives this tag to the Auto Scaling group of every managed
 * node group, and the group gives it to its instances (docs/decisions/0020-existing-networks-and-cluster-api-clusters.md).
 */
const ofOwnNodes = { "aws:ResourceTag/eks:cluster-name": ownCluster };

/** Calls of EC2 on nodes of the caller's own cluster that only EKS tagged. */
export const onNodesStatement = (Sid: string, calls: readonly string[]): Statement => ({
  Sid,
  Effect: "Allow",
  Action: ec2Actions(calls),
  Resource: ["*"],
  Condition: { StringEquals: ofOwnNodes },
});

/**
 * Interfaces of the VPC CNI and volumes of the EBS CSI driver: those of the caller's own cluster. Narrower than AWS's managed policies
 * AmazonEKS_CNI_Policy and AmazonEBSCSIDriverPolicy, which name all of the account (AWS Managed Policy Reference).
 */
export function nodeStatements(scope: Scope): Statement[] {
  const anyPartition = inAnyPartition(scope);
  const disks = { CreateNetworkInterface: "network-interface", CreateVolume: "volume" };
  const snapshots = { CreateSnapshot: "snapshot" };
  return [
    {
      Sid: "Own",
      Effect: "Allow",
      Action: ec2Actions([
        "*NetworkInterface",
        "*PrivateIp*",
        "*Volume",
        "*eSnapshot",
        "*eTags",
        "CreateSecu*",
        "ModifyNet*",
      ]),
      Resource: ["*"],
      Condition: { StringEquals: ofOwnCluster },
    },
    makeStatement(anyPartition, "Devices", disks, { StringEquals: forOwnCluster }),
    makeStatement(anyPartition, "Snapshots", snapshots, { StringEquals: forOwnCluster }),
    boundaryTagStatement,
    {
      // Of groups without our tags only the one that EKS made for the cluster, which its nodes have: others admit members of other groups.
      Sid: "Join",
      Effect: "Allow",
      Action: ec2Actions(["CreateNetworkInterface", "ModifyNet*"]),
      Resource: arns(anyPartition).ec2("security-group"),
      Condition: { StringEquals: { [ofEks]: ownCluster } },
    },
  ];
}

/** Lets nodes and a control plane use a VPC and subnets of somebody else, who lets the fleet's spokes use them. Cluster API makes networks of its own. */
export const sharedNetworkStatement = ({ fleet }: { readonly fleet: string }): Statement => ({
  Sid: "Shared",
  Effect: "Allow",
  Action: ec2Actions(["CreateNetworkInterface", "CreateSecurityGroup"]),
  Resource: ["*"],
  Condition: { StringEquals: { [`aws:ResourceTag/${sharedNetworkTag}`]: fleet } },
});

/**
 * Lets a node of Cluster API tag interfaces as its own cluster's: the first one of an instance has no tags, and the VPC CNI fails where it can't
 * give it those of `ADDITIONAL_ENI_TAGS` (nodeInit of amazon-vpc-cni-k8s). Only in the VPC of the instance whose credentials call, which is
 * its cluster's alone, and none that names a cluster already.
 */
export function tagInterfacesStatement(scope: Scope): Statement {
  const anyPartition = inAnyPartition(scope);
  return {
    Sid: "FirstInterfaces",
    Effect: "Allow",
    Action: ["ec2:CreateTags"],
    Resource: arns(anyPartition).ec2("network-interface"),
    Condition: {
      StringEquals: { ...forOwnCluster, [`aws:PrincipalTag/${madeByTag}`]: clusterApiMaker },
      Null: { [`aws:ResourceTag/${principalTags.cluster}`]: "true" },
      ArnLike: { "ec2:Vpc": `arn:*:ec2:*:*:vpc/\${aws:Ec2InstanceSourceVpc}` },
    },
  };
}
