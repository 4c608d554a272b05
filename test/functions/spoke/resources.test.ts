import { describe, expect, it } from "vitest";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { managedKinds } from "../../../functions/spoke/kinds.ts";
import { at, type KubeObject } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import type { PolicyDocument } from "../../../lib/iam/policy.ts";
import { expectGolden } from "../../support/golden.ts";
import { allowed } from "../../support/iam.ts";
import { example, exampleNames, hub, nodeGroup, settings, spoke } from "./support/fixtures.ts";
import { schemaFolder, unknownToProvider, violations } from "./support/schemas.ts";
import { settled, type World } from "./support/world.ts";

function ready(...args: ConstructorParameters<typeof World>): World {
  const world = settled(...args);
  expect(world.answer?.ready).toBe(true);
  return world;
}

const variants: [string, () => World][] = [
  ...exampleNames.map((name): [string, () => World] => [name, () => ready(example(name))]),
  [
    "minimal, with a connection Secret",
    () => ready(example("minimal"), { settings: settings({ kubeConfig: "secret" }) }),
  ],
  [
    "minimal, with EKS Pod Identity",
    () => ready(example("minimal"), { settings: settings({ workloadIdentity: "pod-identity" }) }),
  ],
];

/** Secrets in words, so that a change of them can be read. */
function readable(manifest: KubeObject): KubeObject {
  return manifest.kind === "Secret" ? { ...manifest, data: fromBase64(manifest.data ?? {}) } : manifest;
}

/** An example under the name, environment and tenant of `minimal`, so that its golden file has only what makes the example. */
const asMinimal = (name: string): Spoke => {
  const { metadata, spec } = example(name);
  return spoke({ ...spec, environment: "dev", tenant: undefined }, "blue", metadata.uid);
};

/** Everything that a Spoke consists of. */
function composed(world: World) {
  const { wanted, status } = world.ask();
  const resources = [...wanted].sort(([a], [b]) => (a < b ? -1 : 1));
  return { status, resources: Object.fromEntries(resources.map(([key, { manifest }]) => [key, readable(manifest)])) };
}

describe("golden renders: exactly these resources and this status, once everything is there", () => {
  const minimal = () => composed(ready(example("minimal")));
  const others = exampleNames.filter((name) => name !== "minimal");

  it("minimal", async () => {
    await expectGolden("golden/minimal.yaml", minimal());
  });

  it.each(others)("%s, as the difference from minimal", async (name) => {
    const ofAnotherAccount = name === "other-account";
    const world = ready(ofAnotherAccount ? example(name) : asMinimal(name));
    await expectGolden(`golden/${name}.diff.yaml`, composed(world), minimal());
  });

  it.each([
    ["connection-secret", { kubeConfig: "secret" }],
    ["pod-identity", { workloadIdentity: "pod-identity" }],
  ])("minimal with the Composition's input for %s, as the difference", async (name, input) => {
    const world = ready(example("minimal"), { settings: settings(input) });
    await expectGolden(`golden/${name}.diff.yaml`, composed(world), minimal());
  });
});

