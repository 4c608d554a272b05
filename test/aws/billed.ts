import { DescribeNodegroupCommand, paginateListNodegroups } from "@aws-sdk/client-eks";
import { type Account, inventoryOf } from "../support/inventory.ts";
import { namesOf } from "../support/inventory-lines.ts";
import type { Scope } from "../support/inventory-scope.ts";
import type { Billed } from "./cost.ts";

/** EC2 instance types of a cluster's nodes, as many as its node groups ask for; the first type of a group counts for all of it. */
async function nodesOf({ eks }: Account, clusterName: string): Promise<string[]> {
  const nodes: string[] = [];
  for await (const { nodegroups = [] } of paginateListNodegroups({ client: eks }, { clusterName }))
    for (const nodegroupName of nodegroups) {
      const { nodegroup } = await eks.send(new DescribeNodegroupCommand({ clusterName, nodegroupName }));
      const type = nodegroup?.instanceTypes?.[0] ?? "(type of the launch template)";
      nodes.push(...Array.from({ length: nodegroup?.scalingConfig?.desiredSize ?? 0 }, () => type));
    }
  return nodes;
}

/** What of a scope costs money by the hour. @param diskSize root volume of each node in GiB */
export async function billedOf(account: Account, scope: Scope, diskSize: number): Promise<Billed> {
  const inventory = await inventoryOf(account, scope);
  const clusters = namesOf(inventory, "cluster");
  const nodes = (await Promise.all(clusters.map((name) => nodesOf(account, name)))).flat();
  return {
    clusters: clusters.length,
    natGateways: namesOf(inventory, "NAT gateway").length,
    addresses: namesOf(inventory, "address").length,
    nodes,
    gib: nodes.length * diskSize,
    keys: namesOf(inventory, "key").length,
    secrets: namesOf(inventory, "secret").length,
  };
}
