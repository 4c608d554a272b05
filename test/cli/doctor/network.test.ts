import { afterEach, describe, expect, test } from "vitest";
import { checkNetwork, checkProxy } from "../../../cli/doctor/network.ts";
import type { Readable } from "../../../infra/settings.ts";
import { type Answers, fakeAws, identity, Refusal } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

const xml = (operation: string, inner: string) => `<${operation}Response>${inner}</${operation}Response>`;
const options = (mode: string) =>
  xml(
    "DescribeVpcBlockPublicAccessOptions",
    `<vpcBlockPublicAccessOptions><internetGatewayBlockMode>${mode}</internetGatewayBlockMode></vpcBlockPublicAccessOptions>`,
  );
const exclusions = (...vpcs: string[]) =>
  xml(
    "DescribeVpcBlockPublicAccessExclusions",
    `<vpcBlockPublicAccessExclusionSet>${vpcs
      .map(
        (vpc) =>
          `<item><resourceArn>arn:aws:ec2:eu-central-1:1:vpc/${vpc}</resourceArn><state>create-complete</state></item>`,
      )
      .join("")}</vpcBlockPublicAccessExclusionSet>`,
  );
const vpcs = (...ids: string[]) =>
  xml("DescribeVpcs", `<vpcSet>${ids.map((id) => `<item><vpcId>${id}</vpcId></item>`).join("")}</vpcSet>`);
const subnet = (id: string, zone: string, { owner = "111111111111", vpc = "vpc-1" } = {}) =>
  `<item><subnetId>${id}</subnetId><vpcId>${vpc}</vpcId><availabilityZone>${zone}</availabilityZone><ownerId>${owner}</ownerId></item>`;
const subnets = (...items: string[]) => xml("DescribeSubnets", `<subnetSet>${items.join("")}</subnetSet>`);
const usual: Answers = {
  DescribeVpcBlockPublicAccessOptions: options("off"),
  DescribeVpcBlockPublicAccessExclusions: exclusions(),
  DescribeVpcs: vpcs(),
  GetCallerIdentity: identity("arn:aws:iam::111111111111:user/me", "111111111111"),
};

async function look(settings: Readable, answers: Answers = {}) {
  const aws = await fakeAws({ ...usual, ...answers });
  close = aws.close;
  const stack = await devStack();
  const found = await checkNetwork({ ...stack, settings: { ...stack.settings, ...settings } }, aws.config);
  return { found, regions: [...new Set(aws.asked.map(({ region }) => region))] };
}
const statuses = ({ found }: Awaited<ReturnType<typeof look>>) => found.map(({ status }) => status);
const blocked = (mode: string) => ({ DescribeVpcBlockPublicAccessOptions: options(mode) });

describe("VPC Block Public Access", () => {
  test("that is off is ok, in each region of the stack", async () => {
    const looked = await look({ spokeRegions: ["eu-west-1"] });
    expect(statuses(looked)).toEqual(["ok", "ok"]);
    expect(looked.regions).toContain("eu-west-1");
  });

  test("in both directions leaves a VPC of the stack's own without a way out", async () => {
    const { found } = await look({}, blocked("block-bidirectional"));
    expect(found).toMatchObject([
      {
        status: "wrong",
        message: expect.stringContaining("NAT gateways of the VPC that the stack makes reach nothing"),
      },
      { status: "note", message: expect.stringContaining("a spoke with a VPC of its own reaches nothing") },
    ]);
    expect(found[0]?.todo).toContain("create-vpc-block-public-access-exclusion --region eu-central-1");
  });

  test("is reported for spokes only where the hub's VPC is excluded", async () => {
    const answers = { ...blocked("block-bidirectional"), DescribeVpcBlockPublicAccessExclusions: exclusions("vpc-9") };
    expect(statuses(await look({}, { ...answers, DescribeVpcs: vpcs("vpc-9") }))).toEqual(["note"]);
    await close();
    expect(statuses(await look({}, { ...answers, DescribeVpcs: vpcs("vpc-8") }))).toEqual(["wrong", "note"]);
  });

  test("of inbound traffic leaves NAT gateways alone and blocks nodes with public addresses", async () => {
    expect(statuses(await look({ natGateways: "single" }, blocked("block-ingress")))).toEqual(["note"]);
    await close();
    expect(statuses(await look({ natGateways: "none" }, blocked("block-ingress")))).toEqual(["wrong", "note"]);
  });

  test("that can't be read is unknown, with the missing permissions", async () => {
    const answers = { DescribeVpcBlockPublicAccessOptions: new Refusal("UnauthorizedOperation") };
    expect((await look({}, answers)).found).toMatchObject([
      { status: "unchecked", todo: expect.stringContaining("ec2:DescribeVpcBlockPublicAccessOptions") },
    ]);
  });
});

test("a region that the organization denies is wrong, with what Control Tower calls it", async () => {
  const denied = new Refusal(
    "UnauthorizedOperation",
    "You are not authorized to perform this operation. User: x is not authorized to perform: ec2:y with an explicit deny in a service control policy",
  );
  expect((await look({}, { DescribeVpcBlockPublicAccessOptions: denied })).found).toMatchObject([
    { status: "wrong", todo: expect.stringContaining("a governed Region") },
  ]);
});

describe("the subnets of an existing VPC", () => {
  const existing = { vpcId: "vpc-1", privateSubnetIds: ["subnet-a", "subnet-b"], publicSubnetIds: [] };
  const some = async (...items: string[]) =>
    (await look(existing, { DescribeSubnets: subnets(...items) })).found.filter(({ name }) => name.includes("subnets"));

  test("in two zones of it are ok", async () => {
    expect(await some(subnet("subnet-a", "a"), subnet("subnet-b", "b"))).toMatchObject([{ status: "ok" }]);
  });

  test("of another VPC, or in one zone, are wrong", async () => {
    const found = await some(subnet("subnet-a", "a"), subnet("subnet-b", "a", { vpc: "vpc-2" }));
    expect(found).toMatchObject([
      { status: "wrong", message: "subnet-b are not in vpc-1" },
      { status: "wrong", message: "privateSubnetIds are all in a" },
    ]);
  });

  test("that AWS RAM shares are worth knowing: spokes can't be in them", async () => {
    const owner = "222222222222";
    expect(await some(subnet("subnet-a", "a", { owner }), subnet("subnet-b", "b", { owner }))).toMatchObject([
      { status: "note", message: expect.stringContaining("AWS RAM shares subnet-a, subnet-b of account 222222222222") },
    ]);
  });

  test("that don't exist are wrong", async () => {
    const answers = { DescribeSubnets: new Refusal("InvalidSubnetID.NotFound") };
    expect((await look(existing, answers)).found).toContainEqual(
      expect.objectContaining({ status: "wrong", todo: expect.stringContaining("share them by AWS RAM") }),
    );
  });
});

test("a proxy of this machine is worth knowing, because nodes have none", () => {
  expect(checkProxy({})).toEqual([]);
  expect(checkProxy({ https_proxy: "http://proxy:3128" })).toMatchObject([
    { status: "note", message: "https_proxy is set here; nodes and controllers use no proxy" },
  ]);
});
