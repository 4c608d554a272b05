import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import type { Api } from "../../../cli/kubernetes/api.ts";
import { UsageError } from "../../../cli/usage.ts";
import { run } from "../../../cli/why/command.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { fleetOf, flux, no, serving } from "../list/support.ts";
import { rejectsLines } from "../support/wrong-lines.ts";
import { container, failing, hubOf, pod, shop, tools, warning, workloads } from "./support.ts";

let written: string;
beforeEach(() => {
  written = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    written += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

const healthy = [tools, workloads, shop()];

async function why(
  name: string,
  {
    hub = hubOf(),
    blue = healthy,
    log = "",
    refuses,
    output = "text",
  }: { hub?: KubeObject[]; blue?: KubeObject[] | undefined; log?: string; refuses?: string; output?: string } = {},
) {
  const readLog = async () => {
    if (refuses !== undefined) throw new Error(refuses);
    return log;
  };
  const api: Api = { ...serving(blue), log: readLog };
  const code = await run([name, "-o", output], { connect: async () => fleetOf(hub, { blue: api }) });
  return { code, written };
}

const late = failing("health check failed: Deployment/shop/shop status: 'InProgress'", "HealthCheckFailed");

test("nothing hinders a spoke that is Ready with its applications", async () => {
  expect(await why("blue")).toEqual({
    code: 0,
    written: "Spoke blue is Ready (Ready): the spoke runs\nNothing hinders it, or its applications.\n",
  });
});

test("JSON and YAML have the Spoke and each way down to what hinders", async () => {
  const blue = [tools, workloads, shop(late), pod("shop-1", container("web", "ImagePullBackOff", "Back-off"))];
  expect((await why("blue", { blue, output: "json" })).code).toBe(1);
  const found = JSON.parse(written);
  expect(found).toMatchObject({ spoke: "blue", isReady: true, phase: "Ready", message: "the spoke runs" });
  expect(found.hindrances).toHaveLength(1);
  expect(found.hindrances[0].steps.at(-1)).toMatchObject({ side: "spoke", object: "Pod shop/shop-1" });
  expect(found.hindrances[0].remedy).toContain("correct the image");
  written = "";
  await why("blue", { blue, output: "yaml" });
  expect(parse(written)).toEqual(found);
});

describe("where the newest commit is not signed by one of those who may", () => {
  const unsigned = "signature verification of commit '0a1b' failed: unsupported signature type: empty";
  const source = (name: string) => ({
    ...flux("GitRepository", "flux-system", name, failing(unsigned, "InvalidCommitSignature")),
    apiVersion: "source.toolkit.fluxcd.io/v1",
  });
  const folder = flux("Kustomization", "flux-system", "spoke-blue", {
    spec: { sourceRef: { kind: "ExternalArtifact", name: "spoke-blue" } },
  });

  test("the hub's source says so, though what is cut from it is as it was", async () => {
    expect(await why("blue", { hub: hubOf([folder, source("gitops-system")]) })).toEqual({
      code: 1,
      written: expect.stringContaining(`1. hub: GitRepository flux-system/gitops-system: ${unsigned}\n   do: `),
    });
    expect(written).toContain("gitVerification");
    expect(written).toContain("See docs/guides/signatures.md");
  });

  test("a source of the hub that nothing of the spoke comes from is none of its business", async () => {
    expect((await why("blue", { hub: hubOf([folder, source("cluster-api")]) })).code).toBe(0);
  });

  test("the spoke's own source says so", async () => {
    const { code } = await why("blue", { blue: [...healthy, source("gitops-workloads")] });
    expect(code).toBe(1);
    expect(written).toContain(`spoke: GitRepository flux-system/gitops-workloads: ${unsigned}`);
  });
});

describe("of an application", () => {
  test("the way leads from the chain to the pod, with its events and what to do", async () => {
    const blue = [
      ...[tools, workloads, shop(late)],
      pod("shop-1", container("web", "ImagePullBackOff", 'Back-off pulling image "shop:nope"')),
      warning("Pod", "shop", "shop-1", "Failed", "Failed to pull image: not found"),
      warning("Pod", "shop", "other", "Failed", "of no interest"),
    ];
    expect(await why("blue", { blue })).toEqual({
      code: 1,
      written: `\
Spoke blue is Ready (Ready): the spoke runs

1. hub: Kustomization spokes/blue-bootstrap
     hub: Kustomization spokes/blue-workloads
       spoke: Kustomization flux-system/workloads
         spoke: Kustomization shop/shop: health check failed: Deployment/shop/shop status: 'InProgress'
           spoke: Pod shop/shop-1: container web: ImagePullBackOff: Back-off pulling image "shop:nope"
             event Failed: Failed to pull image: not found
   do: correct the image's name or tag; for a registry that asks for credentials see docs/guides/mirrors.md
`,
    });
  });

  test("a container that ends again and again shows the end of its log, and no credential in it", async () => {
    const ended = { exitCode: 1, reason: "Error" };
    const blue = [tools, workloads, shop(late), pod("shop-1", container("web", "CrashLoopBackOff", undefined, ended))];
    const { written } = await why("blue/shop", { blue, log: "starting\nkey AKIAABCDEFGHIJKLMNOP is wrong\n" });
    expect(written).toContain("Pod shop/shop-1: container web: CrashLoopBackOff: it ended with code 1 (Error)");
    expect(written).toContain("log: starting\n");
    expect(written).toContain("log: (a line with an AWS access key ID is left out)");
    expect(written).not.toContain("AKIA");
  });

  test("what it orders in AWS says why AWS refuses it", async () => {
    const table: KubeObject = {
      ...{ apiVersion: "dynamodb.aws.m.upbound.io/v1", kind: "Table", metadata: { name: "orders", namespace: "shop" } },
      status: { conditions: [{ type: "Synced", status: "False", message: "AccessDenied: no" }] },
    };
    const { written } = await why("blue/shop", { blue: [tools, workloads, shop(late), table] });
    expect(written).toContain("spoke: Table shop/orders: AccessDenied: no");
    expect(written).toContain("do: AWS, or the API server, refuses it to the role or service account that acts here");
  });

  test("pods that nobody may make are told by the event of what makes them", async () => {
    const refused = warning("ReplicaSet", "shop", "shop-5d", "FailedCreate", "exceeded quota: quota");
    const { written } = await why("blue/shop", { blue: [tools, workloads, shop(late), refused] });
    expect(written).toContain("spoke: ReplicaSet shop/shop-5d: exceeded quota: quota");
    expect(written).toContain("namespace.yaml of the application's folder");
  });

  test("a rollout whose new pods do not start is found before Flux gives up", async () => {
    const status = {
      conditions: [{ type: "Ready", status: "Unknown", reason: "Progressing", message: "running health checks" }],
      history: [{ lastReconciledStatus: "ReconciliationSucceeded" }],
    };
    const bad = pod("shop-1", container("web", "ErrImagePull", "not found"));
    expect(await why("blue", { blue: [tools, workloads, shop({ status }), bad] })).toMatchObject({ code: 1 });
    written = "";
    expect(await why("blue", { blue: [tools, workloads, shop({ status })] })).toMatchObject({ code: 0 });
  });

  test("what is known is shown, although a log may not be read, and so is why", async () => {
    const blue = [tools, workloads, shop(late), pod("shop-1", container("web", "CrashLoopBackOff", "back-off"))];
    const { code, written } = await why("blue/shop", { blue, refuses: "403 pods/log is forbidden" });
    expect(code).toBe(1);
    expect(written).toContain("spoke: Kustomization shop/shop: health check failed");
    expect(written).toContain("403 pods/log is forbidden");
  });

  test("only that application's hindrances are shown", async () => {
    const other = flux(
      "Kustomization",
      "web",
      "web",
      failing("kustomization path not found: ./nowhere", "ArtifactFailed"),
    );
    const blue = [tools, workloads, shop(), other];
    expect(await why("blue/shop", { blue })).toMatchObject({ code: 0 });
    written = "";
    expect((await why("blue/web", { blue })).written).toContain(
      "do: the folder that its spec.path names is not in its repository",
    );
  });

  test("one that is not there is refused, with those that are", async () => {
    const error = await why("blue/shp").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toMatch(
      /the spoke has no application shp; it has shop\..*pushed just now may not be applied yet: kubectl .*get kustomizations/,
    );
  });
});

describe("of the spoke itself", () => {
  const notReady = { phase: "Failing", message: "it fails", conditions: [no("Unready")] };

  test("what AWS refuses is named with its event and the function's remedy, and what waits for it is not", async () => {
    const labels = { "fleet.internal/cluster": "blue" };
    const network: KubeObject = {
      ...{
        apiVersion: "ec2.aws.m.upbound.io/v1beta1",
        kind: "EIP",
        metadata: { name: "blue-address-0", namespace: "spokes", labels },
      },
      status: { conditions: [{ type: "Synced", status: "False", message: "AddressLimitExceeded: too many" }] },
    };
    const waits: KubeObject = {
      ...{
        apiVersion: "eks.aws.m.upbound.io/v1beta1",
        kind: "NodeGroup",
        metadata: { name: "blue-nodes", namespace: "spokes", labels },
      },
      status: { conditions: [no("", "Creating")] },
    };
    const event = warning("EIP", "spokes", "blue-address-0", "CannotCreateExternalResource", "AddressLimitExceeded");
    const { code, written } = await why("blue", { hub: hubOf([network, waits, event], notReady) });
    expect(code).toBe(1);
    expect(written).toContain("Spoke blue is not Ready (Failing): it fails");
    expect(written).toContain("1. hub: EIP spokes/blue-address-0: AddressLimitExceeded: too many");
    expect(written).toContain("event CannotCreateExternalResource: AddressLimitExceeded");
    expect(written).toContain("do: raise the quota in Service Quotas");
    expect(written).not.toContain("NodeGroup");
  });

  describe("with a node group", () => {
    const annotations = { "crossplane.io/external-create-pending": "2026-01-01T10:00:00Z" };
    const nodes = (status: object, more: object = {}): KubeObject => ({
      ...{ apiVersion: "eks.aws.m.upbound.io/v1beta1", kind: "NodeGroup", status },
      metadata: {
        ...{ name: "blue-nodes", namespace: "spokes", labels: { "fleet.internal/cluster": "blue" } },
        annotations: { ...annotations, ...more },
      },
    });

    test("that AWS is still creating, it prints since when", async () => {
      const creating = nodes({ conditions: [{ type: "Ready", status: "False", reason: "Creating" }] });
      const { code, written } = await why("blue", { hub: hubOf([creating], notReady) });
      expect(code).toBe(1);
      expect(written).toContain("1. hub: NodeGroup spokes/blue-nodes: being created since 2026-01-01T10:00:00Z\n");
    });

    test("that EKS failed to create, it prints the health issue, the instances and what to do", async () => {
      const issue = "i-0a1: NodeCreationFailure: Instances failed to join the kubernetes cluster";
      const failed = nodes(
        { conditions: [{ type: "Ready", status: "True" }], atProvider: { status: "CREATE_FAILED" } },
        { "fleet.internal/creation-failure": issue },
      );
      const { code, written } = await why("blue", { hub: hubOf([failed], notReady) });
      expect(code).toBe(1);
      expect(written).toContain(
        `1. hub: NodeGroup spokes/blue-nodes: AWS reports the status CREATE_FAILED: ${issue}\n   do: EKS launched the instances`,
      );
      expect(written).toContain("kubectl -n spokes delete nodegroups.eks.aws.m.upbound.io <name>");
    });
  });

  test("a refused specification is told by the Spoke's condition", async () => {
    const refused = {
      type: "SpecAccepted",
      status: "False",
      reason: "InvalidVersion",
      message: "1.99 is not supported",
    };
    const hub = hubOf([], { ...notReady, phase: "Refused", conditions: [no("Unready"), refused] });
    expect((await why("blue", { hub })).written).toContain(
      "1. hub: condition SpecAccepted: InvalidVersion: 1.99 is not supported",
    );
  });

  test("one that can't be asked is a finding, beside what the hub knows", async () => {
    const code = await run(["blue"], { connect: async () => fleetOf(hubOf()) });
    expect(code).toBe(1);
    expect(written).toContain("1. spoke: API server of fleet-spoke-blue: connect ECONNREFUSED");
    expect(written).toContain("docs/guides/clusters.md#reach-a-cluster-with-kubectl");
  });

  test("one that does not exist is refused", async () => {
    await expect(why("bleu")).rejects.toThrow("the hub has no spoke bleu; did you mean blue?");
  });
});

rejectsLines("fleet why", {
  "blue/shop/web":
    "<spoke>: names no spoke, or no application | blue/shop/web | <spoke> or <spoke>/<application> | correct it; fleet list shows the spokes",
});
