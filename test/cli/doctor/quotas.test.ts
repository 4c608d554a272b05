import { afterEach, describe, expect, test } from "vitest";
import { checkQuotas, hubShare, type Share, spokeShare } from "../../../cli/doctor/quotas.ts";
import { hubNodes, spokeNodes } from "../../../cli/doctor/vcpus.ts";
import { clusterTag, fleetTag } from "../../../lib/labels.ts";
import { type QuotaName, quotas } from "../../../lib/quotas.ts";
import { example } from "../../functions/spoke/support/fixtures.ts";
import { settled } from "../../functions/spoke/support/world.ts";
import { runStack } from "../../support/program.ts";
import { type Answers, type Asked, ec2, fakeAws, Refusal, result, tagSet } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

const defaults: Readonly<Record<string, number>> = {
  [quotas.vpcs.code]: 5,
  [quotas.gatewayEndpoints.code]: 20,
  [quotas.addresses.code]: 5,
  [quotas.natGateways.code]: 5,
  [quotas.vcpus.code]: 12,
  [quotas.spotVcpus.code]: 5,
  [quotas.clusters.code]: 100,
  [quotas.oidcProviders.code]: 100,
  [quotas.roles.code]: 1000,
};
const value = ({ input }: Asked) => ({ Quota: { Value: defaults[input["QuotaCode"] ?? ""] } });
const list = <T>(count: number, item: (index: number) => T) => Array.from({ length: count }, (_, index) => item(index));
const members = (name: string, all: readonly string[]) =>
  `<${name}>${all.map((member) => `<member>${member}</member>`).join("")}</${name}><IsTruncated>false</IsTruncated>`;
const ofHub = tagSet({ [fleetTag]: "fleet-dev", [clusterTag]: "hub" });
const vpcs = (others: number, own = "") =>
  ec2("DescribeVpcs", "vpcSet", [...list(others, (index) => `<vpcId>vpc-${index}</vpcId>`), ...(own ? [own] : [])]);
const endpoint = (id: string, type = "Gateway") =>
  `<vpcEndpointId>vpce-${id}</vpcEndpointId><vpcEndpointType>${type}</vpcEndpointType>`;
const gateway = (id: string, subnet: string, state = "available", tags = "") =>
  `<natGatewayId>${id}</natGatewayId><subnetId>${subnet}</subnetId><state>${state}</state>${tags}`;

interface FakeInstance {
  readonly type?: string;
  readonly cores?: number;
  readonly spot?: boolean;
  readonly tags?: string;
}
const instances = (...all: readonly FakeInstance[]) =>
  ec2(
    "DescribeInstances",
    "reservationSet",
    all.map(
      ({ type = "m6i.large", cores = 1, spot = false, tags = "" }) =>
        `<instancesSet><item><instanceId>i-1</instanceId><instanceType>${type}</instanceType>${spot ? "<instanceLifecycle>spot</instanceLifecycle>" : ""}` +
        `<cpuOptions><coreCount>${cores}</coreCount><threadsPerCore>2</threadsPerCore></cpuOptions>${tags}</item></instancesSet>`,
    ),
  );
const instanceTypes = (sizes: Readonly<Record<string, number>>) =>
  ec2(
    "DescribeInstanceTypes",
    "instanceTypeSet",
    Object.entries(sizes).map(
      ([type, vcpus]) =>
        `<instanceType>${type}</instanceType><vCpuInfo><defaultVCpus>${vcpus}</defaultVCpus></vCpuInfo>`,
    ),
  );

