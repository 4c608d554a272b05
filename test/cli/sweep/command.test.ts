import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Api } from "../../../cli/kubernetes/api.ts";
import type { Found } from "../../../cli/sweep/aws.ts";
import { run } from "../../../cli/sweep/command.ts";
import type { Balancer, Endpoint, Group, Interface, Item, Removal } from "../../../cli/sweep/plan.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { at, type KubeObject } from "../../../functions/spoke/kube.ts";
import { spoke } from "../../functions/spoke/support/fixtures.ts";
import { running } from "../../functions/spoke/support/world.ts";
import { interruptedIn } from "../recover/support/interrupted.ts";

const world = running(spoke({ network: { cidr: "10.100.0.0/16" } }));
const { known, objectsWith } = interruptedIn(world);
const account = "111111111111";
const objects = objectsWith({}).map((object): KubeObject => {
  const atProvider = { ...(at(object.status, "atProvider") as object), arn: `arn:aws:ec2:us-east-1:${account}:vpc/x` };
  return object.kind === "VPC" ? { ...object, status: { ...(object.status as object), atProvider } } : object;
});
const leaving = { ...world.spoke, status: { ...world.spoke.status, phase: "Deleting" } } as Spoke;
const cluster = "fleet-spoke-blue";

let said: string;
beforeEach(() => {
  said = "";
  vi.spyOn(console, "log").mockImplementation((text: string) => {
    said += `${text}\n`;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const item = (id: string, tags: Item["tags"] = {}, description = ""): Item => ({ id, tags, description });
const leaked = item("eni-1", { "node.k8s.amazonaws.com/instance_id": "i-1" }, "aws-K8S-i-1");
const group = (id: string, tags: Item["tags"] = {}): Group => ({ ...item(id, tags), rules: [] });
const eksGroup = group("sg-1", { "aws:eks:cluster-name": cluster });
const nothing: Found = {
  ...{ account, hasCluster: false, balancers: [], targetGroups: [], interfaces: [] },
  ...{ endpoints: [], groups: [], data: [] },
};
const ofService = { [`kubernetes.io/cluster/${cluster}`]: "owned", "kubernetes.io/service-name": "shop/web" };
const arn = (resource: string) => `arn:aws:elasticloadbalancing:us-east-1:${account}:${resource}`;
const classic = (tags: Item["tags"]): Balancer => ({ ...item("a1b2", tags, "classic load balancer"), isClassic: true });
const network = (tags: Item["tags"]): Balancer => ({
  ...item(arn("loadbalancer/net/shop/1"), tags, "network load balancer"),
  isClassic: false,
});
/** An interface that Elastic Load Balancing made, in a security group. */
const held = (description: string, ...groups: string[]): Interface => ({
  ...{ ...item("eni-9", {}, description), isFree: false, isOfElb: true, groups },
});
/** One that somebody else made. */
const own = (what: Item, isFree: boolean, ...groups: string[]): Interface => ({
  ...{ ...what, isFree, isOfElb: false, groups },
});
/** As EKS Auto Mode tags what it makes for a Service. */
const ofAuto = { "eks:eks-cluster-name": cluster, "service.eks.amazonaws.com/stack": "shop/web" };
const byDriver = { "ebs.csi.aws.com/cluster": "true", "eks-cluster-name": cluster };

/** The exit code, what AWS was asked for and what was removed. */
const sweep = (found: Partial<Found>, of: Spoke = leaving, ...more: string[]) => sweepOf(objects, found, of, more);

/** The same, where the hub has these objects of the spoke, and maybe the Spoke no more. */
async function sweepOf(
  objects: readonly KubeObject[],
  found: Partial<Found>,
  of: Spoke | undefined,
  more: readonly string[],
) {
  const removed: Removal[] = [];
  const asked: unknown[] = [];
  const hub: Api = {
    list: async ({ apiVersion, plural }) =>
      objects.filter((each) => each.apiVersion === apiVersion && `${each.kind.toLowerCase()}s` === plural),
    find: async () => of,
    annotate: () => expect.fail("the hub is only read"),
    log: async () => "",
  };
  const connect = async () => ({ hub, profile: undefined, reach: async () => hub });
  const aws = {
    look: async (...args: unknown[]) => {
      asked.push(...args);
      return { ...nothing, ...found };
    },
    remove: async (_: unknown, __: unknown, removal: Removal) => {
      removed.push(removal);
    },
  };
  const code = await run(["blue", ...more], { connect }, aws);
  const ids = (items: readonly Item[]) => items.map(({ id }) => id);
  const all = ({ balancers, targetGroups, endpoints, interfaces, groups, data }: Removal) =>
    [balancers, targetGroups, endpoints, interfaces, groups, data].flatMap(ids);
  return { code, asked, removed: removed.map(all) };
}

describe("fleet sweep", () => {
  const found = { interfaces: [own(leaked, true)], groups: [eksGroup] };

  test("says what keeps the VPC, and removes nothing without --yes", async () => {
    expect(await sweep(found)).toMatchObject({ code: 1, removed: [] });
    expect(said).toContain("that the VPC CNI left behind:\n  eni-1  aws-K8S-i-1\n");
    expect(said).toContain("a controller or GuardDuty left behind:\n  sg-1\nNothing was changed: --yes does it");
  });

  test("looks in the VPC that the hub made and in the spoke's region, by the profile, and removes what was left behind", async () => {
    const { code, asked, removed } = await sweep(found, leaving, "--yes", "--profile", "spokes");
    expect({ code, removed }).toEqual({ code: 0, removed: [["eni-1", "sg-1"]] });
    expect(asked).toEqual([{ cluster, vpc: known("vpc"), region: world.spoke.spec.region }, { profile: "spokes" }]);
  });

  test.each([
    ["an interface that is in use", { interfaces: [own(leaked, false)] }],
    ["an interface of somebody else's", { interfaces: [own(item("eni-2", {}, "RDSNetworkInterface"), true)] }],
    [
      "an interface that is only described like one of a load balancer",
      { interfaces: [own(item("eni-2", {}, "ELB app/gone/3"), false)] },
    ],
    ["a security group of another cluster", { groups: [group("sg-2", { "aws:eks:cluster-name": "other" })] }],
    [
      "a security group with the cluster's name shared",
      { groups: [group("sg-2", { [`kubernetes.io/cluster/${cluster}`]: "shared" })] },
    ],
  ])("names %s, leaves it alone, and ends with 1", async (_what, left) => {
    expect(await sweep(left, leaving, "--yes")).toMatchObject({ code: 1, removed: [] });
    expect(said).toContain("not removed by this");
  });

  describe("with GuardDuty Runtime Monitoring", () => {
    const tags = { GuardDutyManaged: "true" };
    const endpoint = (change: Partial<Endpoint> = {}): Endpoint => ({
      ...item("vpce-1", tags, "com.amazonaws.us-east-1.guardduty-data"),
      ...{ service: "com.amazonaws.us-east-1.guardduty-data", interfaces: ["eni-7"], isBeingDeleted: false, ...change },
    });
    const of: Group = { ...group("sg-7", tags), description: "GuardDutyManagedSecurityGroup-vpc-1: of VPC-vpc-1" };
    const interfaces = [own(item("eni-7", {}, "VPC Endpoint Interface vpce-1"), false, "sg-7")];

    test("removes its endpoint and its security group", async () => {
      const monitored = { endpoints: [endpoint()], groups: [of], interfaces };
      expect(await sweep(monitored)).toMatchObject({ code: 1, removed: [] });
      expect(said).toContain("VPC endpoints of GuardDuty Runtime Monitoring:\n  vpce-1  com.amazonaws");
      expect(said).not.toContain("not removed by this");
      expect(await sweep(monitored, leaving, "--yes")).toMatchObject({ code: 0, removed: [["vpce-1", "sg-7"]] });
    });

    test("waits for an endpoint that is already being deleted", async () => {
      const late = { endpoints: [endpoint({ isBeingDeleted: true })], interfaces };
      expect(await sweep(late, leaving, "--yes")).toMatchObject({ code: 1, removed: [] });
      expect(said).toContain("run it again in a few minutes");
    });

    test.each([
      [
        "an endpoint of another service with its tag",
        { endpoints: [endpoint({ service: "com.amazonaws.x.sts" })], interfaces },
      ],
      ["an endpoint without its tag", { endpoints: [endpoint({ tags: {} })], interfaces }],
      ["a security group with its name alone", { groups: [{ ...of, tags: {} }] }],
      ["a security group with its tag alone", { groups: [group("sg-7", tags)] }],
    ])("leaves %s alone", async (_what, found) => {
      expect(await sweep(found, leaving, "--yes")).toMatchObject({ code: 1, removed: [] });
      expect(said).toContain("not removed by this");
    });
  });

  test.each([
    ["EKS", { "aws:eks:cluster-name": cluster }],
    ["Kubernetes", { [`kubernetes.io/cluster/${cluster}`]: "owned" }],
    ["the AWS Load Balancer Controller", { "elbv2.k8s.aws/cluster": cluster }],
    ["EKS Auto Mode", ofAuto],
  ])("removes security groups of %s", async (_who, tags) => {
    expect((await sweep({ groups: [group("sg-2", tags)] }, leaving, "--yes")).removed).toEqual([["sg-2"]]);
  });

  test("removes interfaces of pods that EKS Auto Mode left behind, and no other interface with the cluster's name", async () => {
    const tags = { "eks:eks-cluster-name": cluster };
    const ofPods = item("eni-4", { ...tags, "eks:kubernetes-cni-node-name": "i-1" });
    const interfaces = [own(ofPods, true), own(item("eni-5", tags), true), own({ ...ofPods, id: "eni-6" }, false)];
    expect(await sweep({ interfaces }, leaving, "--yes")).toMatchObject({ code: 1, removed: [["eni-4"]] });
    expect(said).toContain("delete it in AWS:\n  eni-5\n  eni-6\n");
  });

  test("leaves to Crossplane what carries the spoke's own tag", async () => {
    const own = group("sg-3", { "fleet.internal/cluster": "blue" });
    expect(await sweep({ groups: [own] }, leaving, "--yes")).toMatchObject({ code: 0, removed: [] });
    expect(said).not.toContain("sg-3");
  });

  test.each([
    ["Kubernetes, a classic one", classic(ofService), "ELB a1b2"],
    ["Kubernetes, a network one", network(ofService), "ELB net/shop/1"],
    ["the AWS Load Balancer Controller", network({ "elbv2.k8s.aws/cluster": cluster }), "ELB net/shop/1"],
    ["EKS Auto Mode", network(ofAuto), "ELB net/shop/1"],
  ])(
    "removes load balancers of %s, and the groups that their interfaces are in",
    async (_who, balancer, description) => {
      const found = { balancers: [balancer], interfaces: [held(description, "sg-1")], groups: [eksGroup] };
      expect(await sweep(found)).toMatchObject({ code: 1, removed: [] });
      expect(said).toContain(`Load balancers that controllers left behind:\n  ${balancer.id}`);
      expect(said).toContain("which AWS removes some minutes after them:\n  eni-9");
      expect(said).not.toContain("not removed by this");
      expect(await sweep(found, leaving, "--yes")).toMatchObject({ code: 0, removed: [[balancer.id, "sg-1"]] });
    },
  );

  test.each([
    ["another cluster", { "elbv2.k8s.aws/cluster": "fleet-spoke-green" }],
    ["another cluster, whose name begins alike", { [`kubernetes.io/cluster/${cluster}-2`]: "owned" }],
    ["nobody known", {}],
    ["several clusters", { [`kubernetes.io/cluster/${cluster}`]: "shared" }],
    ["EKS Auto Mode of another cluster", { ...ofAuto, "eks:eks-cluster-name": "fleet-spoke-green" }],
    ["somebody who lets EKS Auto Mode use it", { "eks:eks-cluster-name": cluster }],
    ["an application, with the spoke's own tag", { "fleet.internal/cluster": "blue" }],
  ])("names a load balancer of %s, and leaves it alone with its interfaces' groups", async (_who, tags) => {
    const found = { balancers: [network(tags)], interfaces: [held("ELB net/shop/1", "sg-1")], groups: [eksGroup] };
    expect(await sweep(found, leaving, "--yes")).toMatchObject({ code: 1, removed: [] });
    expect(said).toContain(`not removed by this. Look whose it is, and delete it in AWS:\n  ${network(tags).id}`);
    expect(said).not.toContain("eni-9");
  });

  test("removes target groups of the cluster, but for those that a load balancer uses which stays", async () => {
    const [own, others] = [network({ "elbv2.k8s.aws/cluster": cluster }), arn("loadbalancer/app/others/2")];
    const targets = (id: string, by: string, ...balancers: string[]) => ({
      ...{ ...item(id, { "elbv2.k8s.aws/cluster": by }), balancers },
    });
    const targetGroups = [
      targets("unused", cluster),
      targets("of-own", cluster, own.id),
      targets("of-both", cluster, own.id, others),
      targets("of-green", "fleet-spoke-green", own.id),
    ];
    expect((await sweep({ balancers: [own], targetGroups }, leaving, "--yes")).removed).toEqual([
      [own.id, "unused", "of-own"],
    ]);
  });

  test("ends with 1 while AWS still removes the interfaces of a load balancer that is gone", async () => {
    const late = { interfaces: [held("ELB app/gone/3", "sg-9")] };
    expect(await sweep(late, leaving, "--yes")).toMatchObject({ code: 1, removed: [] });
    expect(said).toContain("which AWS removes some minutes after them:\n  eni-9  ELB app/gone/3");
    expect(said).toContain(
      "AWS is still removing the interfaces of load balancers and endpoints; run it again in a few minutes",
    );
    expect(said).not.toContain("Waits");
  });

  test("shows an interface described like one of a load balancer that stays, if somebody else made it", async () => {
    const interfaces = [own(item("eni-2", {}, "ELB net/shop/1"), false)];
    expect(await sweep({ balancers: [network({})], interfaces }, leaving)).toMatchObject({ code: 1 });
    expect(said).toContain("\n  eni-2  ELB net/shop/1");
  });

  describe("with volumes and snapshots", () => {
    const data = [
      item("vol-1", byDriver, "8 GiB of shop/data"),
      item("vol-2", { ...byDriver, "eks-cluster-name": "fleet-spoke-blue", "ebs.csi.aws.com/cluster": "" }, "8 GiB"),
      item("snap-1", byDriver, "8 GiB"),
    ];

    test("names them, and removes none without being told which", async () => {
      expect(await sweep({ data }, leaving, "--yes")).toMatchObject({ code: 0, removed: [] });
      expect(said).toContain("--data ID removes one:\n  vol-1  8 GiB of shop/data\n  vol-2  8 GiB\n  snap-1  8 GiB\n");
      expect(await sweep({ ...found, data }, leaving, "--yes")).toMatchObject({ removed: [["eni-1", "sg-1"]] });
    });

    test("removes those that EKS Auto Mode made, and none that only names the cluster", async () => {
      const tags = { "eks:eks-cluster-name": cluster };
      const ofAuto = [item("vol-3", { ...tags, "ebs.csi.eks.amazonaws.com/cluster": "true" }), item("vol-4", tags)];
      expect((await sweep({ data: ofAuto }, leaving, "--yes", "--data", "vol-3")).removed).toEqual([["vol-3"]]);
      await expect(sweep({ data: ofAuto }, leaving, "--yes", "--data", "vol-4")).rejects.toThrow(
        `or eks:eks-cluster-name: ${cluster} and ebs.csi.eks.amazonaws.com/cluster, which EKS Auto Mode sets. Allowed: vol-3.`,
      );
    });

    test("removes those that it is told by their IDs, once it may", async () => {
      const asked = ["--data", "snap-1", "--data", "vol-1"];
      expect(await sweep({ data }, leaving, ...asked)).toMatchObject({ code: 1, removed: [] });
      expect(await sweep({ data }, leaving, "--yes", ...asked)).toMatchObject({
        code: 0,
        removed: [["vol-1", "snap-1"]],
      });
      expect(said).toContain("Removed what --data named, which kept no VPC");
      expect(said).not.toContain("Crossplane");
    });

    test("removes them without waiting for interfaces that go by themselves, and says that these are late", async () => {
      const late = { data, interfaces: [held("ELB app/gone/3", "sg-9")] };
      expect(await sweep(late, leaving, "--yes", "--data", "vol-1")).toMatchObject({ code: 1, removed: [["vol-1"]] });
      expect(said).not.toContain("Waits");
      expect(said).toContain("AWS is still removing the interfaces of load balancers and endpoints");
    });

    describe("when there is no VPC any more", () => {
      const withoutVpc = objects.filter(({ kind }) => kind !== "VPC");
      const gone = {
        ...leaving,
        status: { ...leaving.status, cluster: { name: cluster, arn: `arn:aws:eks:us-east-1:${account}:cluster/x` } },
      } as Spoke;

      test.each([
        ["the hub has other resources of the spoke", withoutVpc],
        ["the hub has none", []],
      ])("finds them by the cluster and its region, and removes those that it is told: %s", async (_what, left) => {
        const line = ["--yes", "--data", "vol-1"];
        const { code, asked, removed } = await sweepOf(left, { data }, gone, line);
        expect({ code, removed }).toEqual({ code: 0, removed: [["vol-1"]] });
        expect(asked[0]).toEqual({ cluster, vpc: undefined, region: world.spoke.spec.region });
        expect(said).toContain("blue has no VPC any more\n");
        expect(said).toContain("  vol-1  8 GiB of shop/data");
      });

      test("says that nothing is left", async () => {
        expect(await sweepOf(withoutVpc, {}, gone, [])).toMatchObject({ code: 0, removed: [] });
        expect(said).toBe(
          `blue has no VPC any more\nNothing of the cluster is left in account ${account}, ${world.spoke.spec.region}\n`,
        );
      });

      test("refuses data that it does not find, and credentials of another account", async () => {
        await expect(sweepOf([], { data }, gone, ["--yes", "--data", "vol-9"])).rejects.toThrow("--data vol-9");
        await expect(sweepOf([], { account: "333333333333" }, gone, [])).rejects.toThrow(`is in account ${account}`);
      });
    });

    test.each([
      ["that the driver did not make", "vol-2"],
      ["of somebody else", "vol-9"],
    ])("refuses one %s, and removes nothing else either", async (_which, id) => {
      await expect(sweep({ ...found, data }, leaving, "--yes", "--data", "vol-1", "--data", id)).rejects.toThrow(
        `--data ${id}: is no volume that nothing uses`,
      );
      expect(said).toBe("");
    });
  });

  test("leaves a group alone that an interface uses which stays", async () => {
    const used = own(item("eni-3", {}, "Lambda"), false, "sg-1");
    expect(await sweep({ groups: [eksGroup], interfaces: [used] }, leaving, "--yes")).toMatchObject({ removed: [] });
  });

  test("gives no all-clear with credentials of another account than the VPC's, also of a Spoke that names none", async () => {
    await expect(sweep({ account: "333333333333" })).rejects.toThrow(
      `spoke blue is in account ${account}, and the credentials are of 333333333333`,
    );
  });

  test("touches and names in a VPC that others use too only what carries the cluster's name, whatever the hub still has", async () => {
    const network = {
      vpcId: "vpc-0a1b2c3d4e5f60718",
      privateSubnetIds: ["subnet-0a1b2c3d4e5f60718", "subnet-1a1b2c3d4e5f60718"],
    };
    const shared = running(spoke({ network: { existing: network } }));
    const status = { ...shared.spoke.status, phase: "Deleting", cluster: { name: cluster } };
    const ofOthers = {
      interfaces: [
        own(leaked, true),
        held("ELB net/theirs/2"),
        own(item("eni-3", { "cluster.k8s.amazonaws.com/name": cluster }), true),
      ],
      groups: [eksGroup, group("sg-2", { "aws:eks:cluster-name": "theirs" })],
    };
    const { asked, code, removed } = await sweepOf([], ofOthers, { ...shared.spoke, status } as Spoke, ["--yes"]);
    expect(asked[0]).toMatchObject({ vpc: network.vpcId });
    expect({ code, removed }).toEqual({ code: 0, removed: [["eni-3", "sg-1"]] });
    for (const theirs of ["eni-1", "eni-9", "sg-2"]) expect(said).not.toContain(theirs);
  });

  test("is for a spoke that is being removed and whose cluster is gone", async () => {
    await expect(sweep(found, world.spoke, "--yes")).rejects.toThrow("spoke blue is not being removed: its phase is");
    await expect(sweep({ ...found, hasCluster: true }, leaving, "--yes")).rejects.toThrow(
      "EKS still has the cluster fleet-spoke-blue",
    );
  });
});

describe("fleet sweep after a Spoke whose cluster Cluster API makes", () => {
  const found = { interfaces: [own(leaked, true)], groups: [eksGroup] };
  const plane = (spec: object, metadata: object = { deletionTimestamp: "2026-11-26T12:00:00Z" }): KubeObject => ({
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
    kind: "AWSManagedControlPlane",
    metadata: {
      name: cluster,
      namespace: "cluster-api-clusters",
      labels: { "fleet.internal/cluster": "blue" },
      ...metadata,
    },
    spec: { eksClusterName: cluster, region: "eu-west-1", ...spec },
  });
  const network = { network: { vpc: { id: "vpc-0123456789abcdef0" } } };

  test("waits until the Spoke is gone: its VPC goes after it", async () => {
    const spec = { ...leaving.spec, existing: { madeBy: "ClusterAPI" } } as Spoke["spec"];
    await expect(sweepOf([plane(network)], found, { ...leaving, spec }, ["--yes"])).rejects.toThrow(
      "Cluster API removes the VPC of spoke blue when the Spoke is gone, which it is not",
    );
  });

  test("looks in the VPC and region of Cluster API's control plane, and removes what was left behind", async () => {
    const { code, asked, removed } = await sweepOf([plane(network)], found, undefined, ["--yes"]);
    expect({ code, removed }).toEqual({ code: 0, removed: [["eni-1", "sg-1"]] });
    expect(asked).toEqual([{ cluster, vpc: network.network.vpc.id, region: "eu-west-1" }, {}]);
    expect(said).toContain("Removed what was left behind. Cluster API tries again within some minutes");
  });

  test("refuses while EKS has the cluster, and before Cluster API removes it", async () => {
    await expect(sweepOf([plane(network)], { hasCluster: true }, undefined, ["--yes"])).rejects.toThrow(
      "describe awsmanagedcontrolplanes,machinepools says what it waits for",
    );
    await expect(sweepOf([plane(network, {})], found, undefined, ["--yes"])).rejects.toThrow(
      "spoke blue is gone, and Cluster API has not begun to remove its cluster",
    );
  });

  test("says so where a control plane is none of the chart's, and where there is neither Spoke nor cluster", async () => {
    await expect(sweepOf([plane({ region: undefined })], found, undefined, [])).rejects.toThrow("has no spec.region");
    await expect(sweepOf([], found, undefined, [])).rejects.toThrow("the hub has no spoke blue");
  });
});
