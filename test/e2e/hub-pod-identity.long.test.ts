import { ListPodIdentityAssociationsCommand } from "@aws-sdk/client-eks";
import { GetRoleCommand } from "@aws-sdk/client-iam";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isReady } from "../support/cluster.ts";
import { account, eventually, get, kubectl, secretData, upWith } from "./support/fleet.ts";
import { HUB } from "./support/hub.ts";
import type { Editable } from "./support/repository.ts";
import { BOOTSTRAP_SECONDS, sharedSpoke, spoke, untilReady } from "./support/spokes.ts";

/** The hub's own pods with EKS Pod Identity; docs/guides/add-ons.md#eks-pod-identity, step by step. The spoke's pods keep IRSA. */

const SPOKE = "blue";
/** The pods of the hub that act in AWS, by the role that they have. */
const controllers = {
  "crossplane-ec2": ["crossplane-system", "provider-aws-ec2"],
  "crossplane-eks": ["crossplane-system", "provider-aws-eks"],
  "crossplane-iam": ["crossplane-system", "provider-aws-iam"],
  "crossplane-kms": ["crossplane-system", "provider-aws-kms"],
  "crossplane-logs": ["crossplane-system", "provider-aws-cloudwatchlogs"],
  "helm-controller": ["flux-system", "helm-controller"],
  "kustomize-controller": ["flux-system", "kustomize-controller"],
} as const;

type Choice = "irsa" | "pod-identity";
const choose = (hubWorkloadIdentity: Choice) => upWith((config) => ({ ...config, hubWorkloadIdentity }));

/** The services and OIDC providers that a role of the hub trusts, in AWS. */
async function trusted(role: string): Promise<string[]> {
  const { Role } = await account.iam.send(new GetRoleCommand({ RoleName: `${HUB}-${role}` }));
  const { Statement } = JSON.parse(decodeURIComponent(Role?.AssumeRolePolicyDocument ?? ""));
  return Statement.flatMap(({ Principal }: Editable) => Object.keys(Principal));
}

/** The service accounts of the hub with an association, in AWS. */
async function associated(): Promise<string[]> {
  const { associations = [] } = await account.eks.send(new ListPodIdentityAssociationsCommand({ clusterName: HUB }));
  return associations.map(({ namespace, serviceAccount }) => `${namespace}/${serviceAccount}`).sort();
}

/** Waits until all pods of the controllers are those that find their credentials by this variable. */
const untilPodsHave = (variable: string) =>
  eventually(BOOTSTRAP_SECONDS, async () => {
    for (const [namespace, serviceAccount] of Object.values(controllers)) {
      const { items } = await get(["pods", "--namespace", namespace]);
      const own = (items as Editable[]).filter(({ spec }) => spec.serviceAccountName === serviceAccount);
      expect(own.length).toBeGreaterThan(0);
      for (const { metadata, spec } of own)
        expect([
          metadata.name,
          ...(spec.containers[0].env ?? [])
            .map(({ name }: Editable) => name)
            .filter((name: string) => /^AWS_(CONTAINER_CREDENTIALS_FULL_URI|WEB_IDENTITY_TOKEN_FILE)$/.test(name)),
        ]).toEqual([metadata.name, variable]);
    }
  });

const logGroup = (name: string) => ({
  apiVersion: "cloudwatchlogs.aws.m.upbound.io/v1beta1",
  kind: "Group",
  metadata: {
    name,
    namespace: "spokes",
    annotations: { "crossplane.io/external-name": `/aws/eks/fleet-spoke-${name}/cluster` },
  },
  spec: {
    forProvider: { region: "us-east-1", retentionInDays: 1 },
    providerConfigRef: { kind: "ClusterProviderConfig", name: "default" },
  },
});

/** That Crossplane makes something in AWS, and removes it again. */
async function makesAndRemoves(name: string): Promise<void> {
  const group = ["group.cloudwatchlogs.aws.m.upbound.io", name, "--namespace", "spokes"];
  await kubectl(["apply", "--filename", "-"], { input: JSON.stringify(logGroup(name)) });
  await eventually(300, async () => expect(isReady(await get(group))).toBe(true));
  await kubectl(["delete", ...group, "--timeout", "300s"]);
}

