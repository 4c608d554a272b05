import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DeleteLogGroupCommand, DescribeLogGroupsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { pulumiPaths } from "@eks-gitops-fleet/local/pulumi";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { expectUnchanged } from "../support/cluster.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { account, instance, kubectl, outputs, pulumi, tryPulumi } from "./support/fleet.ts";

interface PreviewStep {
  readonly op: string;
  readonly urn: string;
  readonly detailedDiff?: Record<string, { kind: string }>;
}

const { clusterName, bridgeData: bridge, activeSealingKeys } = await outputs();
const base = temporaryFolder("fleet-pulumi");

/** What `pulumi preview` would change with some config values: operation, type::name and, of an update, the properties. */
async function changes(values: Record<string, unknown>): Promise<string[]> {
  const { project } = pulumiPaths(instance.dir);
  const rendered = parse(readFileSync(join(project, "stacks", "Pulumi.local.yaml"), "utf8"));
  for (const [name, value] of Object.entries(values)) rendered.config[`eks-gitops-fleet:${name}`] = value;
  const file = join(base, "Pulumi.local.yaml");
  writeFileSync(file, stringify(rendered));
  const { steps } = JSON.parse(await pulumi(["preview", "--json", "--config-file", file])) as { steps: PreviewStep[] };
  return steps
    .filter(({ op }) => op !== "same")
    .map(({ op, urn, detailedDiff = {} }) => {
      const [type, name] = urn.split("::").slice(-2);
      return [
        op,
        `${type?.split("$").at(-1)}::${name}`,
        ...(op === "create" ? [] : Object.keys(detailedDiff).sort()),
      ].join(" ");
    })
    .sort();
}

describe("running it again", () => {
  test("a second pulumi up changes nothing", async () => {
    expectUnchanged(await tryPulumi(["up", "--yes", "--skip-preview", "--expect-no-changes"]));
  });

  test("pulumi refresh finds no drift", async () => {
    expectUnchanged(await tryPulumi(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]));
  });
});

describe("a changed value gives exactly the expected diff", () => {
  test("most nodes: the node group's limit and nothing else", async () => {
    expect(await changes({ nodeMax: 3 })).toEqual([
      expect.stringMatching(/^update aws:eks\/nodeGroup:NodeGroup::\S+ scalingConfig\.maxSize$/),
    ]);
  });

  test("node count: nothing, as it is an autoscaler's once there is a group", async () => {
    expect(await changes({ nodeDesired: 2 })).toEqual([]);
  });

  test("log retention: the log group and nothing else", async () => {
    expect(await changes({ logRetentionDays: 7 })).toEqual([
      expect.stringMatching(/^update aws:cloudwatch\/logGroup:LogGroup::\S+ retentionInDays$/),
    ]);
  });

  test("a chart value: the releases that have it, and only that value", async () => {
    const release = "update kubernetes:helm.sh/v3:Release";
    const args = ["args[0]", "args[1]", "args[2]"].map((path) => `values.${path}`).join(" ");
    expect(await changes({ controllerLogLevel: "debug" })).toEqual([
      `${release}::crossplane-release ${args}`,
      `${release}::external-secrets-release values.log.level`,
      `${release}::flux-release values.logLevel`,
    ]);
  });

  test("a new generation of a sealing key: its key, certificate and secret are created, the old ones stay", async () => {
    const others = ["dev", "prod", "cluster-amber"].map((scope) => ({ scope, generation: "1", active: true }));
    const generations = [
      ...others,
      { scope: "local", generation: "1", active: false },
      { scope: "local", generation: "2", active: true },
    ];
    expect(await changes({ sealingKeys: generations })).toEqual([
      "create aws:secretsmanager/secret:Secret::sealing-keys-local/2-secret",
      "create aws:secretsmanager/secretVersion:SecretVersion::sealing-keys-local/2-version",
      "create eks-gitops-fleet:index:ManagedSecret::sealing-keys-local/2",
      "create tls:index/privateKey:PrivateKey::sealing-keys-local/2-key",
      "create tls:index/selfSignedCert:SelfSignedCert::sealing-keys-local/2-certificate",
    ]);
  });

  test("a new generation of the Receiver's token: the token, its value and what reads it, and nothing else", async () => {
    const changed = await changes({ gitReceiverGeneration: "2" });
    const of = (step: string) => step.split(" ")[1];
    expect([...new Set(changed.map(of))].sort()).toEqual([
      "aws:secretsmanager/secretVersion:SecretVersion::hub-receiver-version",
      "kubernetes:external-secrets.io/v1:ExternalSecret::git-receiver-token",
      "random:index/randomPassword:RandomPassword::hub-receiver-password",
    ]);
  });

  test("poll interval of Flux: the GitRepository and nothing else", async () => {
    expect(await changes({ gitInterval: "20s" })).toEqual([
      expect.stringMatching(/^update kubernetes:source\.toolkit\.fluxcd\.io\/v1:GitRepository::\S+ spec\.interval$/),
    ]);
  });
});

describe("what was removed behind Pulumi's back", () => {
  const logGroupName = `/aws/eks/${clusterName}/cluster`;
  const logGroups = async () =>
    (await account.cloudwatchlogs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: logGroupName }))).logGroups ??
    [];

  test("is found by refresh and made again by up", async () => {
    await account.cloudwatchlogs.send(new DeleteLogGroupCommand({ logGroupName }));
    await kubectl(["delete", "secret", "cluster-hub", "--namespace", "flux-system"]);
    const refresh = await pulumi(["refresh", "--yes", "--skip-preview"]);
    expect(refresh).toMatch(/aws:cloudwatch:LogGroup \S+ deleted/);
    expect(refresh).toMatch(/kubernetes:core\/v1:Secret \S+ deleted/);
    expect(refresh).toMatch(/- 2 deleted/);
    const up = await pulumi(["up", "--yes", "--skip-preview"]);
    expect(up).toMatch(/\+ 2 created/);
    expect(await logGroups()).toHaveLength(1);
    expect(await kubectl(["get", "secret", "cluster-hub", "--namespace", "flux-system", "--output", "name"])).toBe(
      "secret/cluster-hub\n",
    );
    expect((await tryPulumi(["up", "--yes", "--skip-preview", "--expect-no-changes"])).code).toBe(0);
  });
});

test("the state is of files that are each written in one go, so that Pulumi can be killed at any moment", () => {
  const files = readdirSync(join(pulumiPaths(instance.dir).backend, ".pulumi"), { recursive: true, encoding: "utf8" });
  expect(files).toContain("stacks/eks-gitops-fleet/local.json");
  expect(files.filter((file) => file.endsWith(".attrs"))).toEqual([]);
});

test("the outputs are what people need next", () => {
  expect(bridge.cluster_name).toBe("hub");
  expect(Object.keys(activeSealingKeys).length).toBeGreaterThan(0);
});
