/** The kinds of Crossplane's AWS provider against the instance's AWS API, as a Spoke and its applications order them; node groups need nodes. */
import { EC2 } from "@aws-sdk/client-ec2";
import { afterAll, describe, expect, test } from "vitest";
import type { Kind } from "../../crossplane/provider-aws/kind.ts";
import { allKinds } from "../../crossplane/provider-aws/kinds.ts";
import type { Managed } from "../../crossplane/provider-aws/managed.ts";
import { Reconciliation } from "../../crossplane/provider-aws/reconciler.ts";
import { account } from "../support/own-cloud.ts";
import { conditionsOf, FakeCluster } from "../unit/crossplane/fakes.ts";

const cluster = new FakeCluster();
const made: [Kind, string][] = [];

const kindOf = (name: string): Kind => {
  const found = allKinds.find(({ kind }) => kind === name);
  if (!found) throw new Error(`the provider has no kind ${name}`);
  return found;
};

/** Passes until the object is up to date or waits for something. */
async function settle(kind: Kind, name: string): Promise<string> {
  for (let passes = 0; passes < 12; passes += 1) {
    const managed = cluster.get(kind, name);
    if (!managed) return "wait";
    const outcome = await new Reconciliation(kind, managed, {
      objects: cluster.objects,
      connections: { connect: async () => account },
      now: () => new Date(),
      secrets: cluster.known,
      signal: new AbortController().signal,
    }).run();
    if (outcome !== "again") return outcome;
  }
  throw new Error(`${kind.kind} ${name} does not settle`);
}

interface Order {
  readonly externalName?: string;
  readonly spec?: Partial<Managed["spec"]>;
}

/** Orders a resource, and a second pass over it; gives what its status says. */
async function order(kindName: string, name: string, forProvider: object, { externalName, spec }: Order = {}) {
  const kind = kindOf(kindName);
  const wanted = { ...(kind.handler.regional !== false && { region: account.region }), ...forProvider };
  const annotations = externalName === undefined ? {} : { "crossplane.io/external-name": externalName };
  cluster.add(kind, name, { forProvider: wanted, ...spec }, { annotations });
  made.push([kind, name]);
  expect(await settle(kind, name), JSON.stringify(conditionsOf(cluster, kind, name))).toBe("poll");
  expect(conditionsOf(cluster, kind, name)).toMatchObject({ Ready: "True Available", Synced: "True ReconcileSuccess" });
  const events = cluster.events.length;
  expect(await settle(kind, name)).toBe("poll");
  expect(cluster.events.slice(events), `${kindName}: a second pass changes nothing`).toEqual([]);
  return cluster.get(kind, name)?.status?.atProvider as Record<string, string>;
}

/** Changes a specification; the change is made in AWS, once. */
async function change(kindName: string, name: string, forProvider: object): Promise<void> {
  const kind = kindOf(kindName);
  cluster.change(kind, name, { spec: { forProvider } });
  const events = cluster.events.length;
  expect(await settle(kind, name), JSON.stringify(conditionsOf(cluster, kind, name))).toBe("poll");
  expect(cluster.events.slice(events)).toEqual([`Normal UpdatedExternalResource ${name}`]);
}

/** Deletes what was ordered, the newest first. */
async function removeAll(): Promise<void> {
  for (const [kind, name] of made.splice(0).reverse()) {
    if (!cluster.get(kind, name)) continue;
    cluster.delete(kind, name);
    await settle(kind, name);
    expect(conditionsOf(cluster, kind, name), `${kind.kind} ${name} is gone`).toEqual({});
  }
}
afterAll(removeAll);

const tags = { Name: "case", team: "platform" };
const policy = (statement: object) =>
  JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", ...statement }] });
const trust = policy({ Principal: { Service: "eks.amazonaws.com" }, Action: "sts:AssumeRole" });

const disk = (volumeSize: number) => ({
  blockDeviceMappings: [
    { deviceName: "/dev/xvda", ebs: { volumeSize, volumeType: "gp3", encrypted: "true", deleteOnTermination: "true" } },
  ],
});