/** An account in which nothing is but its default VPC. */
const fresh: Answers = {
  GetServiceQuota: value,
  DescribeVpcs: vpcs(1),
  DescribeVpcEndpoints: ec2("DescribeVpcEndpoints", "vpcEndpointSet", []),
  DescribeAddresses: ec2("DescribeAddresses", "addressesSet", []),
  DescribeNatGateways: ec2("DescribeNatGateways", "natGatewaySet", []),
  DescribeSubnets: ec2(
    "DescribeSubnets",
    "subnetSet",
    ["a", "b"].map(
      (zone) => `<subnetId>subnet-${zone}</subnetId><availabilityZone>eu-central-1${zone}</availabilityZone>`,
    ),
  ),
  DescribeInstances: instances(),
  DescribeInstanceTypes: instanceTypes({ "m6i.large": 2, "m7g.large": 2 }),
  ListClusters: { clusters: [] },
  ListOpenIDConnectProviders: result("ListOpenIDConnectProviders", members("OpenIDConnectProviderList", [])),
  ListRoles: result("ListRoles", members("Roles", ["<RoleName>other</RoleName>"])),
};

async function look(
  change: Answers,
  { spokes = 1, ...stack }: { spokes?: number } & Parameters<typeof devStack>[0] = {},
) {
  const aws = await fakeAws({ ...fresh, ...change });
  close = aws.close;
  const findings = await checkQuotas(await devStack(stack), spokes, aws.config);
  const names = Object.keys(quotas) as QuotaName[];
  const found = names.map((name) => [name, findings.find((finding) => finding.name === quotas[name].name)] as const);
  return { ...Object.fromEntries(found), asked: aws.asked } as unknown as Record<
    QuotaName,
    { status: string; message: string; todo: string }
  > & { asked: readonly Asked[] };
}

