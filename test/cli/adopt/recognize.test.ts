import { describe, expect, test } from "vitest";
import type { InAws, Tagged } from "../../../cli/adopt/aws.ts";
import { recognize } from "../../../cli/adopt/recognize.ts";
import { spokeIdentities } from "../../../lib/spoke.ts";
import { example, exampleNames, settings, spoke } from "../../functions/spoke/support/fixtures.ts";
import { running } from "../../functions/spoke/support/world.ts";
import { idOf, inAwsOf, numberedKeys, subjectOf } from "./support/made.ts";

const blue = running(spoke({ network: { cidr: "10.100.0.0/16", zones: 2, natGateways: "single" } }));
const subject = subjectOf(blue);
const made = inAwsOf(blue);

/** What AWS has, with changes of single resources. */
const changed = (change: (each: Tagged) => Tagged): InAws => ({ ...made, tagged: made.tagged.map(change) });
const isVpc = ({ kind }: Tagged) => kind === "VPC";
const named = (name: string) => (each: Tagged) => each.tags["Name"] === `fleet-spoke-blue-${name}`;
const cluster = (change: object): InAws => ({ ...made, cluster: { ...(made.cluster as object), ...change } as never });

describe("the parts of a spoke in AWS", () => {
  test.each(exampleNames)("are all told by the tags that the Composition gives them: %s", (name) => {
    const world = running(example(name));
    const { existing, ...said } = recognize(subjectOf(world), inAwsOf(world));
    const { "api-from": rules = {}, "launch-templates": templates = {}, ...others } = existing;
    expect(Object.keys(others).sort()).toEqual(numberedKeys(world));
    const further = [...world.live].filter(([key]) => key.startsWith("launch-template-"));
    expect(templates).toEqual(
      Object.fromEntries(further.map(([key, { object }]) => [key.slice("launch-template-".length), idOf(object)])),
    );
    const own = [...world.live.keys()].filter((key) => key.startsWith("api-from-"));
    expect(Object.keys(rules)).toHaveLength(own.length);
    expect(said).toMatchObject({ missing: [], left: [], contradictions: [], ambiguous: new Map() });
    const isShared = world.spoke.spec.network.existing !== undefined;
    expect(said.cidr).toBe(isShared ? undefined : world.spoke.status?.network?.cidr);
    expect(said.availabilityZones ?? []).toHaveLength(isShared ? 0 : world.spoke.spec.network.zones);
  });

  test("with EKS Pod Identity, are the associations of the spoke by their names", () => {
    const world = running(spoke(), { settings: settings({ workloadIdentity: "pod-identity" }) });
    const { existing, missing, left } = recognize(subjectOf(world), inAwsOf(world));
    expect(existing["pod-identities"]).toEqual(
      Object.fromEntries(
        [...spokeIdentities.crossplane.serviceAccount, "aws-ebs-csi-driver"].map((role) => [
          role,
          idOf(world.object(`pod-identity-${role}`)),
        ]),
      ),
    );
    expect([missing, left]).toEqual([[], []]);
  });

  test("get the IDs that AWS gave them", () => {
    const { existing } = recognize(subject, made);
    for (const [key, { object }] of blue.live) {
      const id = existing[key];
      if (id === undefined || key === "oidc-provider") continue;
      expect([key, id]).toEqual([key, (object.status as { atProvider: { id: string } }).atProvider.id]);
    }
  });

  test("are told by the object that Crossplane made them for where somebody changed their names", () => {
    const renamed = changed((each) =>
      isVpc(each) ? { ...each, tags: { ...each.tags, Name: "ours", "crossplane-name": "blue-vpc" } } : each,
    );
    expect(recognize(subject, renamed)).toMatchObject({ existing: { vpc: "vpc-vpc" }, missing: [], left: [] });
  });

  test("that AWS does not have are left to the hub, and what is no part of it is named", () => {
    const less = changed((each) =>
      named("nat-0")(each) && each.kind === "NATGateway"
        ? { ...each, tags: { ...each.tags, Name: "fleet-spoke-blue-nat-1" } }
        : each,
    );
    const { existing, missing, left } = recognize(subject, less);
    expect(existing).not.toHaveProperty("nat-0");
    expect({ missing, left }).toEqual({ missing: ["nat-0"], left: ["natgateway-nat-0"] });
  });

  test("that several resources could be are not chosen from", () => {
    const vpc = made.tagged.find(isVpc) as Tagged;
    const two = { ...made, tagged: [...made.tagged, { ...vpc, id: "vpc-2" }] };
    const { ambiguous, existing, missing } = recognize(subject, two);
    expect(ambiguous).toEqual(new Map([["vpc", ["vpc-vpc", "vpc-2"]]]));
    expect(existing).not.toHaveProperty("vpc");
    expect(missing).toEqual([]);
  });

  test("without a control plane are taken in as far as they go, a key by its tags", () => {
    const { existing, missing } = recognize(subject, { ...made, cluster: undefined });
    expect(existing).toMatchObject({ vpc: "vpc-vpc", key: "key-1" });
    expect(missing).toEqual(["oidc-provider", "cluster"]);
    const withoutKey = made.tagged.filter(({ kind }) => kind !== "Key");
    expect(recognize(subject, { ...made, tagged: withoutKey, cluster: undefined }).missing).toContain("key");
  });

  test("have the key that the cluster uses, whatever its tags say; another one with the tags is named", () => {
    const other = { ...(made.tagged.find(({ kind }) => kind === "Key") as Tagged), id: "key-2" };
    const both = { ...made, tagged: [...made.tagged, other] };
    expect(recognize(subject, both)).toMatchObject({ existing: { key: "key-1" }, left: ["key key-2"] });
    expect(recognize(subject, { ...both, cluster: undefined }).ambiguous).toEqual(
      new Map([["key", ["key-1", "key-2"]]]),
    );
    const { existing } = recognize(subject, cluster({ key: "key-of-somebody" }));
    expect(existing).toMatchObject({ key: "key-of-somebody" });
  });

  test("are never those that AWS failed to make, which are named with AWS's reason", () => {
    const failed = changed((each) =>
      each.kind === "NATGateway" ? { ...each, failed: "Resource.AlreadyAssociated" } : each,
    );
    const { existing, ...said } = recognize(subject, failed);
    expect(existing).not.toHaveProperty("nat-0");
    expect(said).toMatchObject({ missing: ["nat-0"], left: ["natgateway-nat-0"] });
    expect(said.failed).toEqual(new Map([["natgateway-nat-0", "Resource.AlreadyAssociated"]]));
  });
});

