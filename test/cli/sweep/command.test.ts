import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Api } from "../../../cli/kubernetes/api.ts";
import type { Found } from "../../../cli/sweep/aws.ts";
import { run } from "../../../cli/sweep/command.ts";
import type { Group, Item, Plan } from "../../../cli/sweep/plan.ts";
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
const nothing: Found = { account, hasCluster: false, interfaces: [], groups: [], volumes: [] };

/** The exit code, what AWS was asked for and what was removed. */
async function sweep(found: Partial<Found>, of: Spoke = leaving, ...more: string[]) {
  const removed: Pick<Plan, "interfaces" | "groups">[] = [];
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
    remove: async (_: unknown, __: unknown, plan: Pick<Plan, "interfaces" | "groups">) => {
      removed.push(plan);
    },
  };
  const code = await run(["blue", ...more], { connect }, aws);
  const ids = (items: readonly Item[]) => items.map(({ id }) => id);
  return { code, asked, removed: removed.map(({ interfaces, groups }) => [...ids(interfaces), ...ids(groups)]) };
}

describe("fleet sweep", () => {
  const found = { interfaces: [{ ...leaked, isFree: true, groups: [] }], groups: [eksGroup] };

  test("says what keeps the VPC, and removes nothing without --yes", async () => {
    expect(await sweep(found)).toMatchObject({ code: 1, removed: [] });
    expect(said).toContain("that the VPC CNI left behind:\n  eni-1  aws-K8S-i-1\n");
    expect(said).toContain("or a controller left behind:\n  sg-1\nNothing was changed: --yes does it");
  });

  test("looks in the VPC that the hub made and in the spoke's region, by the profile, and removes what was left behind", async () => {
    const { code, asked, removed } = await sweep(found, leaving, "--yes", "--profile", "spokes");
    expect({ code, removed }).toEqual({ code: 0, removed: [["eni-1", "sg-1"]] });
    expect(asked).toEqual([{ cluster, vpc: known("vpc"), region: world.spoke.spec.region }, { profile: "spokes" }]);
  });

  test.each([
    ["an interface that is in use", { interfaces: [{ ...leaked, isFree: false, groups: [] }] }],
    [
      "an interface of somebody else's",
      { interfaces: [{ ...item("eni-2", {}, "RDSNetworkInterface"), isFree: true, groups: [] }] },
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

  test.each([
    ["EKS", { "aws:eks:cluster-name": cluster }],
    ["Kubernetes", { [`kubernetes.io/cluster/${cluster}`]: "owned" }],
    ["the AWS Load Balancer Controller", { "elbv2.k8s.aws/cluster": cluster }],
  ])("removes security groups of %s", async (_who, tags) => {
    expect((await sweep({ groups: [group("sg-2", tags)] }, leaving, "--yes")).removed).toEqual([["sg-2"]]);
  });

  test("leaves to Crossplane what carries the spoke's own tag, and names volumes without removing them", async () => {
    const own = group("sg-3", { "fleet.internal/cluster": "blue" });
    expect(await sweep({ groups: [own], volumes: [item("vol-1", {}, "8 GiB")] }, leaving, "--yes")).toMatchObject({
      ...{ code: 0, removed: [] },
    });
    expect(said).toContain("hold data; aws ec2 delete-volume removes one:\n  vol-1  8 GiB");
    expect(said).not.toContain("sg-3");
  });

  test("leaves a group alone that an interface uses which stays", async () => {
    const used = { ...item("eni-3", {}, "ELB app/shop"), isFree: false, groups: ["sg-1"] };
    expect(await sweep({ groups: [eksGroup], interfaces: [used] }, leaving, "--yes")).toMatchObject({ removed: [] });
  });

  test("gives no all-clear with credentials of another account than the VPC's, also of a Spoke that names none", async () => {
    await expect(sweep({ account: "333333333333" })).rejects.toThrow(
      `spoke blue is in account ${account}, and the credentials are of 333333333333`,
    );
  });

  test("is for a spoke that is being removed and whose cluster is gone", async () => {
    await expect(sweep(found, world.spoke, "--yes")).rejects.toThrow("spoke blue is not being removed: its phase is");
    await expect(sweep({ ...found, hasCluster: true }, leaving, "--yes")).rejects.toThrow(
      "EKS still has the cluster fleet-spoke-blue",
    );
  });
});
