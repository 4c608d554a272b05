import { describe, expect, it, test } from "vitest";
import { interfaceServices } from "../../../functions/spoke/endpoints.ts";
import {
  existingIds,
  numberedResources,
  podIdentitiesField,
  podIdentityForm,
  ruleField,
  ruleForm,
  templateForm,
  templatesField,
} from "../../../functions/spoke/existing.ts";
import { managedKinds } from "../../../functions/spoke/kinds.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { spokeSchema } from "./support/definition.ts";
import { hub, nodeGroup, settings, spoke } from "./support/fixtures.ts";
import { running, World } from "./support/world.ts";

const external = ({ metadata }: KubeObject) => metadata.annotations?.["crossplane.io/external-name"];
const network = {
  cidr: "10.100.0.0/16",
  zones: 3,
  availabilityZones: ["us-east-1a", "us-east-1b", "us-east-1c"],
  natGateways: "per-zone",
  flowLogs: "ALL",
  endpoints: ["dynamodb", ...interfaceServices],
  podCidr: "100.64.0.0/16",
  transitGateway: { id: "tgw-0a1b2c3d4e5f60718", destinationCidrs: ["192.168.0.0/16"] },
};
const id = (prefix: string, count: number) => `${prefix}-${String(count).padStart(17, "0")}`;

/** An ID for everything of a spoke that AWS numbers. */
const existing = {
  vpc: id("vpc", 1),
  "internet-gateway": id("igw", 1),
  "transit-gateway": id("tgw-attach", 1),
  "pod-block": id("vpc-cidr-assoc", 1),
  ...Object.fromEntries(
    [0, 1, 2].flatMap((zone) => [
      ...["public", "private", "pod"].flatMap((side) => [
        [`subnet-${side}-${zone}`, id("subnet", zone)],
        [`association-${side}-${zone}`, id("rtbassoc", zone)],
      ]),
      [`route-table-private-${zone}`, id("rtb", zone)],
      [`address-${zone}`, id("eipalloc", zone)],
      [`nat-${zone}`, id("nat", zone)],
    ]),
  ),
  "route-table-public": id("rtb", 9),
  "endpoint-s3": id("vpce", 1),
  "endpoint-dynamodb": id("vpce", 2),
  ...Object.fromEntries(
    interfaceServices.map((service, index) => [`endpoint-${service.replace(".", "-")}`, id("vpce", 3 + index)]),
  ),
  "flow-log-all": id("fl", 1),
  key: "1234abcd-12ab-34cd-56ef-1234567890ab",
  "launch-template": id("lt", 1),
  "oidc-provider": "arn:aws:iam::000000000000:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/ABC",
  "api-from": { "10.0.0.0/16": id("sgr", 1), "10.9.0.0/16": id("sgr", 2) },
};
const privateEndpoint = { public: false, publicAccessCidrs: [], privateAccessCidrs: ["10.9.0.0/16"] };
const adopted = () => spoke({ network, endpoint: privateEndpoint, existing });

/** Kinds that the provider finds by names and ARNs that follow from the Spoke. */
const foundByName = [
  ...[
    ...["AccessEntry", "AccessPolicyAssociation", "Addon", "Alias", "Cluster", "ClusterAuth"],
    ...["DefaultSecurityGroup", "Group", "NodeGroup", "Role"],
  ],
  ...["RolePolicy", "RolePolicyAttachment", "Route", "VPCEndpointRouteTableAssociation"],
  ...["VPCEndpointSecurityGroupAssociation", "VPCEndpointSubnetAssociation"],
];

describe("the table of what AWS numbers", () => {
  it("has every kind that the provider does not find by itself", () => {
    const numbered = Object.values(numberedResources).map(({ kind }) => kind as string);
    const kinds = new Set([...numbered, "PodIdentityAssociation", "SecurityGroupIngressRule", ...foundByName]);
    expect([...kinds].sort()).toEqual(Object.keys(managedKinds).sort());
  });

  it("is what the definition takes, with the same forms", () => {
    const { properties = {} } = spokeSchema.properties?.["spec"]?.properties?.["existing"] ?? {};
    const {
      [ruleField]: rules,
      [templatesField]: templates,
      [podIdentitiesField]: podIdentities,
      madeBy: _,
      ...others
    } = properties;
    const forms = (all: object) => Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1));
    expect(forms(Object.fromEntries(Object.entries(others).map(([name, { pattern }]) => [name, pattern])))).toEqual(
      forms(Object.fromEntries(Object.entries(numberedResources).map(([name, { form }]) => [name, form]))),
    );
    expect(rules?.["additionalProperties"]).toMatchObject({ pattern: ruleForm });
    expect(templates?.["additionalProperties"]).toMatchObject({ pattern: templateForm });
    expect(podIdentities?.["additionalProperties"]).toMatchObject({ pattern: podIdentityForm });
  });
});

