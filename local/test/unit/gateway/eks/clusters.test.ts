import { describe, expect, test } from "vitest";
import { quotas } from "../../../../product.ts";
import { CALLER, refusal } from "../calls.ts";
import { clusterBody, eks, fakeAws, fakeEks, roleArn, useEks, withNodes } from "./fakes.ts";

useEks();

const describeHub = async () => (await eks.get("/clusters/hub")).cluster;

describe("CreateCluster", () => {
  test("is CREATING at once and ACTIVE with a real endpoint, CA, security group and issuer when the control plane runs", async () => {
    const { body } = await eks.call("POST", "/clusters", clusterBody("hub"));
    expect(body.cluster).toMatchObject({ status: "CREATING", arn: "arn:aws:eks:us-east-1:000000000000:cluster/hub" });
    expect(body.cluster.endpoint).toBeUndefined();
    await eks.settle();
    const cluster = await describeHub();
    expect(cluster).toMatchObject({
      status: "ACTIVE",
      endpoint: "https://100.64.254.1",
      certificateAuthority: { data: Buffer.from("PEM").toString("base64") },
      resourcesVpcConfig: {
        vpcId: "vpc-1",
        clusterSecurityGroupId: "sg-hub",
        endpointPublicAccess: true,
        publicAccessCidrs: ["0.0.0.0/0"],
      },
      accessConfig: { authenticationMode: "API" },
    });
    expect(cluster.identity.oidc.issuer).toMatch(/^https:\/\/oidc\.eks\.us-east-1\.amazonaws\.com\/id\/[0-9A-F]{32}$/);
    expect(eks.clusters.started[0]?.issuer).toBe(cluster.identity.oidc.issuer);
  });

  test("asks IAM for the action on the cluster and for iam:PassRole on its role", async () => {
    await eks.call("POST", "/clusters", clusterBody("hub"));
    expect(eks.asked[0]).toMatchObject({
      action: "CreateCluster",
      resource: "arn:aws:eks:us-east-1:000000000000:cluster/hub",
      passRoles: [{ arn: roleArn("cluster"), service: "eks.amazonaws.com" }],
    });
  });

  test("makes its creator an administrator, unless told not to", async () => {
    await eks.call("POST", "/clusters", clusterBody("hub"));
    await eks.call(
      "POST",
      "/clusters",
      clusterBody("other", {
        accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: false },
      }),
    );
    expect((await eks.get("/clusters/hub/access-entries")).accessEntries).toEqual([CALLER]);
    expect((await eks.get("/clusters/other/access-entries")).accessEntries).toEqual([]);
  });

  test("is refused with ResourceLimitExceededException once the account has as many clusters as its quota allows", async () => {
    const limited = await fakeEks({ aws: fakeAws({ [quotas.clusters.code]: 1 }) });
    expect((await limited.call("POST", "/clusters", clusterBody("hub"))).status).toBe(200);
    const refused = { status: 400, error: "ResourceLimitExceededException" };
    expect(await limited.call("POST", "/clusters", clusterBody("other"))).toMatchObject(refused);
  });

  test("gives a repeated request the same answer, and another cluster of that name ResourceInUseException", async () => {
    const once = await eks.call("POST", "/clusters", clusterBody("hub", { clientRequestToken: "t" }));
    const again = await eks.call("POST", "/clusters", clusterBody("hub", { clientRequestToken: "t" }));
    expect(again.body.cluster.identity).toEqual(once.body.cluster.identity);
    expect(await eks.call("POST", "/clusters", clusterBody("hub", { clientRequestToken: "u" }))).toMatchObject({
      status: 409,
      error: "ResourceInUseException",
    });
  });

  test.each([
    ["an unknown Kubernetes version", { version: "1.20" }, /1\.33, 1\.34, 1\.35, 1\.36/],
    ["a role that doesn't exist", { roleArn: roleArn("none") }, /does not exist/],
    ["a role that EKS can't assume", { roleArn: roleArn("node") }, /trust policy doesn't name eks\.amazonaws\.com/],
    ["subnets of one zone", { resourcesVpcConfig: { subnetIds: ["subnet-a", "subnet-a2"] } }, /two different AZs/],
    ["subnets of two VPCs", { resourcesVpcConfig: { subnetIds: ["subnet-a", "subnet-other"] } }, /same VPC/],
    ["a subnet that doesn't exist", { resourcesVpcConfig: { subnetIds: ["subnet-a", "subnet-x"] } }, /subnet-x/],
    [
      "no endpoint access at all",
      { resourcesVpcConfig: { subnetIds: ["subnet-a", "subnet-b"], endpointPublicAccess: false } },
      /endpoint access/,
    ],
    [
      "addresses that are no CIDR block",
      { resourcesVpcConfig: { subnetIds: ["subnet-a", "subnet-b"], publicAccessCidrs: ["1.2.3.4"] } },
      /1\.2\.3\.4/,
    ],
    [
      "addresses that are reserved",
      {
        resourcesVpcConfig: {
          subnetIds: ["subnet-a", "subnet-b"],
          publicAccessCidrs: ["203.0.113.0/24", "5.6.7.0/24", "10.1.0.0/16"],
        },
      },
      /^The following CIDRs are not allowed in publicAccessCidrs: \[203\.0\.113\.0\/24, 10\.1\.0\.0\/16\]$/,
    ],
    ["a mode that reads aws-auth", { accessConfig: { authenticationMode: "API_AND_CONFIG_MAP" } }, /"API"/],
    [
      "a disabled KMS key",
      { encryptionConfig: [{ resources: ["secrets"], provider: { keyArn: "arn:aws:kms:::key/bad" } }] },
      /no enabled KMS key/,
    ],
    ["a member that is not served", { remoteNetworkConfig: {} }, /remoteNetworkConfig is not served/],
    [
      "a nested member that is not served",
      { kubernetesNetworkConfig: { serviceIpv6Cidr: "fd00::/108" } },
      /serviceIpv6Cidr is not served/,
    ],
    [
      "Services in a block that is not private",
      { kubernetesNetworkConfig: { serviceIpv4Cidr: "100.64.0.0/16" } },
      /serviceIpv4Cidr: got 100\.64\.0\.0\/16/,
    ],
    [
      "Services in a block of the VPC",
      { kubernetesNetworkConfig: { serviceIpv4Cidr: "10.0.64.0/20" } },
      /overlaps 10\.0\.0\.0\/16 of the VPC vpc-1/,
    ],
    ["an unknown log type", { logging: { clusterLogging: [{ types: ["kubelet"], enabled: true }] } }, /kubelet/],
  ])("refuses %s", async (_what, over, message) => {
    const { status, error, body } = await eks.call("POST", "/clusters", clusterBody("hub", over));
    expect([status, error]).toEqual([400, "InvalidParameterException"]);
    expect(body.message).toMatch(message);
    expect(eks.store.list()).toEqual([]);
  });

  test("reports the block of Services that the request names", async () => {
    const asked = clusterBody("hub", { kubernetesNetworkConfig: { serviceIpv4Cidr: "172.20.0.0/16" } });
    expect((await eks.call("POST", "/clusters", asked)).status).toBe(200);
    expect((await describeHub()).kubernetesNetworkConfig).toMatchObject({ serviceIpv4Cidr: "172.20.0.0/16" });
  });

  test("tries a failed start again, and says FAILED with the reason when it keeps failing", async () => {
    eks.clusters.failures.push("first");
    await eks.call("POST", "/clusters", clusterBody("hub"));
    await expect.poll(async () => (await describeHub()).status).toBe("ACTIVE");
    eks.clusters.failures.push("no room", "no room", "no room");
    await eks.call("POST", "/clusters", clusterBody("broken"));
    await expect.poll(async () => (await eks.get("/clusters/broken")).cluster.status).toBe("FAILED");
    expect((await eks.get("/clusters/broken")).cluster.health.issues[0].message).toBe("no room");
    expect((await eks.finish("DELETE", "/clusters/broken")).status).toBe(200);
    expect((await eks.call("GET", "/clusters/broken")).error).toBe("ResourceNotFoundException");
  });

  test("gives every cluster a number of its own, and a freed one again", async () => {
    for (const name of ["a", "b", "c"]) await eks.finish("POST", "/clusters", clusterBody(name));
    await eks.finish("DELETE", "/clusters/b");
    await eks.call("POST", "/clusters", clusterBody("d"));
    expect(Object.fromEntries(eks.store.list().map((record) => [record.cluster.name, record.number]))).toEqual({
      a: 0,
      c: 2,
      d: 1,
    });
  });
});

