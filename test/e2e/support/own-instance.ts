import { join } from "node:path";
import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import { paginateListRoles } from "@aws-sdk/client-iam";
import { rootAws } from "@eks-gitops-fleet/local/cli";
import { bareRepository } from "@eks-gitops-fleet/local/git";
import { findInstance } from "@eks-gitops-fleet/local/instance";
import { expect } from "vitest";
import { APP, infoBy } from "../../support/app.ts";
import { type Checkout, checkoutOf, type Editable } from "../../support/checkout.ts";
import { type Cluster, clusterBy } from "../../support/cluster.ts";
import { inventoryOf } from "../../support/inventory.ts";
import { hubScope, type Scope, spokeScope } from "../../support/inventory-scope.ts";
import { execute, root, succeeds } from "../../support/process.ts";

/** A fleet on an instance that belongs to one test file alone, which may break it. */

export const FLEET = "fleet";
export const hubCluster = `${FLEET}-hub`;
export const spokeCluster = (name: string) => `${FLEET}-spoke-${name}`;
const person = {
  GIT_AUTHOR_NAME: "A person",
  GIT_AUTHOR_EMAIL: "person@example.com",
  GIT_COMMITTER_NAME: "A person",
  GIT_COMMITTER_EMAIL: "person@example.com",
};

/**
 * The instance that runs in a folder.
 * @param project the checkout of this project whose commands are called
 */
export async function ownInstance(dir: string, project = root) {
  const instance = (await findInstance(dir)) ?? expect.fail(`no instance runs in ${dir}`);
  const account = await rootAws(instance);
  const tool = (name: string) => join(instance.paths.bin, name);
  const inProject = { cwd: project };
  /** A command of the instance, in the project. */
  const run = (name: string, args: readonly string[]) => execute(tool(name), args, { ...inProject, env: person });
  const succeed = async (name: string, args: readonly string[]): Promise<string> => {
    const stdout = await succeeds(run(name, args));
    return stdout;
  };
  /** kubectl on a cluster, as its administrator. */
  const kubectlOn = (cluster: string): [string, ...string[]] => [
    tool("kubectl"),
    "--kubeconfig",
    join(instance.paths.clusters, cluster, "admin.kubeconfig"),
  ];
  const on = (cluster: string): Cluster => {
    const [file, ...flags] = kubectlOn(cluster);
    return clusterBy((args, options) => execute(file, [...flags, ...args], options));
  };

  /** Names and IDs of the IAM roles of a scope: a role that is made anew has its name, and another ID. */
  const rolesOf = async (scope: Scope): Promise<string[]> => {
    const roles: string[] = [];
    for await (const { Roles = [] } of paginateListRoles({ client: account.iam }, {}))
      for (const { RoleName = "", RoleId } of Roles) if (scope.name(RoleName)) roles.push(`role ${RoleName} ${RoleId}`);
    return roles;
  };

  /** What must stay of a spoke: everything in AWS, with the IDs of cluster and roles, which keep their names when they are made anew; nodes; the application's pods. */
  const identities = async (spoke: string): Promise<string[]> => {
    const name = spokeCluster(spoke);
    const scope = spokeScope(FLEET, spoke);
    const { cluster } = await account.eks.send(new DescribeClusterCommand({ name }));
    const nodes: Editable[] = (await on(name).get(["nodes"])).items;
    const pods: Editable[] = (await on(name).get(["pods", "--namespace", APP])).items;
    const restarts = ({ status }: Editable) =>
      status.containerStatuses.map(({ restartCount }: { restartCount: number }) => restartCount).join();
    return [
      ...(await inventoryOf(account, scope)),
      ...(await rolesOf(scope)),
      `cluster ${cluster?.arn} ${cluster?.createdAt?.toISOString()} ${cluster?.identity?.oidc?.issuer}`,
      ...nodes.map(({ metadata }) => `node ${metadata.name} ${metadata.uid}`),
      ...pods.map((pod) => `pod ${pod.metadata.name} ${pod.metadata.uid} ${restarts(pod)}`),
    ];
  };

  return {
    ...{ instance, account, run, succeed, on, identities },
    /** {@link identities} of several spokes, by name. */
    allIdentities: async (spokes: readonly string[]): Promise<Readonly<Record<string, string[]>>> =>
      Object.fromEntries(await Promise.all(spokes.map(async (spoke) => [spoke, await identities(spoke)] as const))),
    /** What outlives a hub's cluster: roles with their IDs, keys, policies, secrets, logs, network. */
    hubIdentities: async (): Promise<string[]> => {
      const scope = hubScope(FLEET);
      const all = [...(await inventoryOf(account, scope)), ...(await rolesOf(scope))];
      return all.filter(
        (line) => !/^(cluster|instance|network interface|OIDC provider|security group|volume) /.test(line),
      );
    },
    /** What the application on a spoke answers. */
    info: (spoke: string) => infoBy(kubectlOn(spokeCluster(spoke))),
    /** A new clone of a repository of the fleet, below `folder`. */
    clone: (repository: string, folder: string): Promise<Checkout> =>
      checkoutOf(bareRepository(instance, repository), join(folder, repository)),
  };
}

export type OwnInstance = Awaited<ReturnType<typeof ownInstance>>;