describe("every composed resource", () => {
  it.each(variants)("%s: has one name for each kind, a label of its Spoke and its ProviderConfig", (_name, world) => {
    const made = world();
    const { wanted } = made.ask();
    const manifests = [...wanted.values()].map(({ manifest }) => manifest);
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const account = made.spoke.spec.account;
    for (const { kind, metadata, spec } of manifests) {
      expect(metadata.labels?.["fleet.internal/cluster"]).toBe(made.spoke.metadata.name);
      expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
      expect(metadata.name.length).toBeLessThanOrEqual(253);
      if (!(kind in managedKinds)) continue;
      expect(at(spec, "providerConfigRef")).toEqual(
        account?.providerConfigRef ?? { kind: "ClusterProviderConfig", name: "default" },
      );
    }
  });

  it.skipIf(schemaFolder === undefined)(
    "is what provider-upjet-aws 2.6 accepts, without a field that it does not know (skipped without its schemas)",
    () => {
      for (const [name, world] of variants) {
        for (const [key, { manifest }] of world().ask().wanted)
          expect(violations(manifest), `${name}: ${key}`).toEqual([]);
      }
      const broken = ready(spoke()).object("vpc");
      expect(
        violations({ ...broken, spec: { forProvider: { region: "us-east-1", cidrblock: "10.0.0.0/16" } } }),
      ).not.toEqual([]);
    },
    // Compiles 21 large schemas.
    60_000,
  );

  it.skipIf(schemaFolder === undefined)(
    "is of a kind whose schema we have, but for default security groups, flow logs, the log group, transit gateways, what joins endpoints and blocks of VPCs",
    () => {
      expect(unknownToProvider()).toEqual([
        ...["DefaultSecurityGroup", "FlowLog", "Group", "TransitGatewayVPCAttachment"],
        ...[
          "VPCEndpointRouteTableAssociation",
          "VPCEndpointSecurityGroupAssociation",
          "VPCEndpointSubnetAssociation",
          "VPCIPv4CidrBlockAssociation",
        ],
      ]);
    },
  );

  it("of one Spoke never has the name of another Spoke's, whatever they are called", () => {
    const keys = [...ready(example("production")).ask().wanted].map(([key, { manifest }]) => ({
      key,
      kind: manifest.kind,
    }));
    for (const { key, kind } of keys) {
      const clash = keys.filter((other) => other.kind === kind && other.key !== key && key.endsWith(`-${other.key}`));
      expect(clash, `${kind} ${key}`).toEqual([]);
    }
  });

  it("carries the tags by which IAM tells fleets and clusters apart, where AWS has tags", () => {
    const untagged = [
      "AccessPolicyAssociation",
      "Alias",
      "ClusterAuth",
      "RolePolicy",
      "RolePolicyAttachment",
      "Route",
      "RouteTableAssociation",
      "VPCEndpointRouteTableAssociation",
    ];
    for (const { manifest } of ready(spoke()).ask().wanted.values()) {
      if (!(manifest.kind in managedKinds) || untagged.includes(manifest.kind)) continue;
      expect(at(manifest.spec, "forProvider", "tags"), manifest.metadata.name).toMatchObject({
        "fleet.internal/fleet": "fleet",
        "fleet.internal/cluster": "blue",
        "eks-cluster-name": "fleet-spoke-blue",
      });
    }
  });

  it("has nodes and add-ons tag what they make, by which the boundary tells it from other clusters'", () => {
    const world = ready(spoke());
    const specifications = world.forProvider("launch-template")["tagSpecifications"] as {
      resourceType: string;
      tags: object;
    }[];
    expect(specifications.map(({ resourceType }) => resourceType)).toEqual(["instance", "network-interface", "volume"]);
    const values = (addon: string) => JSON.parse(String(world.forProvider(`addon-${addon}`)["configurationValues"]));
    const interfaces: unknown = JSON.parse(values("vpc-cni").env.ADDITIONAL_ENI_TAGS);
    for (const tags of [
      ...specifications.map((each) => each.tags),
      interfaces,
      values("aws-ebs-csi-driver").controller.extraVolumeTags,
    ])
      expect(tags).toMatchObject({ "fleet.internal/fleet": "fleet", "eks-cluster-name": "fleet-spoke-blue" });
  });

  it("tags each role with what it is, as the boundary asks for", () => {
    const world = ready(spoke());
    for (const identity of ["cluster", "node", "external-secrets", "crossplane", "aws-ebs-csi-driver"])
      expect(world.forProvider(`role-${identity}`)["tags"], identity).toMatchObject({
        "fleet.internal/identity": identity,
        "eks-cluster-name": "fleet-spoke-blue",
      });
  });
});

