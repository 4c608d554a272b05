import { describe, expect, test } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { bridgeLabels, readBridgeData } from "../../../lib/bridge.ts";
import { hub, settings, spoke } from "./support/fixtures.ts";
import { failing, settled, World, type WorldOptions } from "./support/world.ts";

const identity = {
  roleArn: "arn:aws:iam::000000000000:role/fleet-hub-argocd",
  namespace: "argocd",
  serviceAccount: "argocd-application-controller",
};
const onHub = { ...hub, identities: { ...hub.identities, argocd: identity } };
const elsewhereRole = "arn:aws:iam::111111111111:role/argocd";
/** A hub whose stack names the role of an Argo CD in another cluster. */
const elsewhere = {
  ...hub,
  identities: {
    ...hub.identities,
    argocd: { ...identity, roleArn: elsewhereRole },
    argocd_secrets: {
      roleArn: "arn:aws:iam::000000000000:role/fleet-hub-argocd-secrets",
      namespace: "argocd",
      serviceAccount: "argocd-secrets",
    },
  },
};
const spokesRole = "arn:aws:iam::000000000000:role/fleet-hub-argocd-spokes";
const given = (...namespaces: string[]) => settings({ argocd: { namespaces } });
const keys = ["access-entry-argocd", "access-policy-argocd", "argocd"];

const present = (world: World) => keys.filter((key) => world.live.has(key));

/** What Flux makes of the empty Secret in Git. */
function secretOf(world: World): Record<string, Record<string, string>> {
  const [patch, ...others] = at(world.object("argocd").spec, "patches") as { target: object; patch: string }[];
  expect(others).toEqual([]);
  expect(patch?.target).toEqual({ kind: "Secret" });
  const operations = JSON.parse(patch?.patch ?? "") as { op: string; path: string; value: Record<string, string> }[];
  return Object.fromEntries(operations.map(({ path, value }) => [path, value]));
}

function ready(
  change: Record<string, unknown> = {},
  options: WorldOptions = { hub: onHub, settings: given("shop") },
): World {
  const world = new World(spoke(change), options);
  expect(world.settle().ready).toBe(true);
  return world;
}

describe("Argo CD on the hub", () => {
  test("knows a spoke by a cluster secret of the bridge's facts, which names a role and has no credential", () => {
    const world = ready({ ring: "early", environment: "prod" }, { hub: onHub, settings: given("web", "shop", "web") });
    const spec = world.object("argocd").spec;
    expect(spec).toMatchObject({ targetNamespace: "argocd", prune: true, path: "./spoke-bootstrap/argocd" });
    const secret = secretOf(world);
    const bridge = fromBase64(world.object("cluster-secret").data ?? {});
    expect(secret["/metadata/name"]).toBe("cluster-blue");
    expect(secret["/metadata/annotations"]).toEqual(bridge);
    expect(secret["/metadata/labels"]).toMatchObject({
      ...bridgeLabels(readBridgeData(bridge)),
      "argocd.argoproj.io/secret-type": "cluster",
      environment: "prod",
      ring: "early",
    });
    const { config = "", ...data } = fromBase64(secret["/data"] ?? {});
    const cluster = at(world.object("cluster").status, "atProvider");
    expect(data).toEqual({
      name: "blue",
      server: at(cluster, "endpoint"),
      namespaces: "shop,web",
      clusterResources: "false",
    });
    expect(JSON.parse(config)).toEqual({
      awsAuthConfig: { clusterName: "fleet-spoke-blue", roleARN: spokesRole },
      tlsClientConfig: { insecure: false, caData: at(cluster, "certificateAuthority", 0, "data") },
    });
  });

  test("may edit the named namespaces of a spoke, and nothing else there", () => {
    const world = ready();
    expect(world.forProvider("access-entry-argocd")).toMatchObject({ principalArn: spokesRole });
    expect(world.forProvider("access-entry-argocd")).not.toHaveProperty("kubernetesGroups");
    expect(world.forProvider("access-policy-argocd")).toMatchObject({
      principalArn: spokesRole,
      policyArn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy",
      accessScope: { type: "namespace", namespaces: ["shop"] },
    });
  });

  test("gets other namespaces by a new access, and is told of them when that works", () => {
    const world = ready();
    world.removed.length = 0;
    world.settings = given("shop", "web");
    // Until AWS has made the new access.
    world.report("access-policy-argocd", failing("not yet"));
    const told = () => fromBase64(secretOf(world)["/data"] ?? {})["namespaces"];
    const holdsIn = () =>
      at(world.live.get("access-policy-argocd")?.object.spec, "forProvider", "accessScope", "namespaces");
    for (const granted of [["shop"], ["shop", "web"], ["shop", "web"], ["shop", "web"]]) {
      expect(told()).toBe("shop");
      if (holdsIn() !== undefined) expect(holdsIn()).toEqual(granted);
      world.step();
    }
    expect(world.removed).toEqual(["access-policy-argocd"]);
    expect(told()).toBe("shop");
    world.reports.delete("access-policy-argocd");
    expect(world.settle().ready).toBe(true);
    expect(world.removed).toEqual(["access-policy-argocd"]);
    expect(holdsIn()).toEqual(["shop", "web"]);
    expect(told()).toBe("shop,web");
  });

  test("keeps what it is told while its access is the old one, which still works", () => {
    const world = ready();
    world.settings = given("web");
    const [patch] = at(world.ask().wanted.get("argocd")?.manifest.spec, "patches") as { patch: string }[];
    expect(fromBase64(JSON.parse(patch?.patch ?? "").at(-1).value)["namespaces"]).toBe("shop");
  });

  test.for([
    ["the stack gives it no role", { hub, settings: given("shop") }],
    ["the Composition gives it no namespaces", { hub: onHub, settings: settings() }],
  ] as const)("has nothing to do with spokes where %s", ([, without]) => {
    expect(present(ready({}, without))).toEqual([]);
    const world = ready();
    expect(present(world)).toEqual(keys);
    Object.assign(world, without);
    // Flux has not removed the secret yet.
    world.stuck.add("argocd");
    expect(world.settle()).toMatchObject({ ready: true, ttl: 15 });
    expect(present(world)).toEqual(keys);
    expect(world.live.get("argocd")?.deleting).toBe(true);
    world.stuck.clear();
    world.removed.length = 0;
    expect(world.settle()).toMatchObject({ ready: true, ttl: 300 });
    expect(world.removed).toEqual(["argocd", "access-entry-argocd", "access-policy-argocd"]);
    expect(present(world)).toEqual([]);
  });

  test("forgets a spoke that is removed before it loses its access", () => {
    const world = ready();
    world.delete().settle();
    expect(world.gone).toBe(true);
    const order = world.removed.filter((key) => keys.includes(key));
    expect(order).toEqual(["argocd", "access-policy-argocd", "access-entry-argocd"]);
  });
});