describe("each kind becomes ready, stays as it is, takes a change, and goes", () => {
  test("those of a network", async () => {
    const vpc = await order("VPC", "vpc", {
      cidrBlock: "10.44.0.0/16",
      enableDnsHostnames: true,
      enableDnsSupport: true,
      tags,
    });
    const vpcId = vpc["id"];
    const { id: gatewayId } = await order("InternetGateway", "gateway", { vpcId, tags });
    const { id: subnetId } = await order("Subnet", "subnet", {
      vpcId,
      cidrBlock: "10.44.1.0/24",
      availabilityZone: "us-east-1a",
      mapPublicIpOnLaunch: false,
      tags,
    });
    const { id: routeTableId } = await order("RouteTable", "table", { vpcId, tags });
    await order("RouteTableAssociation", "association", { subnetId, routeTableId });
    const { id: otherTableId } = await order("RouteTable", "other-table", { vpcId, tags });
    await order("Route", "route", { routeTableId, gatewayId, destinationCidrBlock: "0.0.0.0/0" });
    const { id: allocationId } = await order("EIP", "address", { domain: "vpc", networkInterface: "", tags });
    const nat = { subnetId, allocationId, connectivityType: "public", vpcId: "", tags };
    const { id: NatGatewayId } = await order("NATGateway", "nat", nat);
    await account.client(EC2).deleteNatGateway({ NatGatewayId });
    expect(await settle(kindOf("NATGateway"), "nat"), "is created again").toBe("poll");
    expect(await settle(kindOf("EIP"), "address"), "has another network interface").toBe("poll");
    expect(conditionsOf(cluster, kindOf("EIP"), "address")["Synced"]).toBe("True ReconcileSuccess");
    const serviceName = `com.amazonaws.${account.region}.s3`;
    const endpoint = { vpcId, vpcEndpointType: "Gateway", serviceName, tags };
    const { id: vpcEndpointId } = await order("VPCEndpoint", "endpoint", endpoint);
    await order("VPCEndpointRouteTableAssociation", "endpoint-route", { vpcEndpointId, routeTableId });
    await order("SecurityGroupIngressRule", "rule", {
      securityGroupId: vpc["defaultSecurityGroupId"],
      description: "one",
      tags,
      ipProtocol: "tcp",
      fromPort: 443,
      toPort: 443,
      cidrIpv4: "10.1.0.0/16",
    });
    await change("VPC", "vpc", { tags: { team: "other" } });
    await change("Subnet", "subnet", { mapPublicIpOnLaunch: true });
    await change("SecurityGroupIngressRule", "rule", { description: "two" });
    await change("RouteTableAssociation", "association", { routeTableId: otherTableId });
    await removeAll();
  });

  test("those of identities", async () => {
    const externalName = "case-role";
    await order("Role", "role", { assumeRolePolicy: trust, description: "one", tags }, { externalName });
    const policyArn = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy";
    await order("RolePolicyAttachment", "attachment", { role: externalName, policyArn });
    const inline = { role: externalName, policy: policy({ Action: "s3:*", Resource: "*" }) };
    await order("RolePolicy", "policy", inline, { externalName: "inline" });
    const url = "https://oidc.eks.us-east-1.amazonaws.com/id/CA5E456789ABCDEF0123456789ABCDEF";
    await order("OpenIDConnectProvider", "provider", { url, clientIdList: ["sts.amazonaws.com"], tags });
    await change("Role", "role", { description: "two" });
    await removeAll();
  });

  test("those of an application", async () => {
    await order("Queue", "queue", {
      name: "case_events",
      sqsManagedSseEnabled: true,
      receiveWaitTimeSeconds: 20,
      tags,
    });
    const table = { billingMode: "PAY_PER_REQUEST", hashKey: "id", attribute: [{ name: "id", type: "S" }], tags };
    const recovery = (enabled: boolean) => ({ pointInTimeRecovery: { enabled } });
    await order("Table", "payments", { ...table, ...recovery(true) }, { externalName: "case_payments" });
    await change("Queue", "queue", { visibilityTimeoutSeconds: 60 });
    await change("Table", "payments", recovery(false));
    await removeAll();
  });

  test("those of an application's databases", async () => {
    const { id: vpcId } = await order("VPC", "databases", { cidrBlock: "10.45.0.0/16", tags });
    const inZone = async (zone: string, cidrBlock: string) =>
      (await order("Subnet", `zone-${zone}`, { vpcId, cidrBlock, availabilityZone: `us-east-1${zone}` }))["id"];
    const subnetIds = [await inZone("a", "10.45.1.0/24"), await inZone("b", "10.45.2.0/24")];
    await order("SubnetGroup", "databases", { subnetIds, tags }, { externalName: "case-databases" });
    const database = {
      ...{ identifier: "case-orders", engine: "postgres", instanceClass: "db.t4g.micro", allocatedStorage: 20, tags },
      ...{ username: "main", autoGeneratePassword: true, passwordSecretRef: { name: "orders", key: "password" } },
      ...{ storageEncrypted: true, backupRetentionPeriod: 7, deletionProtection: true },
      ...{ dbSubnetGroupName: "case-databases", skipFinalSnapshot: true, applyImmediately: true },
    };
    const connection = { writeConnectionSecretToRef: { name: "connection" } };
    const { id, endpoint } = await order("Instance", "orders", database, { spec: connection });
    expect(id).toMatch(/^db-/);
    const published = cluster.secrets.get("spokes/connection");
    expect(published).toMatchObject({ endpoint, username: "main", port: "5432" });
    expect(published?.["password"]).toBe(cluster.secrets.get("spokes/orders")?.["password"]);
    await change("Instance", "orders", { allocatedStorage: 40 });
    const kind = kindOf("Instance");
    // Whoever deletes the object without a word about the protection gets AWS's refusal.
    cluster.delete(kind, "orders");
    await settle(kind, "orders");
    expect(conditionsOf(cluster, kind, "orders")["Synced"]).toContain("Cannot delete protected DB Instance");
    // RDS keeps the group until the last database has left it.
    const groups = kindOf("SubnetGroup");
    cluster.delete(groups, "databases");
    await settle(groups, "databases");
    expect(conditionsOf(cluster, groups, "databases")["Synced"]).toContain("case-orders is still using it");
    await account.rds.modifyDBInstance({ DBInstanceIdentifier: "case-orders", DeletionProtection: false });
    await removeAll();
  });

  test("those of a cluster", async () => {
    const key = { description: "one", deletionWindowInDays: 7, enableKeyRotation: true, tags };
    const { arn: keyArn, keyId: targetKeyId } = await order("Key", "key", key);
    await order("Alias", "alias", { targetKeyId }, { externalName: "case/secrets" });
    await order("Group", "logs", { retentionInDays: 30, tags }, { externalName: "/aws/eks/case/cluster" });
    await order("LaunchTemplate", "template", {
      name: "case-nodes",
      updateDefaultVersion: true,
      tags,
      ...disk(40),
      metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
      tagSpecifications: [{ resourceType: "instance", tags }],
    });
    const { id: vpcId } = await order("VPC", "vpc", { cidrBlock: "10.45.0.0/16", tags });
    const subnet = async (zone: string, cidrBlock: string) =>
      (await order("Subnet", `subnet-${zone}`, { vpcId, cidrBlock, availabilityZone: `us-east-1${zone}`, tags }))["id"];
    const subnetIds = [await subnet("a", "10.45.1.0/24"), await subnet("b", "10.45.2.0/24")];
    const { arn: roleArn } = await order(
      "Role",
      "role",
      { assumeRolePolicy: trust, tags },
      { externalName: "case-cluster" },
    );
    await order(
      "Cluster",
      "cluster",
      {
        version: "1.34",
        roleArn,
        bootstrapSelfManagedAddons: false,
        deletionProtection: false,
        tags,
        accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: false },
        enabledClusterLogTypes: ["audit", "api"],
        encryptionConfig: { provider: { keyArn }, resources: ["secrets"] },
        upgradePolicy: { supportType: "STANDARD" },
        vpcConfig: {
          subnetIds,
          endpointPrivateAccess: true,
          endpointPublicAccess: true,
          publicAccessCidrs: ["0.0.0.0/0"],
        },
      },
      { externalName: "case" },
    );
    const of = { clusterName: "case", principalArn: roleArn };
    await order("AccessEntry", "entry", { ...of, type: "STANDARD", tags });
    const policyArn = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";
    await order("AccessPolicyAssociation", "access", { ...of, policyArn, accessScope: { type: "cluster" } });
    const pods = policy({
      Principal: { Service: "pods.eks.amazonaws.com" },
      Action: ["sts:AssumeRole", "sts:TagSession"],
    });
    const podRole = (name: string) =>
      order("Role", name, { assumeRolePolicy: pods, tags }, { externalName: `case-${name}` });
    const { arn: podRoleArn } = await podRole("pod");
    const { arn: otherRoleArn } = await podRole("other-pod");
    const { associationId } = await order("PodIdentityAssociation", "pod-identity", {
      ...{ clusterName: "case", namespace: "apps", serviceAccount: "app", roleArn: podRoleArn, tags },
    });
    expect(associationId).toMatch(/^a-/);
    await order("Addon", "addon", {
      clusterName: "case",
      addonName: "kube-proxy",
      resolveConflictsOnCreate: "OVERWRITE",
      tags,
    });
    const spec = { writeConnectionSecretToRef: { name: "kubeconfig" } };
    await order("ClusterAuth", "auth", { clusterName: "case", refreshPeriod: "10m0s" }, { spec });
    expect(Object.keys(cluster.secrets.get("spokes/kubeconfig") ?? {})).toEqual([
      "kubeconfig",
      "endpoint",
      "clusterCA",
    ]);
    await change("Key", "key", { enableKeyRotation: false });
    await change("Group", "logs", { retentionInDays: 90 });
    await change("LaunchTemplate", "template", disk(50));
    await change("Cluster", "cluster", { enabledClusterLogTypes: ["audit"] });
    await change("PodIdentityAssociation", "pod-identity", { roleArn: otherRoleArn });
    await removeAll();
  });
});
