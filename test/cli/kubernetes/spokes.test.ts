import { expect, test } from "vitest";
import { accessOf } from "../../../cli/kubernetes/spokes.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";

const spoke = (cluster: string) =>
  ({
    apiVersion: "fleet.internal/v1alpha1",
    kind: "Spoke",
    metadata: { name: "blue" },
    spec: { region: "us-east-1" },
    status: { cluster: { name: cluster, endpoint: "https://eks.example" } },
  }) as Spoke;
const cluster = {
  apiVersion: "eks.aws.m.upbound.io/v1beta1",
  kind: "Cluster",
  metadata: { name: "blue", labels: { "fleet.internal/cluster": "blue" } },
  status: { atProvider: { certificateAuthority: [{ data: "Y2E=" }] } },
};

test("a spoke is reached under its own name", () => {
  expect(accessOf(spoke("fleet-spoke-blue"), [cluster])).toMatchObject({ name: "fleet-spoke-blue" });
});

test.each(["fleet-hub", "fleet-spoke-green", "shop", "fleet-spoke-green-blue"])(
  "no token is signed for %s because a hub calls it spoke blue",
  (name) => {
    expect(accessOf(spoke(name), [cluster])).toBe(
      `the hub names ${name} as its EKS cluster, which must be <fleet>-spoke-blue; look at the Spoke's status on the hub`,
    );
  },
);
