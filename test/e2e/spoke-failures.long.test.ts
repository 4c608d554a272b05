import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DescribeLogGroupsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { DescribeVpcsCommand } from "@aws-sdk/client-ec2";
import { DeleteRolePolicyCommand, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import { clearFaults, setFaults } from "@eks-gitops-fleet/local/gateway";
import sshpk from "sshpk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromOutputs, sealingKeyFor } from "../../cli/fleet/facts.ts";
import { seal } from "../../cli/sealing/seal.ts";
import { clusterTag } from "../../lib/labels.ts";
import { spokeNames } from "../../lib/spoke.ts";
import { withSpec } from "../support/checkout.ts";
import { account, eventually, instance, outputs, secretData } from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import {
  addSpoke,
  condition,
  fleet,
  sharedSpoke,
  spoke,
  syncOf,
  system,
  untilGone,
  untilReady,
} from "./support/spokes.ts";

/** The spoke that fails in every way, one after another, and the one that must not be affected. */
const stuck = "stuck";
const healthy = "blue";

let repository: Checkout;
const { bridgeData, ...sealing } = await outputs();
const names = (name: string) => spokeNames(bridgeData.spoke_prefix, name);

/** Changes the Spoke as a person does: by a commit. */
async function change(message: string, spec: (spec: Editable) => Editable, name = stuck): Promise<void> {
  await repository.edit(`spokes/fleet/${name}/spoke.yaml`, (manifest) => ({ ...manifest, spec: spec(manifest.spec) }));
  await repository.push(message);
}

/** Waits until a condition is False for a reason, and gives its message; it must also be what people see first. */
const untilSays = (type: string, reason: string): Promise<string> =>
  eventually(400, async () => {
    const found = await condition(stuck, type);
    expect(found, `${type}: ${found?.["message"]}`).toMatchObject({ status: "False", reason });
    expect((await spoke(stuck)).status.message).toBe(found?.["message"]);
    return found?.["message"] ?? "";
  });

const untilTrue = (type: string) =>
  eventually(240, async () => {
    const found = await condition(stuck, type);
    expect(found?.["status"], `${type}: ${found?.["message"]}`).toBe("True");
  });

/** Days that AWS keeps the control plane's log of the healthy spoke. */
async function retention(): Promise<number | undefined> {
  const logGroupNamePrefix = names(healthy).logGroup;
  const { logGroups } = await account.cloudwatchlogs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix }));
  return logGroups?.[0]?.retentionInDays;
}

/** The role of Crossplane's provider for EKS on the hub, and the policy that takes a right away from it. */
const denial = {
  RoleName: (bridgeData.crossplane_eks_iam_role_arn as string).split("/").at(-1),
  PolicyName: "test-no-control-plane",
};
const { aws_partition, aws_region, aws_account_id } = bridgeData;
const arn = `arn:${aws_partition}:eks:${aws_region}:${aws_account_id}:cluster/${names(stuck).cluster}`;
const deny = () =>
  account.iam.send(
    new PutRolePolicyCommand({
      ...denial,
      PolicyDocument: JSON.stringify({
        Version: "2012-10-17",
        Statement: [{ Effect: "Deny", Action: "eks:CreateCluster", Resource: arn }],
      }),
    }),
  );
const allow = () => account.iam.send(new DeleteRolePolicyCommand(denial));

const credentialFile = () => join(repository.folder, "spokes", "fleet", stuck, "secrets", "gitops-system.yaml");

/** Commits the deploy key sealed with the certificate of `environment`, with changed members. */
async function sealCredential(message: string, environment: string, over: Record<string, string> = {}): Promise<void> {
  const {
    identity = "",
    "identity.pub": publicKey = "",
    known_hosts = "",
  } = await secretData("flux-system", "gitops-system");
  const { certificates } = fromOutputs({ bridgeData, ...sealing });
  const key = sealingKeyFor({ certificates } as never, environment);
  const data = { identity, "identity.pub": publicKey, known_hosts, ...over };
  const secret = { namespace: "flux-system", name: "gitops-system", data };
  writeFileSync(credentialFile(), await seal(join(instance.paths.bin, "kubeseal"), key, secret));
  await repository.push(message);
}