describe("Argo CD elsewhere", () => {
  const options = { hub: elsewhere, settings: given("shop") };
  type Operations = Record<string, unknown>;

  /** What Flux makes of each of the two objects in Git. */
  function patches(world: World): { secret: Operations; push: Operations } {
    const found = at(world.object("argocd").spec, "patches") as { target: { kind: string }; patch: string }[];
    expect(found.map(({ target }) => target)).toEqual([{ kind: "Secret" }, { kind: "PushSecret" }]);
    const [secret = {}, push = {}] = found.map(({ patch }) =>
      Object.fromEntries(
        (JSON.parse(patch) as { path: string; value: unknown }[]).map((each) => [each.path, each.value]),
      ),
    );
    return { secret, push };
  }

  test("gets access as the role that the stack names, and no role of the fleet does", () => {
    const world = ready({}, options);
    expect(world.forProvider("access-entry-argocd")).toMatchObject({ principalArn: elsewhereRole });
    expect(world.forProvider("access-policy-argocd")).toMatchObject({
      principalArn: elsewhereRole,
      accessScope: { type: "namespace", namespaces: ["shop"] },
    });
  });

  test("finds the spoke in Secrets Manager under the fleet's name, with all that the secret on the hub says and no credential", () => {
    const world = ready({ ring: "early" }, options);
    expect(world.object("argocd").spec).toMatchObject({
      path: "./spoke-bootstrap/argocd-elsewhere",
      targetNamespace: "argocd",
      healthCheckExprs: [
        {
          kind: "PushSecret",
          // What AWS refuses is said at once, not when the time is over.
          failed: "status.conditions.exists(condition, condition.type == 'Ready' && condition.status == 'False')",
          current: "status.conditions.exists(condition, condition.type == 'Ready' && condition.status == 'True')",
        },
      ],
    });
    const { secret, push } = patches(world);
    expect(push).toMatchObject({
      "/metadata/name": "cluster-blue",
      "/spec/selector/secret/name": secret["/metadata/name"],
      "/spec/data/0/match/remoteRef/remoteKey": "fleet/argocd/blue",
      "/spec/data/0/metadata/spec/tags": { "fleet.internal/fleet": "fleet", "fleet.internal/cluster": "blue" },
    });
    const { labels = "", annotations = "", ...data } = push["/spec/template/data"] as Record<string, string>;
    expect(data).toEqual(fromBase64(secret["/data"] as Record<string, string>));
    expect(JSON.parse(labels)).toEqual(secret["/metadata/labels"]);
    expect(JSON.parse(annotations)).toEqual(secret["/metadata/annotations"]);
    expect(JSON.parse(data["config"] ?? "")).toEqual({
      awsAuthConfig: { clusterName: "fleet-spoke-blue", roleARN: elsewhereRole },
      tlsClientConfig: { insecure: false, caData: expect.any(String) },
    });
  });

  test("knows a spoke no longer once it is removed, before it loses its access", () => {
    const world = ready({}, options);
    world.delete().settle();
    expect(world.gone).toBe(true);
    const order = world.removed.filter((key) => keys.includes(key));
    expect(order).toEqual(["argocd", "access-policy-argocd", "access-entry-argocd"]);
  });

  // Of the way to the hub only what the function does: the stack would take the store from the PushSecret, so people turn it off first.
  test.for([
    ["from elsewhere to the hub", elsewhere, onHub, spokesRole],
    ["from the hub to elsewhere", onHub, elsewhere, elsewhereRole],
  ] as const)("passes %s on a spoke by a new access, after the former one is taken back", ([, before, after, role]) => {
    const world = ready({}, { hub: before, settings: given("shop") });
    world.removed.length = 0;
    Object.assign(world, { hub: after });
    world.stuck.add("argocd");
    world.settle();
    // Nothing goes or comes before the former secret has gone.
    expect(world.removed).toEqual([]);
    expect(world.forProvider("access-entry-argocd")).not.toMatchObject({ principalArn: role });
    world.stuck.clear();
    expect(world.settle().ready).toBe(true);
    expect(world.removed.toSorted()).toEqual(keys);
    expect(world.removed[0]).toBe("argocd");
    expect(world.forProvider("access-entry-argocd")).toMatchObject({ principalArn: role });
    expect(present(world)).toEqual(keys);
  });
});

