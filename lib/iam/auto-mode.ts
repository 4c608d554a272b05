import { autoModeTags, principalTags } from "../labels.ts";
import { denyStatements, loadBalancerStatements, notOfOtherClusters } from "./boundary.ts";
import { managedPolicies } from "./deployer.ts";
import { ec2Actions } from "./ec2.ts";
import { boundaryTagStatement, ownCluster, sharedNetworkStatement } from "./nodes.ts";
import { arns, inAnyPartition, type PolicyDocument, perRegion, policy, type Scope, whereArnsDont } from "./policy.ts";
import { ownKeysInBoundary, type VolumeKeys, volumeKeyStatement } from "./volume-key.ts";

/**
 * AWS managed policies that roles get with EKS Auto Mode, by name (EKS User Guide, "Amazon EKS Auto Mode cluster IAM role", "Amazon EKS Auto
 * Mode node IAM role").
 */
export const autoModePolicies = {
  cluster: [
    ...managedPolicies.cluster,
    "AmazonEKSBlockStoragePolicy",
    "AmazonEKSComputePolicy",
    "AmazonEKSLoadBalancingPolicy",
    "AmazonEKSNetworkingPolicy",
  ],
  node: ["AmazonEC2ContainerRegistryPullOnly", "AmazonEKSWorkerNodeMinimalPolicy"],
} as const;

const made = { StringEquals: { [`aws:RequestTag/${autoModeTags.cluster}`]: ownCluster } };
const own = { StringEquals: { [`aws:ResourceTag/${autoModeTags.cluster}`]: ownCluster } };

/**
 * Lets a control plane give what it creates a company's tags, by a NodeClass or by annotations: AWS's managed policies allow EKS' own tags only (EKS
 * User Guide, "Amazon EKS Auto Mode cluster IAM role", "Custom AWS tags for EKS Auto resources").
 */
export const autoModeTagPolicy = (): PolicyDocument =>
  policy({
    Sid: "CreateWithTags",
    Effect: "Allow",
    Action: [
      ...ec2Actions([
        ...["CreateFleet", "CreateLaunchTemplate", "CreateNetworkInterface", "CreateSecurityGroup", "CreateSnapshot"],
        ...["CreateVolume", "RunInstances"],
      ]),
      ...["CreateListener", "CreateLoadBalancer", "CreateRule", "CreateTargetGroup"].map(
        (call) => `elasticloadbalancing:${call}`,
      ),
    ],
    Resource: ["*"],
    Condition: made,
  });

type AutoModeScope = Scope & VolumeKeys & { readonly fleet: string; readonly spokePrefix: string };

/**
 * The permissions boundary of the role of a control plane with EKS Auto Mode, which acts with it in EC2 and Elastic Load Balancing. It holds
 * everything to the caller's own cluster, by the tags that EKS gives what it makes, and lets it pass roles of spokes only. Of what the managed
 * policies allow, WAF, Shield and Cognito are not in it.
 */
export function autoModeBoundary(scope: AutoModeScope): PolicyDocument {
  const name = arns(inAnyPartition(scope));
  return policy(
    {
      Sid: "Read",
      Effect: "Allow",
      Action: [
        "acm:DescribeCertificate",
        "acm:ListCertificates",
        ...ec2Actions(["Describe*", "GetSecurityGroupsForVpc"]),
        "elasticloadbalancing:Describe*",
        "kms:DescribeKey",
      ],
      Resource: ["*"],
      Condition: { StringEquals: { "aws:RequestedRegion": perRegion(scope) } },
    },
    {
      // What a call names that is there already; what it makes, the next statements limit.
      Sid: "UseWhatIsThere",
      Effect: "Allow",
      Action: ec2Actions(["CreateFleet", "CreateNetworkInterface", "RunInstances"]),
      Resource: [
        ...name.ec2("capacity-reservation", "placement-group", "security-group", "subnet"),
        "arn:*:ec2:*::image/*",
      ],
    },
    {
      Sid: "MakeNodes",
      Effect: "Allow",
      Action: ec2Actions([
        "AuthorizeSecurityGroupIngress",
        "CreateFleet",
        "CreateNetworkInterface",
        "CreateVolume",
        "RunInstances",
      ]),
      Resource: name.ec2(
        ...["fleet", "instance", "network-interface", "security-group-rule", "spot-instances-request", "volume"],
      ),
      Condition: made,
    },
    {
      Sid: "MakeOthers",
      Effect: "Allow",
      Action: ec2Actions(["CreateLaunchTemplate", "CreateSecurityGroup", "CreateSnapshot"]),
      Resource: name.ec2("launch-template", "security-group", "snapshot"),
      Condition: made,
    },
    {
      Sid: "OfTheCluster",
      Effect: "Allow",
      Action: ec2Actions([
        "*PrivateIpAddresses",
        "*tachNetworkInterface",
        "*tachVolume",
        "CreateFleet",
        "CreateSnapshot",
        "CreateVolume",
        "ModifyNetworkInterfaceAttribute",
        "ModifyVolume",
        "RunInstances",
      ]),
      Resource: name.ec2("instance", "launch-template", "network-interface", "snapshot", "volume"),
      Condition: own,
    },
    {
      // In the spoke's own VPC, which the fleet tags.
      Sid: "GroupsInVpc",
      Effect: "Allow",
      Action: ec2Actions(["CreateSecurityGroup"]),
      Resource: name.ec2("vpc"),
      Condition: { StringEquals: { [`aws:ResourceTag/${principalTags.cluster}`]: ownCluster } },
    },
    sharedNetworkStatement(scope),
    boundaryTagStatement,
    volumeKeyStatement(scope),
    ...ownKeysInBoundary(scope),
    ...loadBalancerStatements(scope, ["spot.amazonaws.com"]),
    {
      Sid: "PassNodeRoles",
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: [name.role(`${scope.spokePrefix}*`)],
      Condition: { StringEquals: { "iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"] } },
    },
    {
      Sid: "Profiles",
      Effect: "Allow",
      Action: ["iam:AddRoleToInstanceProfile"],
      Resource: [name.instanceProfile("eks*")],
    },
    ...denyStatements(scope),
    notOfOtherClusters,
    ...whereArnsDont(scope),
  );
}