describe("a spoke that cannot come up says why in its conditions, and comes up when that is fixed", () => {
  let days = 0;
  let credential = "";

  beforeAll(async () => {
    await sharedSpoke(healthy, "dev");
    days = (await retention()) ?? 0;
    repository = await system();
  });
  afterAll(async () => {
    await allow().catch(() => {});
    await repository.remove(join("spokes", "fleet", stuck));
    await change("Remove the failing spoke", (spec) => ({ ...spec, logRetentionDays: days }), healthy);
    await untilGone(stuck);
    await eventually(120, async () => expect(await retention()).toBe(days));
  });

  test("a network that overlaps the hub's: nothing is made, and the message names both and the way out", async () => {
    const cidr = bridgeData.aws_vpc_cidr;
    await addSpoke(repository, stuck, "dev", withSpec({ network: { cidr } }));
    await repository.push("Add a spoke in the hub's network");
    const message = await untilSays("SpecAccepted", "NetworkOverlap");
    expect(message).toContain(`spec.network.cidr ${cidr} overlaps ${cidr} of the hub`);
    expect(message).toContain("remove this Spoke and add it again with a free network");
    expect((await spoke(stuck)).status.phase).toBe("Refused");
    const Filters = [{ Name: `tag:${clusterTag}`, Values: [stuck] }];
    expect((await account.ec2.send(new DescribeVpcsCommand({ Filters }))).Vpcs).toEqual([]);
    await repository.remove(join("spokes", "fleet", stuck));
    await repository.push("Remove it");
    await untilGone(stuck);
  });

  test("an error of AWS: the condition has AWS's message and whose permission is missing", async () => {
    await deny();
    await addSpoke(
      repository,
      stuck,
      "dev",
      withSpec({ nodes: { instanceTypes: ["m7g.gigantic"], min: 1, desired: 1, max: 5 } }),
    );
    credential = readFileSync(credentialFile(), "utf8");
    await repository.push("Add it with a free network");
    const message = await untilSays("ControlPlaneReady", "AccessDenied");
    expect(message).toMatch(/^Cluster stuck-cluster: create failed: AccessDenied\w*: .*eks:CreateCluster/);
    expect(message).toContain("the role of Crossplane's AWS provider lacks the permission");
  });

  test("nobody else waits for it: another spoke takes a commit meanwhile", async () => {
    await change("Keep the log longer", (spec) => ({ ...spec, logRetentionDays: days === 7 ? 14 : 7 }), healthy);
    await eventually(120, async () => expect(await retention()).toBe(days === 7 ? 14 : 7));
    expect((await spoke(stuck)).status.phase).toBe("Failing");
    expect((await syncOf(healthy)).status.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", status: "True" }),
    );
  });

  test("a bad instance type: the condition names it and the fields to correct", async () => {
    await allow();
    await untilTrue("ControlPlaneReady");
    const message = await untilSays("NodesReady", "InvalidNodes");
    expect(message).toContain("The following supplied instance types do not exist: [m7g.gigantic]");
    expect(message).toContain("correct spec.nodes.instanceTypes and spec.nodes.amiType");
  });

  test("a quota of AWS: the condition says which limit is met", async () => {
    await change("Take nodes that exist, too many", (spec) => ({ ...spec, nodes: { min: 1, desired: 5, max: 5 } }));
    const message = await untilSays("NodesReady", "QuotaExceeded");
    expect(message).toContain("would have 5 nodes");
    expect(message).toContain("raise the quota in Service Quotas, or remove what is not used");
  });

  test("nodes that don't join: the condition and fleet why give the last error of the kubelet", async () => {
    const error = "KubeletConfiguration.maxPods";
    await setFaults(instance, { kubeletConfig: { maxPods: "many" } });
    try {
      // Not the default type: the change after this one creates another node group.
      const nodes = { instanceTypes: ["m5.large"], min: 1, desired: 1, max: 2 };
      await change("Take a node that can't start", (spec) => ({ ...spec, nodes }));
      const message = await untilSays("NodesReady", "NodesNotJoined");
      expect(message).toContain("Instances failed to join the kubernetes cluster");
      expect(message).toContain(error);
      expect((await fleet(["why", stuck])).stdout).toContain(error);
    } finally {
      await clearFaults(instance);
    }
  });

  test("a secret sealed for another environment: the condition says which one, and with what to seal", async () => {
    await sealCredential("Seal the deploy key with another certificate", "prod");
    await change("Take one node", (spec) => ({ ...spec, nodes: { min: 1, desired: 1, max: 2 } }));
    const message = await untilSays("Bootstrapped", "WrongSealingKey");
    expect(message).toContain("SealedSecret/flux-system/gitops-system status: 'Failed'");
    expect(message).toContain("seal the secret again with the certificate of the spoke's sealing scope");
    for (const type of ["NetworkReady", "ControlPlaneReady", "NodesReady", "AddonsReady", "IdentitiesReady"])
      await untilTrue(type);
  });

  test("a Git server that the spoke does not trust: the condition names the source and what to check", async () => {
    const { known_hosts = "" } = await secretData("flux-system", "gitops-system");
    const foreign = sshpk.generatePrivateKey("ed25519").toPublic().toString("ssh");
    const host = known_hosts.split(" ")[0];
    await sealCredential("Expect another host key", "dev", { known_hosts: `${host} ${foreign}\n` });
    const message = await untilSays("Bootstrapped", "GitUnreachable");
    expect(message).toMatch(/GitRepository\/flux-system\/gitops-system status: '(Failed|InProgress)'/);
    expect(message).toContain("check the GitRepository: its URL, its credential, the host's known_hosts");
  });

  test("it is Ready when the last mistake is fixed, without anything else being done", async () => {
    writeFileSync(credentialFile(), credential);
    await repository.push("Seal the deploy key as it is");
    await untilReady(stuck);
    await untilTrue("SpecAccepted");
  });
});