describe("DeleteCluster", () => {
  test("is refused under deletion protection, with node groups, and while the cluster is being made", async () => {
    await eks.call("POST", "/clusters", clusterBody("hub", { deletionProtection: true }));
    expect((await eks.finish("DELETE", "/clusters/hub")).error).toBe("InvalidRequestException");
    await eks.finish("POST", "/clusters/hub/update-config", { deletionProtection: false });
    expect((await eks.finish("DELETE", "/clusters/hub")).status).toBe(200);
    await withNodes(eks, "full");
    expect((await eks.call("DELETE", "/clusters/full")).error).toBe("ResourceInUseException");
    await eks.worker.stop();
    await eks.call("POST", "/clusters", clusterBody("early"));
    expect((await eks.call("DELETE", "/clusters/early")).error).toBe("ResourceInUseException");
  });

  test("removes control plane, security group and record", async () => {
    await eks.finish("POST", "/clusters", clusterBody("hub"));
    expect((await eks.finish("DELETE", "/clusters/hub")).body.cluster.status).toBe("DELETING");
    expect([eks.clusters.planes.size, eks.aws.groups.size, eks.store.list().length]).toEqual([0, 0, 0]);
  });
});

describe("a gateway that starts again", () => {
  test.each(["CREATING", "DELETING"] as const)("goes on with a cluster that was %s", async (status) => {
    await eks.call("POST", "/clusters", clusterBody("hub"));
    if (status === "DELETING") {
      await eks.settle();
      await eks.worker.stop();
      await eks.call("DELETE", "/clusters/hub");
    } else await eks.worker.stop();
    const next = await fakeEks({ clusters: eks.clusters, aws: eks.aws, folder: eks.folder });
    expect(next.store.get("hub").cluster.status).toBe(status);
    next.worker.add("hub");
    await next.settle();
    expect(next.store.find("hub")?.cluster.status).toBe(status === "CREATING" ? "ACTIVE" : undefined);
  });
});

