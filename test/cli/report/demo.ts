import type { Look } from "../../../cli/list/rows.ts";
import type { Report } from "../../../cli/report/model.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { ago, app, commit, hubFacts, now, report, source, spoke, unready } from "./support.ts";

/** Fleets for a browser: one as people have it, and one of a thousand spokes. */

const at = (ring: string, digit: string): string => `ring/${ring}@sha1:${commit(digit)}`;

const inRing = (name: string, ring: string, digit: string, spec: object = {}, more: object = {}): Spoke =>
  spoke(
    name,
    { environment: "prod", ring, tenant: "shops", ...spec },
    { rollout: { ring, revision: at(ring, digit) }, ...more },
  );

const keys = [
  {
    name: "sealing key of dev, generation 2",
    scope: "dev",
    made: ago(60 * 24 * 40),
    ends: ago(-60 * 24 * 325),
    use: "seals",
  },
  {
    name: "sealing key of prod, generation 1",
    scope: "prod",
    made: ago(60 * 24 * 345),
    ends: ago(-60 * 24 * 20),
    use: "seals",
  },
  { name: "deploy key of green", scope: undefined, made: ago(60 * 24 * 200), ends: undefined, use: "in use" },
];

const capacity =
  "NodeGroup red-nodes: InsufficientInstanceCapacity in eu-west-1b (name more types in spec.nodes.instanceTypes, or set spec.nodes.capacityType to ON_DEMAND)";

/** @param cart what the application cart on blue says; undefined where it is well */
export function demo(
  cart: string | undefined = "health check failed: Deployment/cart/cart status: 'InProgress'",
): Report {
  const failing =
    cart === undefined ? {} : { conditions: [unready(cart, 47)], lastAttemptedRevision: `main@sha1:${commit("e")}` };
  const spokes = [
    spoke("sandbox", { teams: [{ name: "shop-team", namespaces: ["shop", "cart"], members: [] }] }),
    spoke(
      "amber",
      { kubernetesVersion: "1.36" },
      {
        phase: "Upgrading",
        message: "upgrade to 1.36: the control plane is being updated",
        conditions: [unready("upgrading", 12)],
      },
    ),
    inRing("blue", "early", "b", { teams: [{ name: "shop-team", namespaces: ["shop", "cart"], members: [] }] }),
    inRing("green", "early", "b"),
    inRing(
      "red",
      "late",
      "a",
      { region: "eu-west-1" },
      { phase: "Failing", message: capacity, conditions: [unready(capacity, 190)] },
    ),
    inRing("teal", "late", "a", { region: "us-east-1" }),
  ];
  const shop = (digit: string) => ({ objects: [app("shop", digit), app("cart", "d")] });
  const looks: Readonly<Record<string, Look>> = {
    ...{ sandbox: shop("c"), amber: shop("c"), red: shop("d"), green: shop("d") },
    blue: { objects: [app("shop", "d"), app("cart", "d", failing)] },
    teal: { unreached: "it did not answer within 5 s" },
  };
  const sources = [
    source("gitops-system", "main", "b"),
    source("gitops-system-ring-early", "ring/early", "b"),
    source("gitops-system-ring-late", "ring/late", "b"),
  ];
  return report(hubFacts(spokes, { sources }), looks, keys);
}

/** A thousand spokes with three applications each; every fiftieth has one that fails. */
export function thousand(): Report {
  const spokes = Array.from({ length: 1000 }, (_, index) =>
    inRing(`spoke-${index}`, index % 10 === 0 ? "early" : "late", "b", { tenant: `tenant-${index % 20}` }),
  );
  const failing = { conditions: [unready("health check failed: Deployment/shop/shop status: 'Failed'", 30)] };
  const look = (index: number): Look => ({
    objects: [app("shop", "d", index % 50 === 0 ? failing : {}), app("cart", "d"), app("search", "d")],
  });
  const looks = Object.fromEntries(spokes.map(({ metadata: { name } }, index) => [name, look(index)]));
  return report(hubFacts(spokes), looks, keys, now);
}
