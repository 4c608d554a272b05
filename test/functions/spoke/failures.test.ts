import { join } from "node:path";
import { expect, test } from "vitest";
import { failureOf, tidy } from "../../../functions/spoke/failures.ts";
import { documents } from "../../repos/support/kustomize.ts";
import { system } from "../../repos/support/spoke.ts";

const step = (message: string) =>
  failureOf({
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name: "blue-step" },
    status: { conditions: [{ type: "Ready", status: "False", reason: "HealthCheckFailed", message }] },
  });

const failed = (object: string) =>
  `health check failed after 5s: failed early due to stalled resources: [${object} status: 'Failed']`;

test.for([
  [failed("ExternalSecret/sealed-secrets/sealing-key-1"), "SealingKeyUnreadable", "spoke-bootstrap/sealing-keys"],
  [failed("SecretStore/sealed-secrets/aws-secrets-manager"), "SealingKeyUnreadable", "activeSealingKeys"],
  [failed("ExternalSecret/sealed-secrets/sealing-key-cluster-blue-1"), "SealingKeyUnreadable", "run pulumi up"],
  [
    "kustomization path not found: stat /tmp/x/spokes/fleet/blue/sealing-keys: no such file or directory",
    "MissingInGit",
    "fleet sealing-keys",
  ],
  // Of two timeouts of 30 s, the connection's and the request's, either may end an attempt.
  [
    'Namespace/flux-system dry-run failed: failed to get server groups: Get "https://10.1.2.3/api?timeout=30s": dial tcp 10.1.2.3:443: i/o timeout',
    "SpokeUnreachable",
    "does not reach",
  ],
  [
    'Namespace/flux-system dry-run failed: failed to get server groups: Get "https://10.1.2.3/api?timeout=30s": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)',
    "SpokeUnreachable",
    "does not reach",
  ],
  [failed("SealedSecret/flux-system/gitops-system"), "WrongSealingKey", "kubeseal --cert"],
  [failed("GitRepository/flux-system/gitops-workloads"), "GitUnreachable", "known_hosts"],
  // Flux never calls a source failed that could not be fetched once.
  [
    "health check failed after 2m0s: timeout waiting for: [GitRepository/flux-system/gitops-system status: 'InProgress']",
    "GitUnreachable",
    "known_hosts",
  ],
  [failed("Receiver/flux-system/git-receiver"), "ReceiverNotReady", "fleet reseal"],
  [
    "health check failed after 2m0s: timeout waiting for: [Receiver/flux-system/git-receiver status: 'InProgress']",
    "ReceiverNotReady",
    "fleet reseal",
  ],
  [
    "health check failed after 2m0s: timeout waiting for: [GitRepository/flux-system/gitops-system status: 'InProgress', Receiver/flux-system/git-receiver status: 'InProgress']",
    "GitUnreachable",
    "known_hosts",
  ],
  [
    "kustomization path not found: stat /tmp/x/spokes/fleet/blue/secrets: no such file or directory",
    "MissingInGit",
    "templates/spoke",
  ],
] as const)("a step of the chain that fails says what to do: %s", ([message, reason, remedy]) => {
  expect(step(message)).toMatchObject({ reason, remedy: expect.stringContaining(remedy) });
});

test.for([
  "signature verification of commit '0a1b' failed: unsupported signature type: empty",
  "signature verification of commit '0a1b' failed: unable to verify payload with any of the given authorized keys: no matching key",
  'public keys secret error: secrets "gitops-workloads-signers" not found',
])("a source whose newest commit nobody signed who may says whom to ask: %s", (message) => {
  const failure = failureOf({
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "GitRepository",
    metadata: { name: "gitops-workloads" },
    status: { conditions: [{ type: "Ready", status: "False", reason: "InvalidCommitSignature", message }] },
  });
  expect(failure).toMatchObject({
    reason: "CommitNotVerified",
    message: expect.stringContaining(message),
    remedy: expect.stringContaining("gitVerification"),
  });
});

test("pods that do not leave a node are not put down to budgets alone, nor are nodes said to have stayed that may be new ones", () => {
  const remedy = step(
    "PodEvictionFailure: Reached max retries while trying to evict pods from nodes in node group a",
  )?.remedy;
  for (const cause of ["poddisruptionbudgets", "no second budget", "tolerate every taint", "take longer to end"])
    expect(remedy).toContain(cause);
  expect(remedy).toContain("Nodes that were replaced before stay replaced");
});

