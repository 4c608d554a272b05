import { describe, expect, test } from "vitest";
import {
  changeOf,
  type Handler,
  handlers,
  IncompleteError,
  type Properties,
  withCallSettings,
} from "../../../aws/index.ts";
import { awsError, fakeAws } from "./fake.ts";

const handler = (token: string): Handler => handlers.get(token) as Handler;
const cluster = handler("aws:eks/cluster:Cluster");
const nodeGroup = handler("aws:eks/nodeGroup:NodeGroup");
const association = handler("aws:eks/podIdentityAssociation:PodIdentityAssociation");

const inputs: Properties = {
  name: "hub",
  roleArn: "arn:aws:iam::111122223333:role/hub",
  version: "1.34",
  vpcConfig: { subnetIds: ["subnet-a", "subnet-b"], endpointPublicAccess: true, endpointPrivateAccess: false },
  enabledClusterLogTypes: ["api", "audit"],
  tagsAll: { team: "platform" },
};
const active = { cluster: { name: "hub", status: "ACTIVE", arn: "arn:aws:eks:eu-central-1:111122223333:cluster/hub" } };
const done = { update: { id: "u", status: "Successful" } };
const throwing = (code: string, message?: string) => () => {
  throw awsError(code, message);
};
const deleting = { cluster: { name: "hub", status: "DELETING" } };
const gone = throwing("ResourceNotFoundException");
/** One answer first, then another. */
const inTurn = (first: object, then: object | (() => object)) => {
  let asked = 0;
  return () => (asked++ === 0 ? first : typeof then === "function" ? then() : then);
};
const update = (of: Handler, news: Properties, answers: Parameters<typeof fakeAws>[0]) => {
  const fake = fakeAws({ DescribeCluster: active, DescribeUpdate: done, ...answers });
  return { fake, run: of.update?.(fake.aws, "hub", changeOf(of, inputs, news)) };
};

describe("a cluster", () => {
  test("is created with its tags and waited for until it is ACTIVE", async () => {
    const fake = fakeAws({
      CreateCluster: {},
      DescribeCluster: inTurn({ cluster: { status: "CREATING" } }, active),
    });
    await expect(cluster.create(fake.aws, inputs)).resolves.toBe("hub");
    expect(fake.operations()).toEqual(["CreateCluster", "DescribeCluster", "DescribeCluster"]);
    expect(fake.calls[0]?.[1]).toMatchObject({
      name: "hub",
      tags: { team: "platform" },
      logging: {
        clusterLogging: [
          { types: ["api", "audit"], enabled: true },
          { types: ["authenticator", "controllerManager", "scheduler"], enabled: false },
        ],
      },
    });
  });

  test("that EKS fails to create keeps its id and says why", async () => {
    const issues = [{ code: "Ec2SubnetInvalidConfiguration", message: "no free address" }];
    const fake = fakeAws({ CreateCluster: {}, DescribeCluster: { cluster: { status: "FAILED", health: { issues } } } });
    const error = await cluster.create(fake.aws, inputs).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(IncompleteError);
    expect(error).toMatchObject({
      id: "hub",
      message: expect.stringContaining("Ec2SubnetInvalidConfiguration: no free address"),
    });
  });

  test("changes its version and waits for the update", async () => {
    const { fake, run } = update(cluster, { ...inputs, version: "1.35" }, { UpdateClusterVersion: done });
    await run;
    expect(fake.calls.find(([operation]) => operation === "UpdateClusterVersion")?.[1]).toMatchObject({
      name: "hub",
      version: "1.35",
    });
    expect(fake.operations()).toContain("DescribeUpdate");
  });

  test("changes one kind of configuration a call, because EKS takes no more", async () => {
    const vpcConfig = { subnetIds: ["subnet-b", "subnet-c"], endpointPublicAccess: true, endpointPrivateAccess: true };
    const news = { ...inputs, vpcConfig, enabledClusterLogTypes: [] };
    const { fake, run } = update(cluster, news, { UpdateClusterConfig: done });
    await run;
    const bodies = fake.calls
      .filter(([operation]) => operation === "UpdateClusterConfig")
      .map(([, input]) => Object.keys(input).slice(1));
    expect(bodies).toEqual([["resourcesVpcConfig"], ["resourcesVpcConfig"], ["logging"]]);
  });

  test("ignores the order of its subnets and log types", async () => {
    const vpcConfig = { ...(inputs["vpcConfig"] as object), subnetIds: ["subnet-b", "subnet-a"] };
    const { fake, run } = update(cluster, { ...inputs, vpcConfig, enabledClusterLogTypes: ["audit", "api"] }, {});
    await run;
    expect(fake.operations().filter((operation) => operation.startsWith("Update"))).toEqual([]);
  });

  test("an update that EKS refuses in the end fails with EKS's reasons", async () => {
    const errors = [{ errorCode: "SubnetNotFound", errorMessage: "gone" }];
    const failed = { UpdateClusterVersion: done, DescribeUpdate: { update: { id: "u", status: "Failed", errors } } };
    const { run } = update(cluster, { ...inputs, version: "1.35" }, failed);
    await expect(run).rejects.toThrow("SubnetNotFound: gone");
  });

  test("is deleted only when EKS does not know it any more, and deleting it again is fine", async () => {
    const fake = fakeAws({ DeleteCluster: {}, DescribeCluster: inTurn(deleting, gone) });
    await cluster.delete(fake.aws, "hub", {});
    expect(fake.operations()).toEqual(["DeleteCluster", "DescribeCluster", "DescribeCluster"]);
    await cluster.delete(fakeAws({ DeleteCluster: gone, DescribeCluster: gone }).aws, "hub", {});
  });

  test("whose deletion was interrupted is waited for, and one that is in use is an error", async () => {
    const busy = throwing("ResourceInUseException", "Cluster has nodegroups attached");
    await cluster.delete(fakeAws({ DeleteCluster: busy, DescribeCluster: inTurn(deleting, gone) }).aws, "hub", {});
    const inUse = fakeAws({ DeleteCluster: busy, DescribeCluster: active });
    await expect(cluster.delete(inUse.aws, "hub", {})).rejects.toThrow("nodegroups attached");
  });

  test("that is being deleted counts as gone", async () => {
    const fake = fakeAws({ DescribeCluster: deleting });
    await expect(cluster.read(fake.aws, "hub", {})).resolves.toBeNull();
  });
});

