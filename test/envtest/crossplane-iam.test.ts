import {
  CreateSubnetCommand,
  CreateTagsCommand,
  CreateVpcCommand,
  DeleteSubnetCommand,
  DeleteVpcCommand,
  DescribeSubnetsCommand,
} from "@aws-sdk/client-ec2";
import {
  CreateAccessEntryCommand,
  CreateClusterCommand,
  CreateNodegroupCommand,
  DeleteClusterCommand,
  DescribeClusterCommand,
} from "@aws-sdk/client-eks";
import {
  AttachRolePolicyCommand,
  CreateOpenIDConnectProviderCommand,
  CreatePolicyCommand,
  CreatePolicyVersionCommand,
  CreateRoleCommand,
  DeleteOpenIDConnectProviderCommand,
  DeleteRolePermissionsBoundaryCommand,
  DeleteRolePolicyCommand,
  GetRoleCommand,
  ListRolesCommand,
  PutRolePermissionsBoundaryCommand,
  PutRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { ACCOUNT, REGION } from "@eks-gitops-fleet/local/gateway";
import {
  allow,
  arnOf,
  assume,
  type Clients,
  type GatewayCloud,
  outcome,
  startGatewayCloud,
  trustOf,
} from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spokeBoundary } from "../../lib/iam/boundary.ts";
import { tenantBoundary } from "../../lib/iam/tenants.ts";
import { clusterTag, fleetTag, identityTag, principalTags } from "../../lib/labels.ts";
import { hubName } from "../../lib/names.ts";
import { crossplaneRights } from "../support/iam-policies.ts";

let cloud: GatewayCloud;
let crossplane: Clients;
const boundary = arnOf("policy/fleet-boundary");
const tenantBoundaryArn = arnOf("policy/fleet-tenant-boundary");
const scope = { partition: "aws", accountId: ACCOUNT, region: REGION };
const everything = JSON.stringify(allow({ Action: "*" }));
const eksTrust = trustOf({ Service: "eks.amazonaws.com" });

beforeAll(async () => {
  cloud = await startGatewayCloud();
  const boundaries = {
    // The boundaries of the production program itself.
    "fleet-boundary": spokeBoundary({ ...scope, fleet: "fleet", tenantBoundaryArn }),
    "fleet-tenant-boundary": tenantBoundary(scope),
    "other-boundary": allow({ Action: ["eks:*", "ec2:*"] }),
  };
  for (const [PolicyName, document] of Object.entries(boundaries))
    await cloud.deployer.iam.send(new CreatePolicyCommand({ PolicyName, PolicyDocument: JSON.stringify(document) }));
  // The policy of the production program itself.
  crossplane = await cloud.roleWith(
    "crossplane",
    crossplaneRights({
      ...scope,
      fleet: "fleet",
      dnsSuffix: "amazonaws.com",
      spokePrefix: "fleet-spoke-",
      boundaryArn: boundary,
      hubOidcProviderArn: arnOf("oidc-provider/hub"),
    }),
  );
});
afterAll(() => cloud.remove());

const createRole = (by: Clients, name: string, PermissionsBoundary?: string) =>
  outcome(
    by.iam.send(new CreateRoleCommand({ RoleName: name, AssumeRolePolicyDocument: eksTrust, PermissionsBoundary })),
  );