describe("the network", () => {
  it.each([
    ["single", 1, 2],
    ["per-zone", 2, 2],
    ["none", 0, 0],
  ])("with natGateways %s has %i NAT gateways and %i private routes out", (natGateways, gateways, routes) => {
    const world = ready(spoke({ network: { zones: 2, natGateways } }));
    const keys = [...world.live.keys()];
    expect(keys.filter((key) => key.startsWith("nat-"))).toHaveLength(gateways);
    expect(keys.filter((key) => key.startsWith("address-"))).toHaveLength(gateways);
    expect(keys.filter((key) => key.startsWith("route-private-"))).toHaveLength(routes);
    expect(world.forProvider(nodeGroup)["subnetIds"]).toEqual(
      [0, 1].map((zone) => `subnet-subnet-${natGateways === "none" ? "public" : "private"}-${zone}`),
    );
  });

  it("leads each zone out through its own NAT gateway, or all through the only one", () => {
    const routes = (natGateways: string) => {
      const world = ready(spoke({ network: { zones: 3, natGateways } }));
      return [0, 1, 2].map((zone) => world.forProvider(`route-private-${zone}`)["natGatewayId"]);
    };
    expect(routes("single")).toEqual(["natgateway-nat-0", "natgateway-nat-0", "natgateway-nat-0"]);
    expect(routes("per-zone")).toEqual(["natgateway-nat-0", "natgateway-nat-1", "natgateway-nat-2"]);
  });

  it("routes S3 past the NAT gateways, from every subnet", () => {
    const world = ready(spoke({ network: { zones: 3, natGateways: "single" } }));
    expect(world.forProvider("endpoint-s3")).toMatchObject({
      vpcId: "vpc-vpc",
      serviceName: "com.amazonaws.us-east-1.s3",
      vpcEndpointType: "Gateway",
    });
    const tables = ["public", "private-0", "private-1", "private-2"];
    expect(tables.map((table) => world.forProvider(`endpoint-s3-${table}`)["routeTableId"])).toEqual(
      tables.map((table) => `routetable-route-table-${table}`),
    );
  });

  it("uses the named zones, else the first that the hub found", () => {
    const zones = (world: World) =>
      [0, 1].map((zone) => world.forProvider(`subnet-private-${zone}`)["availabilityZone"]);
    expect(zones(ready(spoke()))).toEqual(["us-east-1a", "us-east-1b"]);
    expect(zones(ready(example("sandbox")))).toEqual(["us-east-1b", "us-east-1d"]);
    const tokyo = { ...hub, hubAvailabilityZones: ["us-east-1a", "us-east-1c", "us-east-1d"] };
    expect(zones(ready(spoke(), { hub: tokyo }))).toEqual(["us-east-1a", "us-east-1c"]);
  });

  it("keeps the zones that it was made in, whatever the hub finds later", () => {
    const world = ready(spoke());
    world.hub = { ...hub, hubAvailabilityZones: ["us-east-1c", "us-east-1d"] };
    expect(world.settle().ready).toBe(true);
    for (const kind of ["public", "private"])
      expect([0, 1].map((zone) => world.forProvider(`subnet-${kind}-${zone}`)["availabilityZone"])).toEqual([
        "us-east-1a",
        "us-east-1b",
      ]);
  });

  it("puts what is still to be made into a zone that has no subnets of it", () => {
    const world = ready(spoke({ network: { zones: 2, natGateways: "none" } }));
    for (const kind of ["public", "private"]) world.live.delete(`subnet-${kind}-0`);
    world.hub = { ...hub, hubAvailabilityZones: ["us-east-1b", "us-east-1c"] };
    world.step();
    expect(world.forProvider("subnet-private-0")["availabilityZone"]).toBe("us-east-1c");
  });
});