describe("a role that has an access of its own on the spoke", () => {
  const named = (arn: string) =>
    [
      ["an administrator", { admins: [arn] }, "spec.admins"],
      [
        "a member of a team",
        { teams: [{ name: "shop", namespaces: ["shop"], members: [{ role: arn, access: "edit" }] }] },
        "spec.teams",
      ],
    ] as const;
  const entriesOf = (world: World, arn: string) =>
    [...world.live.values()].filter(
      ({ object }) => object.kind === "AccessEntry" && at(object.spec, "forProvider", "principalArn") === arn,
    ).length;

  test.for([
    ...named(elsewhereRole).map((row) => [...row, elsewhere, elsewhereRole] as const),
    ...named(spokesRole).map((row) => [...row, onHub, spokesRole] as const),
  ])("is refused as Argo CD's: %s", ([, change, place, hub, arn]) => {
    const options = { hub, settings: given("shop") };
    // A Spoke that is new with it.
    const world = settled(spoke(change), options);
    expect(world.condition("SpecAccepted")).toMatchObject({
      reason: "RoleOfArgocd",
      message: expect.stringContaining(`${arn} in ${place} is the role of Argo CD`),
    });
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
    // Argo CD is there, and stays; the other access doesn't come.
    const running = ready({}, options);
    running.change(change);
    running.settle();
    expect(running.condition("SpecAccepted")).toMatchObject({ reason: "RoleOfArgocd" });
    expect([present(running), entriesOf(running, arn)]).toEqual([keys, 1]);
    // The other access is there, and stays; Argo CD doesn't come.
    const taken = ready(change, { hub, settings: settings() });
    taken.settings = given("shop");
    taken.settle();
    expect(taken.condition("SpecAccepted")).toMatchObject({ reason: "RoleOfArgocd" });
    expect([present(taken), entriesOf(taken, arn)]).toEqual([[], 1]);
    taken.change({ admins: [], teams: [] });
    expect(taken.settle().ready).toBe(true);
    expect([present(taken), entriesOf(taken, arn)]).toEqual([keys, 1]);
  });

  test("is nobody's business where Argo CD acts on no spokes", () => {
    expect(present(ready({ admins: [elsewhereRole] }, { hub: elsewhere, settings: settings() }))).toEqual([]);
  });
});

describe("the Composition's input", () => {
  test.for([[[]], [["kube-system"]], [["flux-system"]], [["Shop"]], [["shop-"]]])(
    "is refused when Argo CD would get the namespaces %j",
    ([namespaces = []]) => expect(() => given(...namespaces)).toThrow(/argocd\.namespaces/),
  );
});