describe("Crossplane's role", () => {
  test("creates roles under its prefix with the boundary, none without it, with another one or outside the prefix", async () => {
    expect(await createRole(crossplane, "fleet-spoke-a", boundary)).toBe("allowed");
    expect(await createRole(crossplane, "fleet-spoke-b")).toBe("AccessDenied");
    expect(await createRole(crossplane, "fleet-spoke-b", arnOf("policy/other-boundary"))).toBe("AccessDenied");
    expect(await createRole(crossplane, "elsewhere", boundary)).toBe("AccessDenied");
    const { Roles = [] } = await cloud.deployer.iam.send(new ListRolesCommand({}));
    expect(Roles.map(({ RoleName }) => RoleName)).not.toContain("fleet-spoke-b");
  });

  test("neither changes nor removes a boundary, which the deployer can", async () => {
    await createRole(cloud.deployer, "fleet-spoke-c", boundary);
    const put = (by: Clients) =>
      outcome(
        by.iam.send(
          new PutRolePermissionsBoundaryCommand({
            RoleName: "fleet-spoke-c",
            PermissionsBoundary: arnOf("policy/other-boundary"),
          }),
        ),
      );
    const remove = (by: Clients) =>
      outcome(by.iam.send(new DeleteRolePermissionsBoundaryCommand({ RoleName: "fleet-spoke-c" })));
    expect(await put(crossplane)).toBe("AccessDenied");
    expect(await remove(crossplane)).toBe("AccessDenied");
    const { Role } = await cloud.deployer.iam.send(new GetRoleCommand({ RoleName: "fleet-spoke-c" }));
    expect(Role?.PermissionsBoundary?.PermissionsBoundaryArn).toBe(boundary);
    expect(await put(cloud.deployer)).toBe("allowed");
    expect(await remove(cloud.deployer)).toBe("allowed");
  });

  test("gives rights to roles that have the boundary, to none that lacks it, though it is under the prefix", async () => {
    await createRole(cloud.deployer, "fleet-spoke-bounded", boundary);
    await createRole(cloud.deployer, "fleet-spoke-unbounded");
    const calls = (RoleName: string) => [
      new PutRolePolicyCommand({ RoleName, PolicyName: "p", PolicyDocument: JSON.stringify(allow({ Action: "*" })) }),
      new AttachRolePolicyCommand({ RoleName, PolicyArn: "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy" }),
      new DeleteRolePolicyCommand({ RoleName, PolicyName: "p" }),
    ];
    for (const call of calls("fleet-spoke-bounded"))
      expect(await outcome(crossplane.iam.send(call as never))).toBe("allowed");
    for (const call of calls("fleet-spoke-unbounded"))
      expect(await outcome(crossplane.iam.send(call as never))).toBe("AccessDenied");
  });

  test("hands roles under its prefix to EKS, and no other role", async () => {
    await createRole(cloud.deployer, "fleet-spoke-cluster", boundary);
    await createRole(cloud.deployer, "hub-admin");
    const subnetIds = await cloud.subnets();
    const create = (role: string) =>
      crossplane.eks.send(
        new CreateClusterCommand({
          name: "fleet-spoke-one",
          version: "1.34",
          roleArn: arnOf(`role/${role}`),
          resourcesVpcConfig: { subnetIds },
          accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: false },
          bootstrapSelfManagedAddons: false,
        }),
      );
    await expect(create("hub-admin")).rejects.toThrow(
      `not authorized to perform: iam:PassRole on resource: ${arnOf("role/hub-admin")}`,
    );
    expect(await outcome(cloud.deployer.eks.send(new DescribeClusterCommand({ name: "fleet-spoke-one" })))).toBe(
      "ResourceNotFoundException",
    );
    expect(await outcome(create("fleet-spoke-cluster"))).toBe("allowed");
    const nodegroup = (nodeRole: string) =>
      outcome(
        crossplane.eks.send(
          new CreateNodegroupCommand({
            clusterName: "fleet-spoke-one",
            nodegroupName: "n",
            subnets: subnetIds,
            nodeRole: arnOf(`role/${nodeRole}`),
          }),
        ),
      );
    expect(await nodegroup("hub-admin")).toBe("AccessDeniedException");
    // Allowed by IAM, then refused by EKS: the role trusts eks.amazonaws.com, a node's must trust ec2.amazonaws.com.
    expect(await nodegroup("fleet-spoke-cluster")).toBe("InvalidParameterException");
    await expect
      .poll(() => outcome(crossplane.eks.send(new DeleteClusterCommand({ name: "fleet-spoke-one" }))), {
        timeout: 180_000,
        interval: 500,
      })
      .toBe("allowed");
  });

  test("takes a network of its fleet apart, never the hub's nor one without the fleet's tag", async () => {
    const blocks: Record<string, string> = { [hubName]: "10.0.8.0/24", one: "10.0.9.0/24", untagged: "10.0.10.0/24" };
    const subnet = async (cluster: string) => {
      const [first = ""] = await cloud.subnets();
      const { Subnets = [] } = await cloud.deployer.ec2.send(new DescribeSubnetsCommand({ SubnetIds: [first] }));
      const { Subnet } = await cloud.deployer.ec2.send(
        new CreateSubnetCommand({
          VpcId: Subnets[0]?.VpcId,
          CidrBlock: blocks[cluster],
          TagSpecifications: [
            {
              ResourceType: "subnet",
              Tags: [
                { Key: clusterTag, Value: cluster },
                ...(cluster === "untagged" ? [] : [{ Key: fleetTag, Value: "fleet" }]),
              ],
            },
          ],
        }),
      );
      return Subnet?.SubnetId;
    };
    const remove = async (cluster: string) =>
      outcome(crossplane.ec2.send(new DeleteSubnetCommand({ SubnetId: await subnet(cluster) })));
    expect(await remove("one")).toBe("allowed");
    expect(await remove(hubName)).toBe("UnauthorizedOperation");
    expect(await remove("untagged")).toBe("UnauthorizedOperation");
  });

  test("makes networks with the fleet's tag only, in networks that have it, and tags nothing of others", async () => {
    const { ec2 } = crossplane;
    const tags = (ResourceType: "vpc" | "subnet", value = "fleet") => [
      { ResourceType, Tags: [{ Key: fleetTag, Value: value }] },
    ];
    const foreign = await cloud.deployer.ec2.send(new CreateVpcCommand({ CidrBlock: "10.6.0.0/16" }));
    const make = (TagSpecifications?: ReturnType<typeof tags>) =>
      ec2.send(new CreateVpcCommand({ CidrBlock: "10.5.0.0/16", TagSpecifications }));
    const { Vpc } = await make(tags("vpc"));
    expect(await outcome(make())).toBe("UnauthorizedOperation");
    expect(await outcome(make(tags("vpc", "other")))).toBe("UnauthorizedOperation");
    const subnet = (VpcId: string | undefined, CidrBlock: string) =>
      outcome(ec2.send(new CreateSubnetCommand({ VpcId, CidrBlock, TagSpecifications: tags("subnet") })));
    expect(await subnet(Vpc?.VpcId, "10.5.1.0/24")).toBe("allowed");
    expect(await subnet(foreign.Vpc?.VpcId, "10.6.1.0/24")).toBe("UnauthorizedOperation");
    const tag = (id = "") =>
      outcome(ec2.send(new CreateTagsCommand({ Resources: [id], Tags: [{ Key: fleetTag, Value: "fleet" }] })));
    expect(await tag(Vpc?.VpcId)).toBe("allowed");
    expect(await tag(foreign.Vpc?.VpcId)).toBe("UnauthorizedOperation");
  });

  test("makes identity providers with the fleet's tag only, and removes none without it", async () => {
    const create = (by: Clients, id: string, tagged: boolean) =>
      by.iam.send(
        new CreateOpenIDConnectProviderCommand({
          Url: `https://oidc.eks.${REGION}.amazonaws.com/id/${id}`,
          ClientIDList: ["sts.amazonaws.com"],
          ThumbprintList: ["a".repeat(40)],
          ...(tagged ? { Tags: [{ Key: fleetTag, Value: "fleet" }] } : {}),
        }),
      );
    const remove = (OpenIDConnectProviderArn?: string) =>
      outcome(crossplane.iam.send(new DeleteOpenIDConnectProviderCommand({ OpenIDConnectProviderArn })));
    const own = await create(crossplane, "OWN", true);
    expect(await outcome(create(crossplane, "UNTAGGED", false))).toBe("AccessDenied");
    const foreign = await create(cloud.deployer, "FOREIGN", false);
    expect(await remove(own.OpenIDConnectProviderArn)).toBe("allowed");
    expect(await remove(foreign.OpenIDConnectProviderArn)).toBe("AccessDenied");
  });

  test("attaches the managed policies of a spoke, and no other", async () => {
    await createRole(crossplane, "fleet-spoke-attached", boundary);
    const attach = (name: string) =>
      outcome(
        crossplane.iam.send(
          new AttachRolePolicyCommand({
            RoleName: "fleet-spoke-attached",
            PolicyArn: `arn:aws:iam::aws:policy/${name}`,
          }),
        ),
      );
    expect(await attach("AmazonEKS_CNI_Policy")).toBe("allowed");
    expect(await attach("AdministratorAccess")).toBe("AccessDenied");
  });

  test("touches clusters under its prefix, and no other", async () => {
    const describe = (name: string) => outcome(crossplane.eks.send(new DescribeClusterCommand({ name })));
    expect(await describe("fleet-spoke-none")).toBe("ResourceNotFoundException");
    expect(await describe("hub")).toBe("AccessDeniedException");
  });
});