describe("the control plane", () => {
  const world = ready(spoke({ endpoint: { public: true, publicAccessCidrs: ["5.6.7.0/24", "198.51.100.1/32"] } }));
  const cluster = world.forProvider("cluster");

  it("knows access entries only, has no administrator by birth, encrypts secrets and keeps its logs", () => {
    expect(cluster).toMatchObject({
      accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: false },
      bootstrapSelfManagedAddons: false,
      encryptionConfig: {
        provider: { keyArn: "arn:aws:kms:us-east-1:000000000000:key/key-1" },
        resources: ["secrets"],
      },
    });
    expect(cluster["enabledClusterLogTypes"]).toEqual(["audit", "authenticator"]);
    expect(world.object("logs").metadata.annotations?.["crossplane.io/external-name"]).toBe(
      "/aws/eks/fleet-spoke-blue/cluster",
    );
  });

  it("writes the logs that the Spoke asks for", () => {
    const all = ["api", "audit", "authenticator", "controllerManager", "scheduler"];
    expect(ready(spoke({ logTypes: all })).forProvider("cluster")["enabledClusterLogTypes"]).toEqual(all);
    expect(ready(spoke({ logTypes: [] })).forProvider("cluster")["enabledClusterLogTypes"]).toEqual([]);
  });

  it("admits the hub's addresses and those that the Spoke names, each once", () => {
    expect(at(cluster, "vpcConfig", "publicAccessCidrs")).toEqual(["198.51.100.1/32", "5.6.7.0/24"]);
  });

  const rules = (of: World) =>
    [...of.live]
      .filter(([, { object }]) => object.kind === "SecurityGroupIngressRule")
      .map(([key]) => [key, of.forProvider(key)] as const);

  it("admits connected networks that the Spoke names to the private endpoint, and nobody without them", () => {
    expect(rules(world)).toEqual([]);
    const endpoint = { public: true, publicAccessCidrs: [], privateAccessCidrs: ["10.20.0.0/16"] };
    const rule = {
      ...{ region: "us-east-1", securityGroupId: "sg-cluster", cidrIpv4: "10.20.0.0/16" },
      ...{ ipProtocol: "tcp", fromPort: 443, toPort: 443 },
    };
    expect(rules(ready(spoke({ endpoint })))).toEqual([["api-from-10-20-0-0-16", expect.objectContaining(rule)]]);
  });

  it("that has no public endpoint admits the hub's network to the private one", () => {
    const closed = ready(spoke({ endpoint: { public: false, publicAccessCidrs: [], privateAccessCidrs: [] } }));
    expect(rules(closed).map(([, rule]) => at(rule, "cidrIpv4"))).toEqual([hub.aws.vpcCidr]);
  });
});

describe("access to the spoke", () => {
  const principals = (world: World) =>
    [...world.live.values()]
      .filter(({ object }) => object.kind === "AccessPolicyAssociation")
      .map(({ object }) => at(object.spec, "forProvider", "principalArn"))
      .sort();

  const entries = (world: World) =>
    Object.fromEntries(
      [...world.live.values()]
        .filter(({ object }) => object.kind === "AccessEntry")
        .map(({ object }) => at(object.spec, "forProvider") as Record<string, unknown>)
        .map(({ principalArn, kubernetesGroups }) => [principalArn, kubernetesGroups]),
    );

  it("is for Flux's two controllers with rights of their own, and for the administrators that the Spoke names", () => {
    const world = ready(spoke({ admins: ["arn:aws:iam::000000000000:role/team"] }));
    expect(entries(world)).toEqual({
      "arn:aws:iam::000000000000:role/fleet-hub-kustomize-controller": ["fleet:hub-kustomize-controller"],
      "arn:aws:iam::000000000000:role/fleet-hub-helm-controller": ["fleet:hub-helm-controller"],
      "arn:aws:iam::000000000000:role/team": undefined,
    });
    expect(principals(world)).toEqual(["arn:aws:iam::000000000000:role/team"]);
  });

  it("is for Crossplane's provider in the variant with a connection Secret, whose token is its own", () => {
    const world = ready(spoke(), { settings: settings({ kubeConfig: "secret" }) });
    expect(entries(world)).toEqual({
      "arn:aws:iam::000000000000:role/fleet-hub-crossplane-eks": [
        "fleet:hub-kustomize-controller",
        "fleet:hub-helm-controller",
      ],
    });
    expect(principals(world)).toEqual([]);
    expect(world.object("cluster-auth").spec).toMatchObject({
      writeConnectionSecretToRef: { name: "blue-kubeconfig" },
    });
    expect(world.live.has("kubeconfig")).toBe(false);
    const [patch] = at(world.object("bootstrap").spec, "patches") as { target: object; patch: string }[];
    expect(patch?.target).toEqual({ labelSelector: "fleet.internal/target=spoke" });
    expect(JSON.parse(patch?.patch ?? "")).toEqual([
      { op: "replace", path: "/spec/kubeConfig", value: { secretRef: { name: "blue-kubeconfig", key: "kubeconfig" } } },
    ]);
  });

  it("changes over from one variant to the other without taking anything else away", () => {
    const world = ready(spoke());
    world.settings = settings({ kubeConfig: "secret" });
    expect(world.settle().ready).toBe(true);
    expect(world.removed.filter((key) => !/^(kubeconfig|access-)/.test(key))).toEqual([]);
  });

  it("goes when an administrator is taken off the list", () => {
    const world = ready(spoke({ admins: ["arn:aws:iam::000000000000:role/team"] }));
    world.removed.length = 0;
    world.change({ admins: [] });
    world.settle();
    expect(world.removed.map((key) => key.replace(/-[0-9a-f]{10}$/, "")).sort()).toEqual([
      "access-entry-admin",
      "access-policy-admin",
    ]);
  });
});