/** That Flux goes by its role to the spoke, now. */
async function reachesSpoke(): Promise<void> {
  const steps = (await get(["kustomizations", "--all-namespaces"])).items as Editable[];
  const onSpoke = steps.find(({ metadata, spec }) => spec.kubeConfig !== undefined && metadata.name.startsWith(SPOKE));
  const step = ["kustomization", String(onSpoke?.metadata.name), "--namespace", String(onSpoke?.metadata.namespace)];
  const asked = String(Date.now());
  await kubectl(["annotate", ...step, "--overwrite", `reconcile.fluxcd.io/requestedAt=${asked}`]);
  await eventually(300, async () => {
    const found = await get(step);
    expect([found.status.lastHandledReconcileAt, isReady(found)]).toEqual([asked, true]);
  });
}

const nodeNames = async () => (await get(["nodes"])).items.map(({ metadata }: Editable) => metadata.name).sort();

beforeAll(() => sharedSpoke(SPOKE, "dev"));
afterAll(() => upWith((config) => config));

describe("a hub that runs with IRSA", { timeout: 1_800_000 }, () => {
  test("goes over to EKS Pod Identity by pulumi up: the same nodes, roles that trust both, and pods that start anew with their association", async () => {
    await untilPodsHave("AWS_WEB_IDENTITY_TOKEN_FILE");
    const nodes = await nodeNames();
    const { uid } = (await spoke(SPOKE)).metadata;
    await choose("pod-identity");
    expect(await associated()).toEqual(Object.values(controllers).map((subject) => subject.join("/")));
    for (const role of Object.keys(controllers)) expect(await trusted(role)).toEqual(["Service", "Federated"]);
    expect(await trusted("external-secrets")).toEqual(["Federated"]);
    await untilPodsHave("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    expect(await secretData("flux-system", "cluster-hub")).toMatchObject({ aws_identity_source: "PodIdentity" });
    expect(await nodeNames()).toEqual(nodes);
    expect((await spoke(SPOKE)).metadata.uid).toBe(uid);
  });

  test("goes on: Crossplane makes and removes, Flux reaches the spoke, and External Secrets reads by IRSA", async () => {
    await eventually(300, async () => {
      const { spec } = await get(["clusterproviderconfig.aws.m.upbound.io", "default"]);
      expect(spec.credentials.source).toBe("PodIdentity");
    });
    await makesAndRemoves("by-pods");
    await reachesSpoke();
    const { items } = await get(["externalsecrets", "--namespace", "flux-system"]);
    expect(items.length).toBeGreaterThan(0);
    for (const each of items as Editable[])
      expect([each.metadata.name, isReady(each)]).toEqual([each.metadata.name, true]);
    await untilReady(SPOKE);
  });
});

describe("a hub with EKS Pod Identity", { timeout: 1_800_000 }, () => {
  test("goes back by pulumi up and a restart of its pods, and goes on", async () => {
    await choose("irsa");
    expect(await associated()).toEqual([]);
    for (const role of Object.keys(controllers)) expect(await trusted(role)).toEqual(["Federated"]);
    await kubectl([
      "--namespace",
      "flux-system",
      "delete",
      "pods",
      "--selector",
      "app in (kustomize-controller, helm-controller)",
    ]);
    await kubectl(["--namespace", "crossplane-system", "delete", "pods", "--selector", "pkg.crossplane.io/provider"]);
    await untilPodsHave("AWS_WEB_IDENTITY_TOKEN_FILE");
    await eventually(BOOTSTRAP_SECONDS, async () => {
      const { spec } = await get(["clusterproviderconfig.aws.m.upbound.io", "default"]);
      expect(spec.credentials.source).toBe("IRSA");
    });
    await makesAndRemoves("by-irsa");
    await reachesSpoke();
    await untilReady(SPOKE);
  });
});