test("a node group that the Spoke does not ask for is left", () => {
  const others = ["fleet-spoke-blue-nodes", "fleet-spoke-blue-nodes-00000000"];
  const { left } = recognize(subject, cluster({ nodeGroups: [...(made.cluster?.nodeGroups ?? []), ...others] }));
  expect(left).toEqual(others.map((name) => `node group ${name}`));
});

describe("what can't be the Spoke's", () => {
  test.each<[string, InAws, string]>([
    [
      "a VPC with another network",
      changed((each) => (isVpc(each) ? { ...each, cidr: "10.1.0.0/16" } : each)),
      "the VPC vpc-vpc has 10.1.0.0/16, spec.network.cidr says 10.100.0.0/16",
    ],
    [
      "a subnet of another size",
      changed((each) =>
        named("private-1")(each) && each.kind === "Subnet" ? { ...each, cidr: "10.100.1.0/24" } : each,
      ),
      "private subnet 1, subnet-subnet-private-1, has 10.100.1.0/24, the fleet's has 10.100.64.0/18",
    ],
    ...(["Subnet", "RouteTable", "InternetGateway", "NATGateway", "VPCEndpoint"] as const).map(
      (kind): [string, InAws, string] => [
        `a ${kind} in another VPC`,
        changed((each) => (each.kind === kind ? { ...each, vpc: "vpc-9" } : each)),
        "is in vpc-9, the VPC with the spoke's tags is vpc-vpc",
      ],
    ),
    ["a cluster in another VPC", cluster({ vpcId: "vpc-9" }), "the EKS cluster fleet-spoke-blue is in vpc-9"],
    [
      "a cluster that is ahead of the file",
      cluster({ version: "1.36" }),
      "runs Kubernetes 1.36, which the hub would roll back: spec.kubernetesVersion is 1.35, set it to 1.36",
    ],
    [
      "a cluster of other compute than the file's",
      cluster({ isAuto: true }),
      "has EKS Auto Mode on, which can't be changed; spec.compute says node-groups",
    ],
    ["a cluster of nobody", cluster({ tags: {} }), "the EKS cluster fleet-spoke-blue does not carry the tags"],
  ])("is said: %s", (_, inAws, said) => expect(recognize(subject, inAws).contradictions.join("\n")).toContain(said));

  test("is a subnet in another zone than the file says", () => {
    const zones = ["us-east-1c", "us-east-1b"];
    const other = {
      ...subject,
      spec: { ...subject.spec, network: { ...subject.spec.network, availabilityZones: zones } },
    };
    expect(recognize(other, made).contradictions).toEqual([
      "public subnet 0, subnet-subnet-public-0, is in us-east-1a, spec.network.availabilityZones says us-east-1c",
      "private subnet 0, subnet-subnet-private-0, is in us-east-1a, spec.network.availabilityZones says us-east-1c",
    ]);
  });
});
