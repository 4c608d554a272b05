import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { kubernetesVersions } from "../../components/versions.ts";
import { type Registered, runExample } from "../support/program.ts";

/** How many resources of each kind a program asks AWS and Kubernetes for: what the README of an example promises. */
function kinds(resources: readonly Registered[]): Record<string, number> {
  const names = resources.filter(({ custom }) => custom).map(({ type }) => type.split(":").at(-1) ?? "");
  return Object.fromEntries(
    [...new Set(names)].sort().map((kind) => [kind, names.filter((one) => one === kind).length]),
  );
}
const one = (resources: readonly Registered[], name: string) => resources.find((resource) => resource.name === name);

describe("an example", () => {
  test("is each folder of examples/, and each is tried here", () => {
    const folders = readdirSync(new URL("../../examples", import.meta.url), { withFileTypes: true });
    expect(folders.filter((entry) => entry.isDirectory()).map(({ name }) => name)).toEqual([
      "hub-cluster",
      "sealing-keys",
      "workload-role",
    ]);
  });

  test("hub-cluster makes a VPC and a cluster with nodes, which only the VPC reaches until somebody is named", async () => {
    const { resources, outputs } = await runExample("hub-cluster");
    expect(kinds(resources)).toMatchObject({ Vpc: 1, Subnet: 4, NatGateway: 1, Key: 1, OpenIdConnectProvider: 1 });
    const cluster = resources.find(({ type }) => type === "eks:index:Cluster");
    expect(cluster?.inputs).toMatchObject({ name: "example", endpointPublicAccess: false });
    expect(kubernetesVersions).toContain(cluster?.inputs["version"]);
    expect(resources.find(({ type }) => type === "eks:index:ManagedNodeGroup")?.inputs).toMatchObject({
      nodeGroupName: expect.stringMatching(/^example-nodes-/),
      scalingConfig: { minSize: 1, desiredSize: 1, maxSize: 3 },
    });
    expect(outputs).toMatchObject({ kubeconfig: expect.stringContaining("get-token"), oidcIssuer: expect.any(String) });
  });

  test("sealing-keys keeps both generations of dev, and tells the public halves only", async () => {
    const { resources, outputs } = await runExample("sealing-keys");
    expect(kinds(resources)).toEqual({
      Alias: 1,
      Key: 1,
      PrivateKey: 3,
      SelfSignedCert: 3,
      Secret: 3,
      SecretVersion: 3,
    });
    expect(outputs["active"]).toEqual({ dev: "2", prod: "1" });
    expect(JSON.stringify(outputs)).toContain("CERTIFICATE shop-dev/2-certificate");
    expect(JSON.stringify(outputs)).not.toContain("PEM");
  });

  test("workload-role trusts the one service account, and lets it send to queues of the shop", async () => {
    const { resources, outputs } = await runExample("workload-role");
    expect(kinds(resources)).toEqual({ Role: 1, RolePolicy: 1 });
    const trust = JSON.parse(one(resources, "shop-orders-role")?.inputs["assumeRolePolicy"]);
    expect(Object.values(trust.Statement[0].Condition.StringEquals)).toContain("system:serviceaccount:shop:orders");
    expect(JSON.parse(one(resources, "shop-orders-policy")?.inputs["policy"]).Statement[0].Resource).toEqual([
      "arn:aws:sqs:eu-central-1:222222222222:shop-*",
    ]);
    expect(outputs["roleArn"]).toBe("arn:aws:iam::222222222222:role/shop-orders");
  });
});