test("a region that an account has not enabled is told before the role, which is not the cause", () => {
  const message =
    "cannot initialize the Terraform plugin: failed to retrieve credentials: operation error STS: AssumeRole, https response error StatusCode: 403, " +
    "RegionDisabledException: STS is not activated in this region for account:111122223333";
  expect(step(message)).toMatchObject({
    reason: "RegionDisabled",
    remedy: expect.stringContaining("in the hub's account and in the spoke's"),
  });
});

test("a kubeconfig that its provider may not write is explained by the file in Git that permits it", () => {
  const message = "cannot get object: Timeout: failed waiting for *v1.Secret Informer to sync";
  expect(step(message)).toMatchObject({
    reason: "SecretsForbidden",
    remedy: expect.stringContaining("kubeconfig-permissions.yaml"),
  });
  const file = join(system, "platform", "crossplane", "packages", "kubeconfig-permissions.yaml");
  expect(documents(file)).toMatchObject([{ kind: "ClusterRole", rules: [] }]);
});

test("a release whose chart Flux has not looked at yet has not failed; one whose chart can't be fetched has", () => {
  const release = (message: string) =>
    failureOf({
      apiVersion: "helm.toolkit.fluxcd.io/v2",
      kind: "HelmRelease",
      metadata: { name: "blue-flux" },
      status: { conditions: [{ type: "Ready", status: "False", reason: "SourceNotReady", message }] },
    });
  const chart = "HelmChart 'spokes/spokes-blue-flux' is not ready: ";
  expect(release(`${chart}latest generation of object has not been reconciled`)).toBeUndefined();
  expect(release(`${chart}no 'flux2' chart with version matching '9.9.9' found`)?.message).toContain(
    "matching '9.9.9'",
  );
});

test("a message is the same at every attempt: without request ids, times, authorization blobs and line breaks", () => {
  const first =
    "operation error EKS: CreateCluster, https response error StatusCode: 403, RequestID: 0f1e-2d, api error " +
    "AccessDeniedException: no\n  at 2026-11-22T14:00:00.123Z. Encoded authorization failure message: AbC-_9\n";
  expect(tidy(first)).toBe(
    "operation error EKS: CreateCluster, https response error StatusCode: 403, api error AccessDeniedException: no at .",
  );
  expect(tidy(first.replace("0f1e-2d", "9999").replace("14:00:00.123", "15:01:02.9").replace("AbC-_9", "Z"))).toBe(
    tidy(first),
  );
});

test("a message is at most 1000 characters, and shows where it was cut", () => {
  expect(tidy("x".repeat(1000))).toBe("x".repeat(1000));
  expect(tidy("x".repeat(1001))).toBe(`${"x".repeat(999)}…`);
});

test("nodes that didn't join in an update don't make anyone delete the node group, whose other nodes work", () => {
  const update = step("update failed: VersionUpdate 1 ended as Failed: NodeCreationFailure: Instances failed to join");
  expect(update).toMatchObject({ reason: "NodesNotJoined", remedy: expect.stringContaining("retries the update") });
  expect(update?.remedy).not.toContain("delete");
});

test.for([
  "VcpuLimitExceeded - You have requested more vCPU capacity",
  "MaxSpotInstanceCountExceeded - Max spot instance count exceeded",
])("a node group that EKS failed to create with %s needs a higher quota, and is then deleted", (said) => {
  const failed = step(
    `AWS reports the status CREATE_FAILED: eks-a: AsgInstanceLaunchFailures: Could not launch Instances. ${said}`,
  );
  expect(failed).toMatchObject({
    reason: "QuotaExceeded",
    remedy: expect.stringMatching(/fleet doctor.*delete nodegroups/),
  });
});

test.for([
  ["NodeGroup", "CREATE_FAILED", "CreationFailed", "aws eks delete-nodegroup"],
  ["Cluster", "FAILED", "CreationFailed", "describe-cluster"],
  ["NodeGroup", "DEGRADED", "Degraded", "health"],
] as const)(
  "a %s that AWS reports as %s is a failure, although Crossplane calls it Ready",
  ([kind, status, reason, remedy]) => {
    const object = {
      apiVersion: "eks.aws.m.upbound.io/v1beta1",
      kind,
      metadata: { name: "blue" },
      status: { conditions: [{ type: "Ready", status: "True", reason: "Available" }], atProvider: { status } },
    };
    expect(failureOf(object)).toMatchObject({ reason, message: `${kind} blue: AWS reports the status ${status}` });
    expect(failureOf(object)?.remedy).toContain(remedy);
  },
);