describe("a Spoke over what exists", () => {
  test("makes nothing anew: every resource that AWS numbers has its ID from the beginning", () => {
    const world = new World(adopted());
    expect(world.settle().ready).toBe(true);
    const ids = existingIds(adopted());
    const kinds = new Set<string>([...Object.values(numberedResources).map(({ kind }) => kind as string)]);
    const seen = [...world.live].filter(([, { object }]) => kinds.has(object.kind) && object.kind !== "NodeGroup");
    for (const [key, { object }] of seen) expect([key, external(object)]).toEqual([key, ids.get(key)]);
    const rules = [...world.live].filter(([, { object }]) => object.kind === "SecurityGroupIngressRule");
    expect(rules.map(([key, { object }]) => [key, external(object)]).sort()).toEqual([
      ["api-from-10-0-0-0-16", id("sgr", 1)],
      ["api-from-10-9-0-0-16", id("sgr", 2)],
    ]);
    expect(seen.length + rules.length).toBe(ids.size);
  });

  test("is otherwise composed like any other", () => {
    const plain = new World(spoke({ network, endpoint: privateEndpoint }));
    const world = new World(adopted());
    const specs = (of: World) => Object.fromEntries([...of.live].map(([key, { object }]) => [key, object.spec]));
    plain.settle();
    world.settle();
    expect(specs(world)).toEqual(specs(plain));
  });

  test("keeps the ID of what was made in place of something that has gone since", () => {
    const world = running(adopted());
    const nat = world.live.get("nat-0");
    if (!nat) throw new Error("there is no NAT gateway");
    const annotations = { ...nat.object.metadata.annotations, "crossplane.io/external-name": id("nat", 7) };
    nat.object = { ...nat.object, metadata: { ...nat.object.metadata, annotations } };
    world.settle();
    expect(external(world.object("nat-0"))).toBe(id("nat", 7));
  });

  test.each(["known", "not known for a moment"])(
    "leaves the ID to the provider once it makes something in place of what has gone, with facts %s",
    (facts) => {
      const world = running(adopted());
      const nat = world.live.get("nat-0");
      const subnet = world.live.get("subnet-public-0");
      if (!nat || !subnet) throw new Error("there is no NAT gateway or no subnet");
      const annotations = { ...nat.object.metadata.annotations, "crossplane.io/external-create-pending": "2026-01-01" };
      nat.object = { ...nat.object, metadata: { ...nat.object.metadata, annotations } };
      if (facts !== "known") subnet.object = { ...subnet.object, status: {} };
      const { wanted } = world.ask();
      expect(wanted.has("nat-0")).toBe(true);
      expect(wanted.get("nat-0")?.manifest.metadata.annotations).toBeUndefined();
    },
  );

  test("takes in the launch templates of further node groups by the names of these", () => {
    const templates = { gpu: id("lt", 3) };
    const nodeGroups = [{ name: "nodes" }, { name: "gpu", instanceTypes: ["g6.xlarge"] }];
    const world = running(spoke({ network, nodeGroups, existing: { ...existing, "launch-templates": templates } }));
    expect(external(world.object("launch-template-gpu"))).toBe(templates.gpu);
    expect(external(world.object("launch-template"))).toBe(existing["launch-template"]);
  });

  test("asks for no AMI release before it has seen which one runs", () => {
    const [runs, wanted] = ["1.35.2-20261002", "1.35.3-20261101"];
    const { kubernetesVersions } = settings();
    const named = { ...kubernetesVersions["1.35"], nodes: { AL2023_x86_64_STANDARD: wanted } };
    const world = new World(adopted(), {
      settings: settings({ kubernetesVersions: { ...kubernetesVersions, "1.35": named } }),
    });
    // AWS has it already.
    world.report(nodeGroup, (status) => ({
      ...status,
      atProvider: { ...(status["atProvider"] as object), releaseVersion: runs },
    }));
    const releases: unknown[] = [];
    for (let step = 0; step < 30; step += 1) {
      world.step();
      if (world.live.has(nodeGroup)) releases.push(world.forProvider(nodeGroup)["releaseVersion"]);
    }
    expect(releases[0]).toBeUndefined();
    expect(releases.at(-1)).toBe(wanted);
  });
});

describe("access of the hub whose roles were made again", () => {
  const entry = "access-entry-kustomize-controller";
  const made = (time: string) => (status: Record<string, unknown>) => ({
    ...status,
    atProvider: { ...(status["atProvider"] as object), createdAt: time },
  });
  const rebuilt = { ...hub, hubRolesCreated: "2026-02-01T00:00:00Z" };

  test("is made again too: EKS would not take an entry of a former role for the new one", () => {
    const world = running(spoke());
    world.report(entry, made("2026-01-01T00:00:00Z"));
    world.hub = rebuilt;
    world.step();
    expect(world.live.get(entry)?.deleting).not.toBe(true);
    world.step();
    expect(world.removed).toContain(entry);
    world.report(entry, made("2026-02-01T00:01:00Z"));
    world.removed.length = 0;
    expect(world.settle().ready).toBe(true);
    expect(world.removed).not.toContain(entry);
    expect(world.live.has(entry)).toBe(true);
  });

  test.each([
    ["made after the roles", "2026-02-01T00:00:01Z", rebuilt],
    ["made in the same second", "2026-02-01T00:00:00Z", rebuilt],
    ["of a hub whose program does not tell yet", "2026-01-01T00:00:00Z", { ...hub, hubRolesCreated: "" }],
  ])("stays as it is %s", (_, time, its) => {
    const world = running(spoke());
    world.report(entry, made(time));
    world.hub = its;
    world.settle();
    expect(world.removed).toEqual([]);
  });

  test("of people and teams stays: their roles are not the hub's", () => {
    const admin = "arn:aws:iam::000000000000:role/admin";
    const world = running(spoke({ admins: [admin] }));
    const key = [...world.live.keys()].find((each) => each.startsWith("access-entry-admin-")) as string;
    expect(key).toBeDefined();
    world.report(key, made("2026-01-01T00:00:00Z"));
    world.hub = rebuilt;
    world.settle();
    expect(world.removed).not.toContain(key);
  });
});