describe("a node group", () => {
  const group: Properties = {
    clusterName: "hub",
    nodeGroupName: "system",
    labels: { role: "system", old: "1" },
    taints: [{ key: "a", value: "1", effect: "NO_SCHEDULE" }],
    scalingConfig: { minSize: 1, maxSize: 2, desiredSize: 1 },
    launchTemplate: { id: "lt-1", version: "1" },
    version: "1.34",
  };

  test("changes only what changed", async () => {
    const described = { nodegroup: { status: "ACTIVE", nodegroupArn: "arn" } };
    const fake = fakeAws({
      DescribeNodegroup: described,
      DescribeUpdate: done,
      UpdateNodegroupConfig: done,
      UpdateNodegroupVersion: done,
    });
    const news = { ...group, labels: { role: "apps" }, taints: [], launchTemplate: { id: "lt-1", version: "2" } };
    await nodeGroup.update?.(fake.aws, "hub:system", changeOf(nodeGroup, group, news));
    const body = (operation: string) => fake.calls.find(([name]) => name === operation)?.[1];
    expect(body("UpdateNodegroupVersion")).toEqual({
      clusterName: "hub",
      nodegroupName: "system",
      launchTemplate: { id: "lt-1", version: "2" },
      force: undefined,
    });
    expect(body("UpdateNodegroupConfig")).toEqual({
      clusterName: "hub",
      nodegroupName: "system",
      labels: { addOrUpdateLabels: { role: "apps" }, removeLabels: ["old"] },
      taints: { addOrUpdateTaints: [], removeTaints: group["taints"] },
    });
  });

  test("fails with EKS's health issues and their instances when its creation failed", async () => {
    const message = "Instances failed to join the kubernetes cluster";
    const health = { issues: [{ code: "NodeCreationFailure", message, resourceIds: ["i-1", "i-2"] }] };
    const fake = fakeAws({
      CreateNodegroup: {},
      DescribeNodegroup: { nodegroup: { status: "CREATE_FAILED", health } },
    });
    const creation = nodeGroup.create(fake.aws, group);
    await expect(creation).rejects.toThrow(IncompleteError);
    await expect(creation).rejects.toThrow(
      "waiting for EKS node group (hub:system): unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. " +
        "last error: i-1, i-2: NodeCreationFailure: Instances failed to join the kubernetes cluster",
    );
  });

  test("stops waiting when the operation is cancelled", async () => {
    const fake = fakeAws({ CreateNodegroup: {}, DescribeNodegroup: { nodegroup: { status: "CREATING" } } });
    const creation = withCallSettings({ signal: AbortSignal.abort() }, () => nodeGroup.create(fake.aws, group));
    await expect(creation).rejects.toThrow("cancelled while waiting for EKS node group hub:system");
  });

  test("gives up after the time that the operation allows", async () => {
    const fake = fakeAws({ CreateNodegroup: {}, DescribeNodegroup: { nodegroup: { status: "CREATING" } } });
    const creation = withCallSettings({ timeout: 1 }, () => nodeGroup.create(fake.aws, group));
    await expect(creation).rejects.toThrow(
      "gave up waiting for EKS node group hub:system to become ACTIVE after 0.001 s",
    );
  });
});

describe("a pod identity association", () => {
  const roleArn = "arn:aws:iam::111122223333:role/app";
  const of = { clusterName: "hub", namespace: "apps", serviceAccount: "app", roleArn };
  const found = { ...of, associationId: "a-1", associationArn: "arn:a-1", disableSessionTags: false, tags: {} };

  test("has the id that EKS gives it, and is found by that and its cluster", async () => {
    const fake = fakeAws({
      CreatePodIdentityAssociation: { association: found },
      DescribePodIdentityAssociation: { association: found },
    });
    expect(await association.create(fake.aws, { ...of, tagsAll: { team: "a" } })).toBe("a-1");
    expect(await association.read(fake.aws, "a-1", of)).toMatchObject({ ...of, associationId: "a-1", tagsAll: {} });
    expect(fake.calls).toEqual([
      ["CreatePodIdentityAssociation", { ...of, tags: { team: "a" } }],
      ["DescribePodIdentityAssociation", { clusterName: "hub", associationId: "a-1" }],
    ]);
  });

  test("is imported by Terraform's id, which names the cluster", async () => {
    const { aws } = fakeAws({});
    expect(await association.importId?.(aws, "hub,a-1")).toEqual({ id: "a-1", properties: { clusterName: "hub" } });
  });

  test("takes another role in place; another service account is another association", async () => {
    const fake = fakeAws({ UpdatePodIdentityAssociation: {} });
    await association.update?.(fake.aws, "a-1", changeOf(association, of, { ...of, roleArn: `${roleArn}-2` }));
    expect(fake.calls).toEqual([
      [
        "UpdatePodIdentityAssociation",
        { clusterName: "hub", associationId: "a-1", roleArn: `${roleArn}-2`, disableSessionTags: undefined },
      ],
    ]);
    expect([...association.replaceOn].sort()).toEqual(["clusterName", "namespace", "serviceAccount"]);
  });
});
