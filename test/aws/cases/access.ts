import { paginateListAssociatedAccessPolicies } from "@aws-sdk/client-eks";
import { expect } from "vitest";
import type { Cluster } from "../../support/cluster.ts";
import type { Account } from "../../support/inventory.ts";

/** Principals with access to a hub, as the stack names them. */
export interface Principals {
  readonly clusterAdmins?: readonly string[] | undefined;
  readonly clusterViewers?: readonly string[] | undefined;
}

const adminPolicy = "AmazonEKSClusterAdminPolicy";
const viewPolicy = "AmazonEKSAdminViewPolicy";

/** Names of the access policies of a principal, without `arn:…/`. */
async function policiesOf({ eks }: Account, clusterName: string, principalArn: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { associatedAccessPolicies = [] } of paginateListAssociatedAccessPolicies(
    { client: eks },
    { clusterName, principalArn },
  ))
    names.push(...associatedAccessPolicies.map(({ policyArn = "" }) => policyArn.replace(/^.*\//, "")));
  return names;
}

/** Every principal of the stack has its access policy on the hub. */
export async function expectAccess(account: Account, clusterName: string, principals: Principals): Promise<void> {
  const { clusterAdmins = [], clusterViewers = [] } = principals;
  for (const arn of clusterAdmins) expect(await policiesOf(account, clusterName, arn), arn).toEqual([adminPolicy]);
  for (const arn of clusterViewers) expect(await policiesOf(account, clusterName, arn), arn).toEqual([viewPolicy]);
}

/** A viewer reads everything, Secrets included, and changes nothing (EKS User Guide, "Review access policy permissions"). */
export async function expectViewer({ kubectl, tryKubectl }: Cluster): Promise<void> {
  await kubectl(["get", "secrets,deployments", "--all-namespaces", "--output", "name"]);
  const { code, stderr } = await tryKubectl(["create", "configmap", "fleet-proof-viewer", "--namespace", "default"]);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("Forbidden") });
}
