import { setTimeout as sleep } from "node:timers/promises";
import { paginateDescribeVpcEndpoints } from "@aws-sdk/client-ec2";
import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import { expect } from "vitest";
import { guardDutyTag } from "../../../lib/labels.ts";
import type { Account } from "../../support/inventory.ts";

/** GuardDuty Runtime Monitoring has created its endpoint in the VPC of a cluster. */
export async function expectGuardDuty({ ec2, eks }: Account, region: string, clusterName: string): Promise<void> {
  const { cluster } = await eks.send(new DescribeClusterCommand({ name: clusterName }));
  const vpcId = cluster?.resourcesVpcConfig?.vpcId ?? "";
  const Filters = [
    { Name: "vpc-id", Values: [vpcId] },
    { Name: `tag:${guardDutyTag.key}`, Values: [guardDutyTag.value] },
  ];
  const services: (string | undefined)[] = [];
  for await (const { VpcEndpoints = [] } of paginateDescribeVpcEndpoints({ client: ec2 }, { Filters }))
    services.push(...VpcEndpoints.map(({ ServiceName }) => ServiceName));
  expect(services).toEqual([`com.amazonaws.${region}.guardduty-data`]);
}

/** Repeats `sweep` until a removal has ended: it can delete nothing before EKS has deleted the cluster, and AWS takes minutes. */
export async function sweepingUntil(
  removal: Promise<void>,
  sweep: () => Promise<unknown>,
  pause: number,
): Promise<void> {
  let ended = false;
  const sweeps = async () => {
    for (; !ended; await sleep(pause)) await sweep();
  };
  await Promise.all([
    removal.finally(() => {
      ended = true;
    }),
    sweeps(),
  ]);
}