describe("a role that Crossplane made with all rights, a trust of its choice and tags of its choice", () => {
  /** Made by Crossplane, assumed by whom it trusts. */
  const minted = async (
    name: string,
    tags: Readonly<Record<string, string>>,
    session: Readonly<Record<string, string>> = {},
  ) => {
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    const AssumeRolePolicyDocument = JSON.stringify({
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Principal: { AWS: arnOf("user/deployer") },
          Action: ["sts:AssumeRole", "sts:TagSession"],
        },
      ],
    });
    const role = { RoleName: name, AssumeRolePolicyDocument, PermissionsBoundary: boundary, Tags };
    await crossplane.iam.send(new CreateRoleCommand(role));
    await crossplane.iam.send(
      new PutRolePolicyCommand({ RoleName: name, PolicyName: "all", PolicyDocument: everything }),
    );
    return cloud.as(await assume(cloud.deployer, name, session));
  };
  const tagsOf = (cluster: string, identity: string) => ({ [principalTags.cluster]: cluster, [identityTag]: identity });

  test("does nothing without a spoke's tag, nor with the hub's", async () => {
    const describe = (by: Clients) => outcome(by.ec2.send(new DescribeSubnetsCommand({})));
    expect(await describe(await minted("fleet-spoke-red-node", tagsOf("fleet-spoke-red", "node")))).toBe("allowed");
    expect(await describe(await minted("fleet-spoke-x", {}))).toBe("UnauthorizedOperation");
    expect(await describe(await minted("fleet-spoke-y", tagsOf("fleet-hub", "node")))).toBe("UnauthorizedOperation");
    const overlaid = await minted("fleet-spoke-z", tagsOf("fleet-spoke-red", "node"), {
      [principalTags.cluster]: "fleet-hub",
    });
    expect(await describe(overlaid)).toBe("UnauthorizedOperation");
  });

  test("becomes nobody's administrator: it changes no cluster, no role and no boundary", async () => {
    const by = await minted("fleet-spoke-red-crossplane", tagsOf("fleet-spoke-red", "crossplane"));
    // The twin of the refusals: whoever is allowed gets as far as that there is no such cluster.
    expect(await outcome(by.eks.send(new DescribeClusterCommand({ name: "fleet-spoke-red" })))).toBe(
      "ResourceNotFoundException",
    );
    const entry = (clusterName: string) =>
      outcome(
        by.eks.send(
          new CreateAccessEntryCommand({ clusterName, principalArn: arnOf("role/fleet-spoke-red-crossplane") }),
        ),
      );
    for (const name of ["fleet-hub", "fleet-spoke-red"]) expect(await entry(name), name).toBe("AccessDeniedException");
    expect(await createRole(by, "fleet-spoke-red_payment", tenantBoundaryArn)).toBe("allowed");
    expect(await createRole(by, "fleet-spoke-green_payment", tenantBoundaryArn)).toBe("AccessDenied");
    expect(await createRole(by, "fleet-spoke-red_billing", boundary)).toBe("AccessDenied");
    expect(await createRole(by, "fleet-spoke-red-admin")).toBe("AccessDenied");
    const version = new CreatePolicyVersionCommand({
      PolicyArn: boundary,
      PolicyDocument: everything,
      SetAsDefault: true,
    });
    expect(await outcome(by.iam.send(version))).toBe("AccessDenied");
    const put = (RoleName: string) =>
      outcome(by.iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: "all", PolicyDocument: everything })));
    expect(await put("fleet-spoke-red_payment")).toBe("allowed");
    for (const name of ["crossplane", "fleet-spoke-red-crossplane"]) expect(await put(name), name).toBe("AccessDenied");
  });

  test("deletes no network, not even that of its own cluster", async () => {
    const by = await minted("fleet-spoke-red-cluster", tagsOf("fleet-spoke-red", "cluster"));
    const { Vpc } = await cloud.deployer.ec2.send(
      new CreateVpcCommand({
        CidrBlock: "10.7.0.0/16",
        TagSpecifications: [
          {
            ResourceType: "vpc",
            Tags: [
              { Key: fleetTag, Value: "fleet" },
              { Key: principalTags.cluster, Value: "fleet-spoke-red" },
            ],
          },
        ],
      }),
    );
    const tag = new CreateTagsCommand({ Resources: [Vpc?.VpcId ?? ""], Tags: [{ Key: "a", Value: "b" }] });
    expect(await outcome(by.ec2.send(tag))).toBe("allowed");
    expect(await outcome(by.ec2.send(new DeleteVpcCommand({ VpcId: Vpc?.VpcId })))).toBe("UnauthorizedOperation");
  });
});
