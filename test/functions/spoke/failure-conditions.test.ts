import { describe, expect, it } from "vitest";
import { lookAgainAnnotation } from "../../../lib/labels.ts";
import { hub, nodeGroup, settings, spoke } from "./support/fixtures.ts";
import { failing, running, World } from "./support/world.ts";

describe("a failure", () => {
  it.each([
    [
      "cluster",
      "AccessDeniedException: User is not authorized to perform: eks:CreateCluster",
      "ControlPlaneReady",
      "AccessDenied",
    ],
    [
      "vpc",
      "creating EC2 VPC: VpcLimitExceeded: The maximum number of VPCs has been reached.",
      "NetworkReady",
      "QuotaExceeded",
    ],
    [nodeGroup, "MaxSpotInstanceCountExceeded: Max spot instance count exceeded", "NodesReady", "QuotaExceeded"],
    [nodeGroup, "InvalidParameterException: Instance type m9.large is not supported", "NodesReady", "InvalidNodes"],
    [nodeGroup, "InsufficientInstanceCapacity: no capacity in us-east-1a", "NodesReady", "CapacityUnavailable"],
    [
      nodeGroup,
      "VersionUpdate 1 ended as Failed: PodEvictionFailure: Reached max retries while trying to evict pods from nodes in node group a",
      "NodesReady",
      "PodsNotEvicted",
    ],
    [
      "vpc",
      "cannot determine creation result - remove the crossplane.io/external-create-pending annotation if it is safe to proceed",
      "NetworkReady",
      "CreationInterrupted",
    ],
    [
      "vpc",
      "delete failed: InvalidDBSubnetGroupStateFault: Cannot delete the subnet group 'x' because at least one database instance: y is still using it.",
      "NetworkReady",
      "DatabasesLeft",
    ],
    ...[
      "what depends on it; Kustomization rds-subnets",
      "the group of the subnets that databases are in; SubnetGroup databases",
    ].map((what) => [
      "vpc",
      `Kustomization rds-instances is removed after ${what} still exists`,
      "NetworkReady",
      "DatabasesLeft",
    ]),
    ["subnet-public-0", "UnsupportedAvailabilityZoneException: us-east-1e", "NetworkReady", "InvalidZone"],
    ["addon-coredns", "something unheard of", "AddonsReady", "Failed"],
    ["vpc", "cannot get credentials: AssumeRole failed", "NetworkReady", "NoCredentials"],
    [
      "access-entry-helm-controller",
      "The specified principalArn is invalid: invalid principal",
      "IdentitiesReady",
      "InvalidPrincipal",
    ],
  ])("of %s (%s) becomes a condition with a reason, which goes when it is fixed", (key, message, type, reason) => {
    const world = new World(spoke());
    world.report(key, failing(message)).settle();
    expect(world.condition(type)).toMatchObject({ status: "False", reason });
    expect(world.condition(type)?.message).toContain(message.split(":")[0]);
    expect(world.answer).toMatchObject({ ready: false, status: { phase: "Failing" } });
    expect(world.spoke.status?.message).toBe(world.condition(type)?.message);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
  });

  it.each([
    [
      "oidc-provider",
      "IdentitiesReady",
      "AccessDenied",
      "AccessDenied: User: arn:aws:sts::000000000000:assumed-role/a/b is not authorized to perform: iam:CreateOpenIDConnectProvider on resource: x",
    ],
    [
      "subnet-public-0",
      "NetworkReady",
      "AlreadyExists",
      "creating EC2 Subnet: operation error EC2: CreateSubnet, https response error StatusCode: 400, RequestID: 1-2, api error InvalidSubnet.Conflict: The CIDR '10.0.0.0/20' conflicts with another subnet",
    ],
    [
      "association-public-0",
      "NetworkReady",
      "AlreadyExists",
      "creating Route Table (rtb-1) Association: api error Resource.AlreadyAssociated: the specified association for route table rtb-1 conflicts with an existing association",
    ],
    [
      "route-public",
      "NetworkReady",
      "AlreadyExists",
      "creating Route in Route Table (rtb-1) with destination (0.0.0.0/0): api error RouteAlreadyExists: The route identified by 0.0.0.0/0 already exists.",
    ],
    [
      "nat-0",
      "NetworkReady",
      "AlreadyExists",
      "waiting for EC2 NAT Gateway (nat-2) create: unexpected state 'failed', wanted target 'available'. last error: Resource.AlreadyAssociated: Elastic IP address [eipalloc-1] is already associated",
    ],
    [
      "api-from-10-8-0-0-16",
      "ControlPlaneReady",
      "AlreadyExists",
      'creating VPC Security Group Rule: api error InvalidPermission.Duplicate: the specified rule "peer: 10.8.0.0/16, TCP, from port: 443, to port: 443, ALLOW" already exists',
    ],
    [
      "pod-identity-provider-aws-iam",
      "IdentitiesReady",
      "AlreadyExists",
      "creating Amazon EKS (Elastic Kubernetes) Pod Identity Association: operation error EKS: CreatePodIdentityAssociation, https response error StatusCode: 409, RequestID: 1-2, ResourceInUseException: Association already exists: a-0123456789abcdefg",
    ],
  ])("to make %s once more names the command that takes over the first", (key, type, reason, refusal) => {
    const asked = spoke({ endpoint: { ...spoke().spec.endpoint, privateAccessCidrs: ["10.8.0.0/16"] } });
    const world = new World(asked, { settings: settings({ workloadIdentity: "pod-identity" }) });
    world.report(key, failing(`async create failed: failed to create the resource: [{0 ${refusal}  []}]`)).settle();
    expect(world.condition(type)).toMatchObject({ status: "False", reason });
    expect(world.condition(type)?.message).toContain("fleet recover <name>");
  });

  it("of AWS to make a NAT gateway is told although Crossplane calls it Ready, and nothing is routed through it", () => {
    const world = new World(spoke());
    const asked = () => world.object("nat-0").metadata.annotations?.[lookAgainAnnotation];
    // As the provider reports it once it has forgotten the failure, or was killed while AWS made it.
    world.report("nat-0", (status) => ({
      ...status,
      atProvider: { id: "nat-2", allocationId: "eipalloc-nat-0", connectivityType: "public" },
    }));
    world.settle();
    expect(world.condition("NetworkReady")).toMatchObject({ status: "False", reason: "CreationFailed" });
    expect(world.condition("NetworkReady")?.message).toContain("fleet recover <name>");
    expect([...world.live.keys()].filter((key) => key.startsWith("route-private"))).toEqual([]);
    expect(asked()).toBe(new Date(Math.floor(world.now / 30_000) * 30_000).toISOString());
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(asked()).toBeUndefined();
  });

  it("is none of a NAT gateway without a way to the internet, which has no address", () => {
    const world = new World(spoke());
    world.report("nat-0", (status) => ({ ...status, atProvider: { id: "nat-2", connectivityType: "private" } }));
    expect(world.settle().ready).toBe(true);
  });

  it("to reach a private endpoint names the networks that have to be connected", () => {
    const message = "failed to create client: Get https://10.64.0.9/api: dial tcp 10.64.0.9:443: i/o timeout";
    const closed = { public: false, publicAccessCidrs: [], privateAccessCidrs: [] };
    const world = new World(spoke({ endpoint: closed }));
    world.report("bootstrap", failing(message)).settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "NetworksNotConnected" });
    for (const part of [
      hub.aws.vpcId,
      hub.aws.vpcCidr,
      world.spoke.status?.network?.vpcId,
      world.spoke.status?.network?.cidr,
      "i/o timeout",
    ])
      expect(world.condition("Bootstrapped")?.message).toContain(part);
    const open = new World(spoke());
    open.reports.set("bootstrap", failing(message));
    open.settle();
    expect(open.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "SpokeUnreachable" });
  });

  it("of an update does not take the spoke down, and is reported", () => {
    const world = running(spoke());
    world.change({ nodes: { ...world.spoke.spec.nodes, max: 450 } });
    world.report(nodeGroup, failing("InvalidParameterException: instance type m9.large", true)).settle();
    expect(world.condition("NodesReady")).toMatchObject({ status: "False", reason: "InvalidNodes" });
    expect(world.removed).toEqual([]);
  });

  it("of an asynchronous operation is reported too", () => {
    const world = new World(spoke());
    world.report("cluster", () => ({
      conditions: [
        { type: "Synced", status: "True" },
        {
          type: "LastAsyncOperation",
          status: "False",
          reason: "AsyncCreateFailure",
          message: "unsupported Kubernetes version 1.35",
        },
      ],
    }));
    world.settle();
    expect(world.condition("ControlPlaneReady")).toMatchObject({ status: "False", reason: "InvalidVersion" });
  });

  it("of the chain is reported with the message of the object that fails, not of those that wait for it", () => {
    const world = new World(spoke());
    world.report("bootstrap", () => ({
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "Unknown", reason: "Progressing", message: "Running health checks" }],
    }));
    const step = (name: string, reason: string, message: string) => ({
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      metadata: { name },
      status: { conditions: [{ type: "Ready", status: "False", reason, message }] },
    });
    world.chain = [
      step("blue-bootstrap", "Progressing", "Running health checks"),
      step("blue-secrets", "ReconciliationFailed", "SealedSecret: no key could decrypt secret (flux-system)"),
      step("blue-flux", "DependencyNotReady", "dependency 'spokes/blue-secrets' is not ready"),
    ];
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "WrongSealingKey" });
    expect(world.condition("Bootstrapped")?.message).toContain("Kustomization blue-secrets: SealedSecret: no key");
    expect(world.condition("Bootstrapped")?.message).not.toContain("blue-flux");
  });

  it("of the chain is still reported while Flux tries the same commit again, and goes with the next one", () => {
    const world = new World(spoke());
    world.report("bootstrap", () => ({
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "Unknown", reason: "Progressing", message: "Running health checks" }],
    }));
    const step = (ready: object, attempted: string) => ({
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      metadata: { name: "blue-secrets" },
      status: {
        conditions: [{ type: "Ready", ...ready }],
        lastAttemptedRevision: attempted,
        history: [{ lastReconciledStatus: "HealthCheckFailed", metadata: { revision: "main@sha1:a" } }],
      },
    });
    const again = { status: "Unknown", reason: "Progressing", message: "Reconciliation in progress" };
    const message = "SealedSecret: no key could decrypt secret (flux-system)";
    world.chain = [step({ status: "False", reason: "HealthCheckFailed", message }, "main@sha1:a")];
    world.settle();
    world.chain = [step(again, "main@sha1:a")];
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "WrongSealingKey" });
    world.chain = [step(again, "main@sha1:b")];
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "InProgress" });
  });

  it("is not reported because of a commit that comes while Flux still works on the last one", () => {
    const world = new World(spoke());
    const message = "New reconciliation triggered by GitRepository/flux-system/gitops-system";
    world.report("bootstrap", () => ({
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "False", reason: "HealthCheckCanceled", message }],
    }));
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "InProgress" });
  });

  it("is not reported while Flux applies the next commit to a chain that worked: the Spoke stays Ready until a step fails", () => {
    const world = new World(spoke());
    const progressing = { status: "Unknown", reason: "Progressing", message: "Reconciliation in progress" };
    const canceled = { status: "False", reason: "HealthCheckCanceled", message: "New reconciliation triggered" };
    const during = (lastReconciledStatus: string, ready: object) => () => ({
      observedGeneration: 1,
      conditions: [{ type: "Ready", ...ready }],
      history: [{ lastReconciledStatus, metadata: { revision: "main@sha1:a" } }],
    });
    for (const ready of [progressing, canceled]) {
      world.report("bootstrap", during("HealthCheckFailed", ready)).settle();
      expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "InProgress" });
      world.report("bootstrap", during("ReconciliationSucceeded", ready)).settle();
      expect(world.answer).toMatchObject({ ready: true, ttl: 15 });
    }
    const message = "SealedSecret: no key could decrypt secret (flux-system)";
    world.chain = [
      {
        apiVersion: "kustomize.toolkit.fluxcd.io/v1",
        kind: "Kustomization",
        metadata: { name: "blue-secrets" },
        status: { conditions: [{ type: "Ready", status: "False", reason: "HealthCheckFailed", message }] },
      },
    ];
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "WrongSealingKey" });
    expect(world.answer?.ready).toBe(false);
  });

  it("of many resources is reported in a short message that stays the same at every attempt", () => {
    const world = new World(spoke());
    const keys = ["vpc", "key", "logs", "role-cluster", "role-node", "launch-template"];
    let attempt = 0;
    for (const key of keys) {
      world.report(key, () => {
        attempt += 1;
        return failing(
          `operation error, https response error StatusCode: 400, RequestID: 0000-${attempt}, api error Throttling: Rate exceeded`,
        )({});
      });
    }
    world.settle();
    const { message } = world.condition("ControlPlaneReady") ?? {};
    expect(message).toContain("api error Throttling: Rate exceeded");
    expect(message).not.toContain("0000-");
    expect(message?.length).toBeLessThan(1000);
  });
});
