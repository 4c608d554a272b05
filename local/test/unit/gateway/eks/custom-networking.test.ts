import { expect, test } from "vitest";
import { eks, useEks, withCluster } from "./fakes.ts";

useEks(withCluster);

const subnets = { "us-east-1a": { id: "subnet-0123456789abcdef0", securityGroups: ["sg-0123456789abcdef0"] } };
const create = (values: object) =>
  eks.call("POST", "/clusters/hub/addons", { addonName: "vpc-cni", configurationValues: JSON.stringify(values) });

test("EKS takes subnets for pods with the add-on vpc-cni", async () => {
  const env = { AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG: "true" };
  const { body } = await create({ env, eniConfig: { create: true, region: "us-east-1", subnets } });
  expect(body.addon).toMatchObject({ addonName: "vpc-cni", status: "CREATING" });
});

test.each([
  ["an environment that is not text", { env: { AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG: true } }],
  ["subnets without a region", { eniConfig: { create: true, subnets } }],
  ["a subnet without its ID", { eniConfig: { create: true, region: "us-east-1", subnets: { "us-east-1a": {} } } }],
  ["a field that there is not", { eniConfig: { create: true, region: "us-east-1", subnets, zone: "a" } }],
])("EKS refuses %s", async (_what, values) => {
  expect((await create(values)).error).toBe("InvalidParameterException");
});