describe("the roles of the spoke", () => {
  const world = ready(spoke());
  const policy = (key: string): PolicyDocument => JSON.parse(String(world.forProvider(key)["policy"]));
  const trust = (key: string): PolicyDocument => JSON.parse(String(world.forProvider(key)["assumeRolePolicy"]));
  const secret = (name: string) => ({
    action: "secretsmanager:GetSecretValue",
    resource: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${name}`,
  });

  it("all carry the fleet's boundary and a name under its prefix", () => {
    const roles = [...world.live.values()].filter(({ object }) => object.kind === "Role");
    expect(roles).toHaveLength(5);
    for (const { object } of roles) {
      expect(at(object.spec, "forProvider", "permissionsBoundary")).toBe(hub.permissionsBoundaryArn);
      expect(object.metadata.annotations?.["crossplane.io/external-name"]).toMatch(/^fleet-spoke-blue-/);
    }
  });

  it("have names that IAM takes, however long the spoke's name is", () => {
    const long = ready(spoke({}, "a".repeat(40)), { hub: { ...hub, spokePrefix: "a-rather-long-fleet-name-spoke-" } });
    const names = [...long.live.values()].flatMap(({ object }) =>
      object.kind === "Role" ? [String(object.metadata.annotations?.["crossplane.io/external-name"])] : [],
    );
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(64);
    for (const name of names) expect(name.startsWith("a-rather-long-fleet-name-spoke-a")).toBe(true);
  });

  it("let External Secrets read the sealing keys of its environment and its own credential, and no other's", () => {
    const reader = policy("policy-external-secrets");
    expect(allowed(reader, secret("fleet/sealing-keys/dev/1-AbCdEf"))).toBe(true);
    expect(allowed(reader, secret("fleet/git/spokes/blue-AbCdEf"))).toBe(true);
    expect(allowed(reader, secret("fleet/sealing-keys/prod/1-AbCdEf"))).toBe(false);
    expect(allowed(reader, secret("fleet/sealing-keys/dev-2/1-AbCdEf"))).toBe(false);
    expect(allowed(reader, secret("fleet/git/spokes/blue-abcdef-AbCdEf"))).toBe(false);
    expect(allowed(reader, secret("fleet/git/gitops-system-AbCdEf"))).toBe(false);
  });

  it("let External Secrets of a spoke with sealing keys of its own read these, not its environment's nor another spoke's", () => {
    const own = ready(spoke({ sealing: "cluster" }));
    const reader = JSON.parse(String(own.forProvider("policy-external-secrets")["policy"])) as PolicyDocument;
    expect(allowed(reader, secret("fleet/sealing-keys/cluster-blue/1-AbCdEf"))).toBe(true);
    expect(allowed(reader, secret("fleet/git/spokes/blue-AbCdEf"))).toBe(true);
    for (const scope of ["dev", "prod", "cluster-green", "cluster-blue-2", "cluster-blu", "blue"])
      expect(allowed(reader, secret(`fleet/sealing-keys/${scope}/1-AbCdEf`)), scope).toBe(false);
  });

  it("let no spoke with its environment's sealing keys read those of a spoke's own", () => {
    const reader = policy("policy-external-secrets");
    for (const scope of ["cluster-blue", "cluster-green"])
      expect(allowed(reader, secret(`fleet/sealing-keys/${scope}/1-AbCdEf`)), scope).toBe(false);
  });

  it("trust exactly one service account of this cluster each, and Crossplane's those of its providers", () => {
    const issuer = `oidc.eks.us-east-1.amazonaws.com/id/${"A".repeat(32)}`;
    const subjects = ["external-secrets", "crossplane", "aws-ebs-csi-driver"].map(
      (key) => trust(`role-${key}`).Statement[0]?.Condition?.["StringEquals"]?.[`${issuer}:sub`],
    );
    expect(subjects).toEqual([
      "system:serviceaccount:sealed-secrets:aws-secrets-manager",
      ["dynamodb", "iam", "rds", "s3", "sqs"].map(
        (service) => `system:serviceaccount:crossplane-system:provider-aws-${service}`,
      ),
      "system:serviceaccount:kube-system:ebs-csi-controller-sa",
    ]);
  });

  it("in another account are bound by that account's boundary, and read the fleet's secrets where they are", () => {
    const other = ready(example("other-account"));
    expect(other.forProvider("role-node")["permissionsBoundary"]).toBe(
      "arn:aws:iam::111111111111:policy/fleet-boundary",
    );
    expect(String(other.forProvider("policy-external-secrets")["policy"])).toContain(
      ":000000000000:secret:fleet/sealing-keys/prod/",
    );
    expect(String(other.forProvider("policy-crossplane")["policy"])).toContain(
      "arn:aws:dynamodb:eu-west-1:111111111111:",
    );
  });

  it("in another account are acted on by the hub's roles for Flux; what uses Crossplane's tokens is Crossplane's role there", () => {
    const entry = (identity: string, kubeConfig: string) =>
      ready(example("other-account"), { settings: settings({ kubeConfig }) }).forProvider(`access-entry-${identity}`)[
        "principalArn"
      ];
    expect(entry("kustomize-controller", "configMap")).toBe(hub.identities["kustomize_controller"]?.roleArn);
    expect(entry("crossplane-eks", "secret")).toBe("arn:aws:iam::111111111111:role/fleet-hub-crossplane");
  });
});

describe("what Git gets", () => {
  const world = ready(example("production"), {
    settings: settings({
      stages: {
        prod: { gitRepository: "gitops-system-prod", gitopsSystemRevision: "prod", gitopsWorkloadsRevision: "release" },
      },
    }),
  });

  it("is a kubeConfig ConfigMap without a credential, complete enough that Flux need not ask EKS", () => {
    expect(world.object("kubeconfig")).toMatchObject({
      kind: "ConfigMap",
      metadata: { name: "payments-prod-kubeconfig" },
    });
    expect(world.object("kubeconfig").data).toEqual({
      provider: "aws",
      cluster: "arn:aws:eks:us-east-1:000000000000:cluster/fleet-spoke-payments-prod",
      address: "https://100.64.254.2",
      "ca.crt": "-----BEGIN CERTIFICATE-----\nCA\n",
    });
  });

  it("is a cluster secret that speaks of the spoke, at the revisions of its stage", () => {
    expect(world.object("cluster-secret").metadata).toMatchObject({
      name: "cluster-payments-prod",
      labels: { "fleet.internal/role": "spoke", enable_metrics_server: "true", "reconcile.fluxcd.io/watch": "Enabled" },
    });
    expect(fromBase64(world.object("cluster-secret").data ?? {})).toMatchObject({
      cluster_name: "payments-prod",
      cluster_role: "spoke",
      sealing_scope: "prod",
      kubernetes_version: "1.35",
      gitops_system_repo_revision: "prod",
      gitops_workloads_repo_revision: "release",
      external_secrets_service_account: "aws-secrets-manager",
      addons: '["cert_manager","metrics_server"]',
      aws_vpc_cidr: "10.200.0.0/16",
    });
  });

  it("tells where load balancers are that face the internet, where the Spoke has their controller", () => {
    const told = (addons: readonly string[]) => {
      const spoke = example("minimal");
      const with_ = { ...spoke, spec: { ...spoke.spec, addons } };
      return fromBase64(ready(with_).object("cluster-secret").data ?? {})["load_balancer_cidrs"];
    };
    expect(told(["aws_load_balancer_controller"])).toBe("10.98.48.0/22,10.98.52.0/22");
    expect(told([])).toBe("");
  });

  it("is one Kustomization over the chain that waits, removes what it made and substitutes from the cluster secret", () => {
    expect(world.object("bootstrap")).toMatchObject({
      metadata: { name: "payments-prod-bootstrap" },
      spec: {
        sourceRef: { kind: "GitRepository", name: "gitops-system-prod", namespace: "flux-system" },
        path: "./spoke-bootstrap",
        prune: true,
        wait: true,
        deletionPolicy: "WaitForTermination",
        postBuild: { substituteFrom: [{ kind: "Secret", name: "cluster-payments-prod" }] },
      },
    });
    const { spec } = ready(example("minimal")).object("bootstrap");
    expect(spec).not.toHaveProperty("patches");
    expect(at(spec, "sourceRef")).toEqual({
      kind: "ExternalArtifact",
      name: "bootstrap-chain",
      namespace: "flux-system",
    });
  });

  it("takes the steps of the chain from the stage's repository too", () => {
    expect(world.object("bootstrap").spec).toMatchObject({
      patches: [
        {
          target: { labelSelector: "fleet.internal/source=stage" },
          patch:
            '[{"op":"replace","path":"/spec/sourceRef","value":{"kind":"GitRepository","name":"gitops-system-prod","namespace":"flux-system"}}]',
        },
      ],
    });
  });

  it("takes sealing keys of a spoke's own from beside its Spoke, whatever the stage's repository", () => {
    const stages = { dev: { gitRepository: "gitops-system-dev" } };
    const own = ready(spoke({ sealing: "cluster" }), { settings: settings({ stages }) });
    expect(fromBase64(own.object("cluster-secret").data ?? {})).toMatchObject({ sealing_scope: "cluster-blue" });
    expect(at(own.object("bootstrap").spec, "patches", 1)).toEqual({
      target: { labelSelector: "fleet.internal/keys=sealing" },
      patch: JSON.stringify([
        { op: "replace", path: "/spec/path", value: "./spokes/fleet/blue/sealing-keys" },
        {
          op: "replace",
          path: "/spec/sourceRef",
          value: { kind: "ExternalArtifact", name: "spoke-blue", namespace: "flux-system" },
        },
      ]),
    });
  });

  describe("of the sealing keys of a spoke in another account", () => {
    const patches = (sealing: string) => {
      const written = example("other-account");
      const own = ready({ ...written, spec: { ...written.spec, sealing } } as typeof written).object("bootstrap").spec;
      const all = (at(own, "patches") ?? []) as { target: { labelSelector?: string }; patch: string }[];
      const step = all.filter(({ target }) => target.labelSelector === "fleet.internal/keys=sealing");
      return step.flatMap(({ patch }) => JSON.parse(patch) as { path: string; value: unknown }[]);
    };
    const keys = (sealing: string) =>
      (patches(sealing).find(({ path }) => path === "/spec/patches")?.value ?? []) as {
        target: { kind: string; name: string };
        patch: string;
      }[];
    const secret = (key: string) =>
      `arn:aws:secretsmanager:us-east-1:000000000000:secret:fleet/sealing-keys/${key}-AbCdEf`;

    it.each([
      ["environment", "prod/1"],
      ["cluster", "cluster-analytics/1"],
    ])("is the whole ARN of each key of its scope, and of no other (%s)", (sealing, key) => {
      expect(keys(sealing).map(({ patch }) => JSON.parse(patch))).toEqual([
        [{ op: "replace", path: "/spec/dataFrom/0/extract/key", value: secret(key) }],
      ]);
    });

    it.each([
      ["sealing-key-1", true],
      // As Git has it, which Flux patches before it substitutes.
      ["sealing-key-$" + "{sealing_scope}-1", true],
      ["sealing-key-11", false],
      ["sealing-key-2-1", false],
      ["sealing-key-$" + "{sealing_scope}-2-1", false],
    ])("is put into the ExternalSecret of the generation: %s %s", (name, isOfGeneration) => {
      const [target] = keys("environment").map((each) => each.target);
      expect(target?.kind).toBe("ExternalSecret");
      // kustomize matches names as a whole.
      expect(new RegExp(`^(?:${target?.name})$`).test(name)).toBe(isOfGeneration);
    });
  });

  it("holds no credential in any composed object", () => {
    for (const { manifest } of world.ask().wanted.values()) {
      expect(JSON.stringify(readable(manifest))).not.toMatch(/"(token|password|tls\.key|client-key)/i);
    }
  });
});
