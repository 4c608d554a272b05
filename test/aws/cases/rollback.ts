import {
  DescribeUpdateCommand,
  paginateListNodegroups,
  type Update,
  UpdateClusterVersionCommand,
  UpdateNodegroupVersionCommand,
} from "@aws-sdk/client-eks";
import { expect } from "vitest";
import { labelKeys } from "../../../lib/labels.ts";
import type { Cluster } from "../../support/cluster.ts";
import type { Account } from "../../support/inventory.ts";
import { eventually } from "../../support/process.ts";

/** The EKS cluster of a spoke, and the minor to which its operator rolls it back. */
export interface RolledBack {
  readonly spoke: string;
  readonly clusterName: string;
  readonly version: string;
  readonly seconds: number;
}

const paused = "crossplane.io/paused";

/** Lets Crossplane reconcile the node groups of a spoke, or not: it would request their version again. */
async function pauseNodes({ kubectl }: Cluster, spoke: string, isPaused: boolean): Promise<void> {
  const groups = [
    ...["nodegroups.eks.aws.m.upbound.io", "--namespace", "spokes", "--selector", `${labelKeys.cluster}=${spoke}`],
  ];
  await kubectl(["annotate", ...groups, "--overwrite", isPaused ? `${paused}=true` : `${paused}-`]);
}

/**
 * Rolls the nodes and then the control plane back, as a user does in EKS's console (EKS User Guide, "Rollback cluster to previous Kubernetes
 * version"), and runs `check` before Crossplane reconciles the nodes again. EKS's model still says that a node group can't be rolled back.
 */
export async function rollBack(
  { eks }: Account,
  hub: Cluster,
  { spoke, clusterName, version, seconds }: RolledBack,
  check: () => Promise<void>,
): Promise<void> {
  const ended = ({ id }: Update = {}, nodegroupName?: string) =>
    eventually(
      seconds,
      async () => {
        const { update } = await eks.send(
          new DescribeUpdateCommand({ name: clusterName, nodegroupName, updateId: id }),
        );
        expect(update, JSON.stringify(update?.errors)).toMatchObject({ status: "Successful" });
      },
      5000,
    );
  await pauseNodes(hub, spoke, true);
  try {
    for await (const { nodegroups = [] } of paginateListNodegroups({ client: eks }, { clusterName }))
      for (const nodegroupName of nodegroups) {
        const request = new UpdateNodegroupVersionCommand({ clusterName, nodegroupName, version });
        await ended((await eks.send(request)).update, nodegroupName);
      }
    await ended((await eks.send(new UpdateClusterVersionCommand({ name: clusterName, version }))).update);
    await check();
  } finally {
    await pauseNodes(hub, spoke, false);
  }
}
