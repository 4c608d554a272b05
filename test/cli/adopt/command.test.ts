import { expect, test } from "vitest";
import { parse } from "yaml";
import type { InAws, Look } from "../../../cli/adopt/aws.ts";
import { run } from "../../../cli/adopt/command.ts";
import { spoke } from "../../functions/spoke/support/fixtures.ts";
import { running } from "../../functions/spoke/support/world.ts";
import { onCheckout, withoutKustomize } from "../support/on-checkout.ts";
import { spokeText } from "../support/spokes-checkout.ts";
import { inAwsOf, numberedKeys } from "./support/made.ts";

const world = running(spoke({ network: { cidr: "10.100.0.0/16" } }));
const file = "spokes/fleet/blue/spoke.yaml";

const its = onCheckout();

async function adopt(inAws: InAws = inAwsOf(world), ...more: string[]) {
  const asked: Parameters<Look>[] = [];
  const look: Look = async (...args) => {
    asked.push(args);
    return inAws;
  };
  its.said = "";
  const code = await run(["blue", "--repository", its.at.system, ...more], withoutKustomize, look);
  return { code, asked };
}

const spec = () => parse(its.at.read(file)).spec;

test("writes what AWS has into the Spoke, with its network and its zones, and leaves the rest of the file", async () => {
  const { code, asked } = await adopt(inAwsOf(world), "--profile", "ops");
  expect(code).toBe(0);
  expect(asked).toEqual([
    [{ fleet: "fleet", spoke: "blue", cluster: "fleet-spoke-blue", region: "eu-west-1" }, { profile: "ops" }],
  ]);
  expect(its.at.read(file)).toContain("# Ours.");
  expect(its.at.read(file)).toContain("region: eu-west-1 # near the users");
  const { existing, network } = spec();
  expect(Object.keys(existing).sort()).toEqual(numberedKeys(world));
  expect(network).toEqual({ cidr: "10.100.0.0/16", availabilityZones: ["us-east-1a", "us-east-1b"] });
  expect(its.said).toContain("Found of blue in account 000000000000, eu-west-1:\n  vpc");
  expect(its.said).toContain("Adopt spoke blue");
});

test.each([[[]], [["--dry-run"]]])("warns of a hub that has the Spoke: %j", async (more) => {
  await adopt(inAwsOf(world), ...more);
  expect(its.said).toContain(
    "Only a hub that has no Spoke blue takes this in. One that has it refuses this and every later",
  );
  expect(its.said).toMatch(/let it go\nfirst \(fleet release blue\)/);
});

test("a second time changes nothing", async () => {
  await adopt();
  const before = its.at.read(file);
  await adopt();
  expect(its.said).toContain(`Nothing to change: ${file} says so already`);
  expect(its.at.read(file)).toBe(before);
});

test("refuses a Spoke whose cluster Cluster API makes: the hub finds it by its name", async () => {
  its.at.write(file, spokeText("blue", "  existing:\n    madeBy: ClusterAPI\n"));
  await expect(adopt()).rejects.toThrow(/existing\.madeBy ClusterAPI .*leave it as it is/s);
});

test("takes a Spoke in again that was let go", async () => {
  its.at.write(file, spokeText("blue", "  deletionPolicy: Orphan\n"));
  await adopt();
  expect(spec()).not.toHaveProperty("deletionPolicy");
});

const existing = {
  vpcId: "vpc-0a1b2c3d4e5f60718",
  privateSubnetIds: ["subnet-0a1b2c3d4e5f60718", "subnet-1a1b2c3d4e5f60718"],
};
const inShared = `  network:\n    existing: ${JSON.stringify(existing)}\n`;

test("leaves a network that is somebody else's as the file has it, and finds the rest", async () => {
  const shared = running(spoke({ network: { existing } }));
  its.at.write(file, spokeText("blue", inShared));
  await adopt(inAwsOf(shared));
  expect(spec().network).toEqual({ existing });
  expect(Object.keys(spec().existing).sort()).toEqual(["key", "launch-template", "oidc-provider"]);
  expect(its.said).not.toContain("Not there, the hub makes it");
});