describe("lists", () => {
  test("come in pages whose tokens lead through all of them", async () => {
    for (const name of ["a", "b", "c"]) await eks.call("POST", "/clusters", clusterBody(name));
    const first = await eks.get("/clusters?maxResults=2");
    const second = await eks.get(`/clusters?maxResults=2&nextToken=${first.nextToken}`);
    expect([first.clusters, second.clusters, second.nextToken]).toEqual([["a", "b"], ["c"], undefined]);
    expect((await eks.call("GET", "/clusters?maxResults=0")).error).toBe("InvalidParameterException");
  });
});

describe("a request", () => {
  test.each([
    [
      "of another type",
      { deletionProtection: "yes" },
      'deletionProtection: got "yes", allowed is a value of type boolean',
    ],
    ["that AWS requires", { roleArn: null }, "roleArn: got null, allowed is a value of type string"],
  ])("with a member %s is refused, whatever else is wrong with it, too", async (_what, over, message) => {
    const answer = await eks.call("POST", "/clusters", clusterBody("hub", { ...over, logging: { nothing: 1 } }));
    expect(answer).toMatchObject(refusal("InvalidParameterException", message));
    expect(answer.body.message).toContain(
      "logging: nothing is not served by the embedded cloud; allowed are clusterLogging",
    );
  });

  test("with a filter that is not honoured is refused, not answered without it", async () => {
    expect(await eks.call("GET", "/addons/supported-versions?types=storage")).toMatchObject(
      refusal("InvalidParameterException", "types is not served"),
    );
  });

  test("for what has the name of a member of every object finds nothing", async () => {
    await withNodes(eks);
    expect((await eks.call("GET", "/clusters/hub/node-groups/constructor")).error).toBe("ResourceNotFoundException");
    expect((await eks.call("GET", "/clusters/hub/addons/__proto__")).error).toBe("ResourceNotFoundException");
  });
});

test("a path that encodes nothing is refused", async () => {
  expect((await eks.call("GET", "/clusters/%")).error).toBe("InvalidRequestException");
});

test("what is not served is refused by name, never answered with 200", async () => {
  const { status, error, body } = await eks.call("POST", "/clusters/hub/fargate-profiles", {});
  expect([status, error]).toEqual([400, "InvalidRequestException"]);
  expect(body.message).toContain("POST /clusters/hub/fargate-profiles");
  expect(eks.asked).toEqual([]);
});

test("what IAM refuses is passed on as it is, and nothing is done", async () => {
  const { eksApi } = await import("../../../../gateway/eks/router.ts");
  const refusal = { status: 403, headers: { "x-amzn-errortype": "AccessDeniedException" }, body: "no" };
  const request = {
    method: "POST",
    url: "/clusters",
    rawHeaders: [],
    headers: {},
    body: Buffer.from(JSON.stringify(clusterBody("hub"))),
  };
  const context = { store: eks.store, region: "us-east-1", account: "0", partition: "aws" } as never;
  const { gatewayKey } = await import("../../../../gateway/key.ts");
  const answer = await eksApi(request, context, { forward: async () => refusal, key: gatewayKey(new Uint8Array(32)) });
  expect(answer).toEqual(refusal);
  expect(eks.store.list()).toEqual([]);
});