describe("fleet doctor, quotas", () => {
  test("of a new account have room for a hub and a spoke", async () => {
    const found = await look({});
    for (const name of Object.keys(quotas) as QuotaName[]) expect(found[name]).toMatchObject({ status: "ok" });
    expect(found.vpcs.message).toBe("5, of which 1 are in use; the hub takes 1 more, 1 more spoke 1");
    expect(found.roles.message).toBe("1000, of which 1 are in use; the hub takes 10 more, 1 more spoke 5");
  });

  test("that have no room are told with the request for more", async () => {
    const { vpcs: found } = await look({ DescribeVpcs: vpcs(4) });
    expect(found).toMatchObject({ status: "wrong" });
    expect(found.todo).toContain(
      "aws service-quotas request-service-quota-increase --region eu-central-1 --service-code vpc --quota-code L-F678F1CE --desired-value 6",
    );
    await close();
    expect((await look({ DescribeVpcs: vpcs(3) })).vpcs.status).toBe("ok");
  });

  test("count more spokes", async () => {
    const found = await look({}, { spokes: 5 });
    expect(found.vpcs).toMatchObject({ status: "wrong", todo: expect.stringContaining("--desired-value 7") });
    expect(found.addresses).toMatchObject({ status: "wrong", todo: expect.stringContaining("--desired-value 6") });
    expect(found.clusters.status).toBe("ok");
  });

  test("do not count again what of the hub is there", async () => {
    const own = (operation: string, set: string, id: string) => ec2(operation, set, [`${id}${ofHub}`]);
    const found = await look({
      DescribeVpcs: vpcs(3, `<vpcId>vpc-hub</vpcId>${ofHub}`),
      DescribeVpcEndpoints: own("DescribeVpcEndpoints", "vpcEndpointSet", endpoint("hub")),
      DescribeAddresses: own("DescribeAddresses", "addressesSet", "<allocationId>eipalloc-1</allocationId>"),
      DescribeNatGateways: ec2("DescribeNatGateways", "natGatewaySet", [
        gateway("nat-1", "subnet-a", "available", ofHub),
      ]),
      ListClusters: { clusters: ["fleet-dev-hub"] },
      ListRoles: result(
        "ListRoles",
        members(
          "Roles",
          ["fleet-dev-hub-cluster", "fleet-dev-hub-node", "fleet-dev-spoke-x"].map(
            (name) => `<RoleName>${name}</RoleName>`,
          ),
        ),
      ),
    });
    expect(found.vpcs).toMatchObject({ status: "ok", message: expect.stringContaining("the hub takes 0 more") });
    for (const name of ["gatewayEndpoints", "addresses", "natGateways", "clusters", "oidcProviders"] as const)
      expect(found[name].message).toContain("the hub takes 0 more");
    expect(found.roles.message).toContain("the hub takes 8 more");
  });

  test("a VPC of another fleet is nothing of this hub's", async () => {
    const foreign = tagSet({ [fleetTag]: "fleet-prod", [clusterTag]: "hub" });
    const found = await look({ DescribeVpcs: vpcs(0, `<vpcId>vpc-1</vpcId>${foreign}`) });
    expect(found.vpcs.message).toContain("the hub takes 1 more");
  });

  test("of NAT gateways count for the zone that has the most, without those that are gone", async () => {
    const gateways = [
      ...list(4, (index) => gateway(`nat-a${index}`, "subnet-a")),
      gateway("nat-b", "subnet-b"),
      gateway("nat-gone", "subnet-a", "deleted"),
    ];
    const { natGateways } = await look({ DescribeNatGateways: ec2("DescribeNatGateways", "natGatewaySet", gateways) });
    expect(natGateways).toMatchObject({ status: "wrong", message: expect.stringContaining("of which 4 are in use") });
  });

  test("of gateway endpoints count one for each VPC, and no interface endpoints", async () => {
    const endpoints = (gateways: number) =>
      ec2("DescribeVpcEndpoints", "vpcEndpointSet", [
        ...list(gateways, (index) => endpoint(String(index))),
        ...list(30, (index) => endpoint(`i${index}`, "Interface")),
      ]);
    expect((await look({ DescribeVpcEndpoints: endpoints(18) })).gatewayEndpoints.status).toBe("ok");
    await close();
    const { gatewayEndpoints } = await look({ DescribeVpcEndpoints: endpoints(19) });
    expect(gatewayEndpoints).toMatchObject({
      status: "wrong",
      message: "20, of which 19 are in use; the hub takes 1 more, 1 more spoke 1",
      todo: expect.stringContaining("--service-code vpc --quota-code L-1B52E74A --desired-value 21"),
    });
  });

  test("take AWS's default where the account has no value of its own, and IAM's in its home region", async () => {
    const { vpcs: found, asked } = await look({
      GetServiceQuota: new Refusal("NoSuchResourceException"),
      GetAWSDefaultServiceQuota: value,
    });
    expect(found.status).toBe("ok");
    const regions = new Set(asked.filter(({ input }) => input["ServiceCode"] === "iam").map(({ region }) => region));
    expect([...regions]).toEqual(["us-east-1"]);
  });

  test("of vCPUs have room for the nodes of hub and spoke, and for one new node in each zone of a group that is replaced", async () => {
    const { vcpus, spotVcpus } = await look({});
    expect(vcpus).toMatchObject({
      status: "ok",
      message:
        "12, of which 0 are in use; the hub takes 4 more, 1 more spoke 4, new nodes of a node group that is replaced 4",
    });
    expect(spotVcpus.message).toBe("5, of which 0 are in use; the hub takes 0 more, 1 more spoke 0");
    await close();
    expect((await look({}, { spokes: 2 })).vcpus).toMatchObject({
      status: "wrong",
      todo: expect.stringContaining("--service-code ec2 --quota-code L-1216C47A --desired-value 16"),
    });
  });

  test("of vCPUs count running instances of Standard families, and the hub's own nodes once", async () => {
    const running = instances(
      { cores: 2, tags: ofHub },
      { type: "c7g.xlarge", cores: 2 },
      { type: "im4gn.large" },
      { type: "g5.48xlarge", cores: 96 },
      { type: "r6i.xlarge", cores: 2, spot: true },
    );
    const { vcpus, spotVcpus } = await look({ DescribeInstances: running });
    expect(vcpus.message).toContain("12, of which 10 are in use; the hub takes 0 more");
    expect(spotVcpus.message).toContain("5, of which 4 are in use");
  });

  test("of vCPUs follow the hub's nodes: capacity type, number, and the largest of the instance types", async () => {
    const { settings } = await devStack();
    const nodes = {
      nodeCapacityType: "SPOT",
      nodeInstanceTypes: ["m6i.large", "m6i.2xlarge"],
      nodeDesired: 3,
    } as const;
    const { vcpus, spotVcpus } = await look(
      { DescribeInstanceTypes: instanceTypes({ "m6i.large": 2, "m6i.2xlarge": 8 }) },
      { settings: { ...settings, ...nodes } },
    );
    expect(vcpus.message).toContain("the hub takes 0 more, 1 more spoke 4");
    expect(spotVcpus).toMatchObject({
      status: "wrong",
      message: expect.stringContaining(
        "the hub takes 24 more, 1 more spoke 0, new nodes of a node group that is replaced 16",
      ),
      todo: expect.stringContaining("--quota-code L-34B43A08 --desired-value 40"),
    });
  });

  test("of vCPUs are unknown while EC2 doesn't describe the instance types, and not checked on the embedded cloud", async () => {
    const { vcpus } = await look({ DescribeInstanceTypes: new Refusal("UnauthorizedOperation") });
    expect(vcpus).toMatchObject({ status: "unchecked", todo: "allow this identity ec2:DescribeInstanceTypes" });
    await close();
    expect((await look({}, { embedded: true })).spotVcpus).toMatchObject({ status: "note" });
  });

  test("name instance types of the hub that count against another quota", async () => {
    const { settings } = await devStack();
    const aws = await fakeAws({
      ...fresh,
      DescribeInstanceTypes: instanceTypes({ "m6i.large": 2, "x2iedn.xlarge": 4 }),
    });
    close = aws.close;
    const stack = await devStack({ settings: { ...settings, nodeInstanceTypes: ["x2iedn.xlarge"] } });
    const findings = await checkQuotas(stack, 1, aws.config);
    expect(findings.find(({ name }) => name === "vCPUs of other instances")).toMatchObject({
      status: "note",
      message: expect.stringContaining("x2iedn.xlarge"),
    });
  });

  test("that may not be seen are unknown, with the right that is missing, and never ok", async () => {
    const blind = await look({ GetServiceQuota: new Refusal("AccessDeniedException") });
    for (const name of Object.keys(quotas) as QuotaName[])
      expect(blind[name]).toMatchObject({
        status: "unchecked",
        todo: expect.stringContaining("servicequotas:GetServiceQuota"),
      });
    await close();
    const half = await look({
      DescribeVpcs: new Refusal("UnauthorizedOperation"),
      ListRoles: new Refusal("AccessDenied"),
      ListClusters: new Refusal("AccessDeniedException"),
    });
    expect(half.vpcs).toMatchObject({ status: "unchecked", todo: "allow this identity ec2:DescribeVpcs" });
    expect(half.roles).toMatchObject({ status: "unchecked", todo: "allow this identity iam:ListRoles" });
    expect(half.clusters.status).toBe("unchecked");
    expect(half.addresses.status).toBe("ok");
  });

  test("that Service Quotas has no value of are unknown", async () => {
    expect((await look({ GetServiceQuota: { Quota: {} } })).vpcs.status).toBe("unchecked");
  });
});

