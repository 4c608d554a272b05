import type { CreateVpcEndpointCommandInput } from "@aws-sdk/client-ec2";
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  ServiceQuotas,
} from "@aws-sdk/client-service-quotas";
import { describe, expect, test } from "vitest";
import { REGION } from "../../gateway/ministack.ts";
import { doctorPolicy, type Quota, quotas } from "../../product.ts";
import {
  allow,
  arnOf,
  type Clients,
  cloud,
  configOf,
  ec2,
  eks,
  iam,
  outcome,
  useGatewayCloud,
} from "../support/gateway.ts";

useGatewayCloud();

const serviceQuotas = (by: Clients, region = REGION) => new ServiceQuotas({ ...configOf(by), region });
const of = ({ service, code }: Quota) => ({ ServiceCode: service, QuotaCode: code });
const inForce = async (quota: Quota) => (await serviceQuotas(cloud.deployer).getServiceQuota(of(quota))).Quota?.Value;
const raise = (quota: Quota, DesiredValue: number) =>
  serviceQuotas(cloud.deployer).requestServiceQuotaIncrease({ ...of(quota), DesiredValue });

describe("Service Quotas", () => {
  test("tells AWS's defaults, those of IAM in us-east-1 only", async () => {
    const values = await Promise.all(Object.values(quotas).map(inForce));
    expect(Object.fromEntries(Object.keys(quotas).map((name, at) => [name, values[at]]))).toEqual({
      vpcs: 5,
      gatewayEndpoints: 20,
      addresses: 5,
      natGateways: 5,
      vcpus: 5,
      spotVcpus: 5,
      clusters: 100,
      oidcProviders: 100,
      roles: 1000,
    });
    const elsewhere = serviceQuotas(cloud.deployer, "eu-central-1");
    expect(await outcome(elsewhere.getServiceQuota(of(quotas.roles)))).toBe("NoSuchResourceException");
    expect(await outcome(elsewhere.getServiceQuota(of(quotas.vpcs)))).toBe("allowed");
    const { Quotas = [] } = await serviceQuotas(cloud.deployer).listServiceQuotas({ ServiceCode: "iam" });
    expect(Quotas.map(({ QuotaName }) => QuotaName).sort()).toEqual(
      [quotas.oidcProviders.name, quotas.roles.name].sort(),
    );
  });

  test("answers whoever has the right, and nobody else; the doctor's policy is enough to read", async () => {
    const doctor = serviceQuotas(await cloud.roleWith("doctor", doctorPolicy()));
    const stranger = serviceQuotas(await cloud.roleWith("stranger", allow({ Action: ["ec2:*"] })));
    for (const Command of [GetServiceQuotaCommand, GetAWSDefaultServiceQuotaCommand]) {
      expect(await outcome(doctor.send(new Command(of(quotas.vpcs))))).toBe("allowed");
      expect(await outcome(stranger.send(new Command(of(quotas.vpcs))))).toBe("AccessDeniedException");
    }
    const increase = { ...of(quotas.vpcs), DesiredValue: 9 };
    expect(await outcome(doctor.requestServiceQuotaIncrease(increase))).toBe("AccessDeniedException");
  });
});

describe("what exceeds a quota is refused with AWS's code, and made once there is room", () => {
  test("a VPC", async () => {
    const make = (index: number) => ec2.createVpc({ CidrBlock: `10.${index}.0.0/16` });
    // The default VPC counts.
    const made = [];
    for (const index of [1, 2, 3, 4]) made.push((await make(index)).Vpc?.VpcId);
    expect(await outcome(make(5))).toBe("VpcLimitExceeded");
    await ec2.deleteVpc({ VpcId: made[0] });
    expect(await outcome(make(5))).toBe("allowed");
    expect(await outcome(make(6))).toBe("VpcLimitExceeded");
    expect(await outcome(raise(quotas.vpcs, 5))).toBe("IllegalArgumentException");
    await raise(quotas.vpcs, 6);
    expect(await inForce(quotas.vpcs)).toBe(6);
    expect(await outcome(make(6))).toBe("allowed");
    await raise(quotas.vpcs, 10);
  });

  test("a gateway endpoint, and no interface endpoint for it", async () => {
    const { Vpc } = await ec2.createVpc({ CidrBlock: "10.99.0.0/16" });
    const make = (service = "s3", more: Partial<CreateVpcEndpointCommandInput> = {}) => {
      const ServiceName = `com.amazonaws.${REGION}.${service}`;
      return ec2.createVpcEndpoint({ VpcId: Vpc?.VpcId, ServiceName, ...more });
    };
    for (let index = 0; index < 20; index++) await make();
    expect(await outcome(make())).toBe("VpcEndpointLimitExceeded");
    expect(await outcome(make("sqs", { VpcEndpointType: "Interface", PrivateDnsEnabled: false }))).toBe("allowed");
    await raise(quotas.gatewayEndpoints, 21);
    expect(await outcome(make())).toBe("allowed");
  });

  test("an Elastic IP, and a NAT gateway of a zone", async () => {
    const allocate = () => ec2.allocateAddress({ Domain: "vpc" });
    for (const _ of [1, 2, 3, 4, 5]) await allocate();
    expect(await outcome(allocate())).toBe("AddressLimitExceeded");
    const [first, second] = await cloud.subnets();
    // A private one has no address, of which each would need its own.
    const gateway = (SubnetId: string | undefined) => ec2.createNatGateway({ SubnetId, ConnectivityType: "private" });
    const made = [];
    for (const _ of [1, 2, 3, 4, 5]) made.push((await gateway(first)).NatGateway?.NatGatewayId);
    expect(await outcome(gateway(first))).toBe("NatGatewayLimitExceeded");
    expect(await outcome(gateway(second))).toBe("allowed");
    await ec2.deleteNatGateway({ NatGatewayId: made[0] });
    expect(await outcome(gateway(first))).toBe("allowed");
  });

  // Roles are held to theirs by the same lines; a thousand of them would take minutes here.
  test("an OIDC provider, by IAM", async () => {
    const make = (index: number) =>
      iam.createOpenIDConnectProvider({ Url: `https://oidc${index}.example.com`, ThumbprintList: ["a".repeat(40)] });
    for (let index = 0; index < 100; index++) await make(index);
    await expect(make(100)).rejects.toThrow("Cannot exceed quota for OpenIdConnectProvidersPerAccount: 100");
    await raise(quotas.oidcProviders, 101);
    expect(await outcome(make(100))).toBe("allowed");
  });

  test("the cluster's quota is that of Service Quotas too", async () => {
    expect(await inForce(quotas.clusters)).toBe(100);
    const cluster = {
      name: "one",
      roleArn: arnOf("role/missing"),
      resourcesVpcConfig: { subnetIds: await cloud.subnets() },
    };
    // Refused for its role and not for the quota, which was asked for before.
    expect(await outcome(eks.createCluster(cluster))).toBe("InvalidParameterException");
  });
});
