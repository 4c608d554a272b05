import { autoModeTags, guardDutyTag, principalTags } from "../labels.ts";
import { fleetNames } from "../names.ts";
import { type Condition, type PolicyDocument, policy, type Statement } from "./policy.ts";

/** Names of the EKS clusters of spokes, of any fleet. */
const spokes = fleetNames("*").spokePrefix.concat("*");

/** These actions have tags of the resource as a condition (Service Authorization Reference). */
const allow =
  (...Action: readonly string[]) =>
  (Sid: string, Condition: Condition): Statement => ({ Sid, Effect: "Allow", Action, Resource: ["*"], Condition });

const balancers = allow("elasticloadbalancing:DeleteLoadBalancer", "elasticloadbalancing:DeleteTargetGroup");
const data = allow("ec2:DeleteSnapshot", "ec2:DeleteVolume");

/**
 * What `fleet sweep` does in an account. Leftovers carry none of the fleet's tags. The only one naming the cluster,
 * `kubernetes.io/cluster/<name>`, has the name in its key, which an IAM condition can't match by pattern. Where the makers set another tag, the rights are bound to it.
 */
export const sweepPolicy = (): PolicyDocument =>
  policy(
    {
      Sid: "Look",
      Effect: "Allow",
      Action: [
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSnapshots",
        "ec2:DescribeVolumes",
        "ec2:DescribeVpcEndpoints",
        "eks:DescribeCluster",
        "elasticloadbalancing:DescribeLoadBalancers",
        "elasticloadbalancing:DescribeTags",
        "elasticloadbalancing:DescribeTargetGroups",
      ],
      Resource: ["*"],
    },
    {
      Sid: "LeftInTheVpcOfASpoke",
      Effect: "Allow",
      Action: ["ec2:DeleteNetworkInterface", "ec2:DeleteSecurityGroup", "ec2:RevokeSecurityGroupIngress"],
      Resource: ["*"],
    },
    allow("ec2:DeleteVpcEndpoints")("EndpointsOfGuardDuty", {
      StringEquals: { [`aws:ResourceTag/${guardDutyTag.key}`]: guardDutyTag.value },
    }),
    balancers("OfTheLoadBalancerController", { StringLike: { "aws:ResourceTag/elbv2.k8s.aws/cluster": spokes } }),
    // cloud-provider-aws, pkg/providers/v1/aws.go, TagNameKubernetesService.
    balancers("OfServices", { Null: { "aws:ResourceTag/kubernetes.io/service-name": "false" } }),
    balancers("OfAutoMode", { StringLike: { [`aws:ResourceTag/${autoModeTags.cluster}`]: spokes } }),
    data("VolumesAndSnapshotsOfTheEbsDriver", {
      StringLike: { [`aws:ResourceTag/${principalTags.cluster}`]: spokes },
      StringEquals: { "aws:ResourceTag/ebs.csi.aws.com/cluster": "true" },
    }),
    data("VolumesAndSnapshotsOfAutoMode", {
      StringLike: { [`aws:ResourceTag/${autoModeTags.cluster}`]: spokes },
      Null: { [`aws:ResourceTag/${autoModeTags.volume}`]: "false" },
    }),
  );