describe("what is counted for", () => {
  const types = {
    vpcs: "aws:ec2/vpc:Vpc",
    gatewayEndpoints: "aws:ec2/vpcEndpoint:VpcEndpoint",
    addresses: "aws:ec2/eip:Eip",
    natGateways: "aws:ec2/natGateway:NatGateway",
    clusters: "eks:index:Cluster",
    oidcProviders: "eks:index:Cluster",
    roles: "aws:iam/role:Role",
  } as const;

  test.each(["dev", "prod"])("the hub of %s is what the program makes", async (name) => {
    const { resources } = await runStack(name);
    const made = (quota: keyof Share) => resources.filter(({ type }) => type === types[quota]).length;
    const { settings } = await devStack();
    const { zones = 2 } = settings;
    const share = hubShare(name === "dev" ? settings : { ...settings, zones: 3, natGateways: "per-zone" });
    const perZone = name === "dev" ? made("natGateways") : made("natGateways") / 3;
    expect(zones).toBe(2);
    expect(share).toEqual({
      vpcs: made("vpcs"),
      gatewayEndpoints: made("gatewayEndpoints"),
      addresses: made("addresses"),
      natGateways: perZone,
      clusters: made("clusters"),
      oidcProviders: made("oidcProviders"),
      roles: made("roles"),
    });
  });

  test("counts the roles of controllers that pull from Amazon ECR", () => {
    const host = "111111111111.dkr.ecr.eu-central-1.amazonaws.com";
    expect(hubShare({ chartsRegistry: `oci://${host}`, packagesRegistry: host }).roles - hubShare({}).roles).toBe(2);
  });

  test.for([
    ["on the hub", ""],
    ["elsewhere", "arn:aws:iam::111111111111:role/argocd"],
  ] as const)("an Argo CD %s adds the roles that the program makes for it", async ([, argocdRoleArn]) => {
    const config = { argocdClusterSecret: "true", argocdSpokes: "true", argocdRoleArn };
    const own = Object.fromEntries(Object.entries(config).map(([key, value]) => [`eks-gitops-fleet:${key}`, value]));
    const roles = (all: readonly { type: string }[]) => all.filter(({ type }) => type === types.roles).length;
    const [before, after] = [await runStack("dev"), await runStack("dev", own)];
    const { settings } = await devStack();
    const more = hubShare({ ...settings, argocdSpokes: true, argocdRoleArn }).roles - hubShare(settings).roles;
    expect(more).toBe(roles(after.resources) - roles(before.resources));
  });

  test.each(["dev", "prod"])("the nodes of %s are those of the program", async (name) => {
    const { resources } = await runStack(name);
    const group = resources.find(({ type }) => type === "eks:index:ManagedNodeGroup");
    const { settings } = await devStack();
    const own =
      name === "dev"
        ? settings
        : { ...settings, zones: 3, nodeInstanceTypes: ["m7g.xlarge", "m6g.xlarge"], nodeMin: 3, nodeDesired: 3 };
    const { instanceTypes, capacityType, count, zones } = hubNodes(own);
    expect(group?.inputs).toMatchObject({ instanceTypes, capacityType, scalingConfig: { desiredSize: count } });
    expect(zones).toBe(own.zones ?? 2);
  });

  test("a hub in an existing VPC makes no network", () => {
    expect(hubShare({ vpcId: "vpc-0123456789abcdef0", natGateways: "per-zone", zones: 3 })).toMatchObject({
      vpcs: 0,
      gatewayEndpoints: 0,
      addresses: 0,
      natGateways: 0,
      clusters: 1,
    });
  });

  test("the nodes of a spoke are those of the composition", () => {
    const world = settled(example("minimal"));
    const [group] = [...world.live.values()].filter(({ object }) => object.kind === "NodeGroup");
    const { instanceTypes, capacityType, count } = spokeNodes;
    expect(group?.object).toMatchObject({
      spec: { forProvider: { instanceTypes, capacityType }, initProvider: { scalingConfig: { desiredSize: count } } },
    });
  });

  test("a spoke is what the composition makes of one that says no more than it must", () => {
    const world = settled(example("minimal"));
    const kinds = [...world.live.values()].map(({ object }) => object.kind);
    const made = (kind: string) => kinds.filter((found) => found === kind).length;
    expect(spokeShare({})).toEqual({
      vpcs: made("VPC"),
      gatewayEndpoints: made("VPCEndpoint"),
      addresses: made("EIP"),
      natGateways: made("NATGateway"),
      clusters: made("Cluster"),
      oidcProviders: made("OpenIDConnectProvider"),
      roles: made("Role"),
    });
  });
});
