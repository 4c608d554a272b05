import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { apiOf } from "../../../cli/kubernetes/api.ts";
import { kubeConfig } from "../../../cli/kubernetes/config.ts";
import { connect } from "../../../cli/kubernetes/fleet.ts";
import { run } from "../../../cli/list/command.ts";
import { readHub } from "../../../cli/why/read.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { cluster, spoke } from "../list/support.ts";
import { FakeHub } from "../rollouts/support/hub.ts";
import { root } from "../support/fleet.ts";

let hub: FakeHub;
beforeEach(async () => {
  hub = new FakeHub();
  await hub.start();
  vi.stubEnv("KUBECONFIG", hub.kubeconfig);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await hub.stop();
  hub.remove();
});

const place = { name: "spoke blue", ifForbidden: "ask for rights", otherwise: "try again" };
const spokes = { apiVersion: "fleet.internal/v1alpha1", plural: "spokes", namespace: "spokes" };

test("a signal ends a request to an API server that does not answer", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const config = new KubeConfig();
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  config.loadFromClusterAndUser({ name: "blue", server, skipTLSVerify: true }, { name: "me", token: "of-the-test" });
  const api = apiOf(config, place, AbortSignal.timeout(50));
  await expect(api.list(spokes)).rejects.toThrow(/^spoke blue can't list spokes.fleet.internal: .*\. try again$/);
  silent.closeAllConnections();
  silent.close();
});

test("events are read over all pages, as the API server wrote them", async () => {
  for (const name of ["a", "b", "c"])
    hub.objects.push({
      ...{ apiVersion: "v1", kind: "Event", metadata: { name, namespace: "spokes" } },
      ...{ lastTimestamp: "2026-11-25T09:00:00Z", type: "Warning", involvedObject: {}, reason: "x", message: "y" },
    } as (typeof hub.objects)[number]);
  const found = await apiOf(kubeConfig(undefined), place).list({
    apiVersion: "v1",
    plural: "events",
    namespace: "spokes",
  });
  expect(found.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(["Event a", "Event b", "Event c"]);
});

test("a hub without rights is explained, with the guide that has them", async () => {
  hub.forbidden.add("spokes");
  await expect(run([])).rejects.toThrow(
    /^the context hub can't list spokes.fleet.internal: 403 .*docs\/guides\/clusters.md#reach-a-cluster-with-kubectl has the rights that it takes$/,
  );
});

test("the rights in the guide let fleet list, kubeconfig and why read the hub", async () => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const blue = spoke("blue") as Spoke;
  hub.objects.push(blue, cluster("blue"));
  const fleet = connect(undefined);
  await run([], {
    connect: async () => ({ ...fleet, reach: () => Promise.reject(new Error("no spoke here")) }),
    now: Date.now,
    signal: () => AbortSignal.abort(),
    interval: 1,
    width: undefined,
  });
  await readHub(fleet.hub, blue);
  const guide = readFileSync(join(root, "docs", "guides", "clusters.md"), "utf8");
  const [, manifests = ""] = /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(guide) ?? [];
  const roles = parseAllDocuments(manifests)
    .map((document) => document.toJS())
    .filter(({ kind }) => kind === "Role");
  const isAllowed = (asked: string) => {
    const [verb = "", what = "", name, , within] = asked.split(" ");
    const [group = "", plural = ""] = what.split("/");
    return roles.some(
      ({ metadata, rules }) =>
        metadata.namespace === (name === "in" ? asked.split(" ")[3] : within) &&
        rules.some(
          ({ apiGroups, resources, verbs }: { apiGroups: string[]; resources: string[]; verbs: string[] }) =>
            apiGroups.includes(group) &&
            (resources.includes(plural) || resources.includes("*")) &&
            verbs.includes(verb),
        ),
    );
  };
  expect([...hub.asked].filter((asked) => !isAllowed(asked))).toEqual([]);
});
