import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import { expect } from "vitest";
import { contains, networkOf } from "../../../lib/cidr.ts";
import type { Cluster } from "../../support/cluster.ts";
import type { Account } from "../../support/inventory.ts";
import { serviceCidr } from "../cases.ts";

/** EKS has the block of the case, and the first Service has an address of it. */
export async function expectServiceCidr({ eks }: Account, { get }: Cluster, clusterName: string): Promise<void> {
  const { cluster } = await eks.send(new DescribeClusterCommand({ name: clusterName }));
  expect(cluster?.kubernetesNetworkConfig?.serviceIpv4Cidr).toBe(serviceCidr);
  const { spec } = await get(["service", "kubernetes", "--namespace", "default"]);
  const [block, address] = [networkOf(serviceCidr), networkOf(`${spec.clusterIP}/32`)];
  if (block === undefined || address === undefined) throw new Error(`${spec.clusterIP} is not an IPv4 address`);
  expect(contains(block, address), spec.clusterIP).toBe(true);
}
