import { describe, expect, test } from "vitest";
import { sweepPolicy } from "../../../lib/iam/sweep.ts";
import { allowed } from "../../support/iam.ts";

const may = (action: string, resource: string, tags: Readonly<Record<string, string>>) => {
  const context = Object.fromEntries(Object.entries(tags).map(([key, value]) => [`aws:ResourceTag/${key}`, value]));
  return allowed(sweepPolicy(), { action, resource, context });
};

describe("the policy of fleet sweep", () => {
  test.each([
    ["DeleteLoadBalancer", "loadbalancer/a1b2"],
    ["DeleteLoadBalancer", "loadbalancer/app/shop/1"],
    ["DeleteTargetGroup", "targetgroup/shop/1"],
  ])("allows %s of %s by what a controller of Kubernetes tags it with", (call, resource) => {
    const mayDelete = (tags: Readonly<Record<string, string>>) =>
      may(`elasticloadbalancing:${call}`, `arn:aws:elasticloadbalancing:us-east-1:111111111111:${resource}`, tags);
    expect(mayDelete({ "kubernetes.io/service-name": "shop/web" })).toBe(true);
    expect(mayDelete({ "elbv2.k8s.aws/cluster": "fleet-spoke-blue" })).toBe(true);
    expect(mayDelete({ "elbv2.k8s.aws/cluster": "fleet-hub" })).toBe(false);
    expect(mayDelete({ "eks:eks-cluster-name": "fleet-spoke-blue" })).toBe(true);
    expect(mayDelete({ "eks:eks-cluster-name": "fleet-hub" })).toBe(false);
    expect(mayDelete({ "fleet.internal/cluster": "blue" })).toBe(false);
    expect(mayDelete({})).toBe(false);
  });

  test.each([
    ["ec2:DeleteVolume", "volume/vol-1"],
    ["ec2:DeleteSnapshot", "snapshot/snap-1"],
  ])(
    "allows %s of what the EBS CSI driver or EKS Auto Mode made on a spoke, and of nothing else",
    (action, resource) => {
      const mayDelete = (tags: Readonly<Record<string, string>>) =>
        may(action, `arn:aws:ec2:us-east-1:111111111111:${resource}`, tags);
      const [byDriver, ofSpoke] = [{ "ebs.csi.aws.com/cluster": "true" }, { "eks-cluster-name": "fleet-spoke-blue" }];
      expect(mayDelete({ ...byDriver, ...ofSpoke })).toBe(true);
      expect(mayDelete({ ...byDriver, "eks-cluster-name": "fleet-hub" })).toBe(false);
      const [byAuto, ofAuto] = [
        { "ebs.csi.eks.amazonaws.com/cluster": "true" },
        { "eks:eks-cluster-name": "fleet-spoke-blue" },
      ];
      expect(mayDelete({ ...byAuto, ...ofAuto })).toBe(true);
      expect(mayDelete({ ...byAuto, "eks:eks-cluster-name": "fleet-hub" })).toBe(false);
      expect(mayDelete({ ...byAuto, ...ofSpoke })).toBe(false);
      for (const alone of [byDriver, ofSpoke, byAuto, ofAuto]) expect(mayDelete(alone)).toBe(false);
    },
  );
});