test("finds the launch template of every group of nodes in a network that is somebody else's", async () => {
  const nodeGroups = [{ name: "nodes" }, { name: "gpu", instanceTypes: ["g6.xlarge"] }];
  its.at.write(file, spokeText("blue", `${inShared}  nodeGroups: ${JSON.stringify(nodeGroups)}\n`));
  await adopt(inAwsOf(running(spoke({ network: { existing }, nodeGroups }))));
  expect(Object.keys(spec().existing).sort()).toEqual(["key", "launch-template", "launch-templates", "oidc-provider"]);
  expect(Object.keys(spec().existing["launch-templates"])).toEqual(["gpu"]);
});

test("refuses a cluster that is in another VPC than the file says", async () => {
  its.at.write(file, spokeText("blue", inShared));
  await expect(adopt()).rejects.toThrow(
    "the EKS cluster fleet-spoke-blue is in vpc-vpc, spec.network.existing says vpc-0a1b2c3d4e5f60718",
  );
});

test("has nothing to take in where AWS has nothing of a spoke in somebody else's network", async () => {
  its.at.write(file, spokeText("blue", inShared));
  await expect(adopt({ account: "000000000000", tagged: [], cluster: undefined })).rejects.toThrow(
    "nothing carries its tags. Is it another account or region?",
  );
});

test("says what the hub makes, and what nothing manages", async () => {
  const all = inAwsOf(world);
  const stranger = { kind: "EIP" as const, id: "eipalloc-9", tags: { Name: "somebody's" } };
  const tagged = [...all.tagged.filter(({ kind }) => kind !== "NATGateway"), stranger];
  await adopt({ ...all, tagged });
  expect(its.said).toContain("Not there, the hub makes it: nat-0");
  expect(its.said).toMatch(/nothing manages these: eipalloc-9\n/);
});

test("says that a cluster which is behind the file is upgraded, and nothing of that otherwise", async () => {
  await adopt();
  expect(its.said).not.toContain("It runs Kubernetes");
  its.at.write(file, spokeText("blue").replace('"1.35"', '"1.36"'));
  await adopt();
  expect(its.said).toContain("It runs Kubernetes 1.35; the hub brings it to 1.36");
});

test("writes nothing as a dry run", async () => {
  const before = its.at.read(file);
  await adopt(inAwsOf(world), "--dry-run");
  expect(its.said).toContain("+  existing:");
  expect(its.at.read(file)).toBe(before);
});

const vpc = inAwsOf(world).tagged.find(({ kind }) => kind === "VPC");
const without = (...kinds: string[]): InAws => {
  const all = inAwsOf(world);
  return { ...all, tagged: all.tagged.filter(({ kind }) => !kinds.includes(kind)) };
};

test.each<[string, InAws, RegExp]>([
  [
    "two of a kind",
    { ...inAwsOf(world), tagged: [...inAwsOf(world).tagged, { ...vpc, id: "vpc-2" } as never] },
    /several resources carry the tags of one part of it:\n {2}- vpc: vpc-vpc, vpc-2\nTake the tag fleet\.internal\/cluster off those that are not in use/,
  ],
  ["nothing of it", without("VPC"), /no VPC carries its tags\. Is it another account or region\?/],
  ["no zone", without("Subnet"), /name all zones in spec\.network\.availabilityZones first/],
  [
    "another fleet's cluster",
    { ...inAwsOf(world), cluster: { ...inAwsOf(world).cluster, tags: {} } as never },
    /what AWS has is not the Spoke of spokes\/fleet\/blue\/spoke\.yaml:\n {2}- the EKS cluster fleet-spoke-blue does not carry/,
  ],
])("refuses where AWS has %s, and writes nothing", async (_, inAws, message) => {
  const before = its.at.read(file);
  await expect(adopt(inAws)).rejects.toThrow(message);
  await expect(adopt(inAws)).rejects.toThrow(/Nothing was changed\.$/);
  expect(its.at.read(file)).toBe(before);
});

test("refuses credentials of another account than the Spoke's", async () => {
  its.at.write(file, spokeText("blue", '  account: { id: "111122223333", providerConfigRef: { name: payments } }\n'));
  await expect(adopt()).rejects.toThrow("the Spoke is in account 111122223333: take credentials of that account");
});
