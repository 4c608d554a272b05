import { describe, expect, test } from "vitest";
import { callsForPass, serveHealth } from "../../../ack/controller.ts";
import { served, services } from "../../../ack/definitions.ts";
import { definitionOf, finalizerOf, pathOf } from "../../../ack/kinds/kind.ts";
import { queue } from "../../../ack/kinds/queue.ts";
import { table } from "../../../ack/kinds/table.ts";
import type { AckObject } from "../../../ack/object.ts";
import { readSettings } from "../../../ack/settings.ts";
import { controllerTags } from "../../../ack/tags.ts";

const least = [
  "--aws-region=eu-central-1",
  "--enable-carm=false",
  "--enable-cross-namespace=false",
  "--feature-gates=ReadOnlyResources=false",
];

describe("the flags of a controller", () => {
  test("are upstream's, with its defaults", () => {
    expect(readSettings(["sqs", ...least])).toEqual({
      ...{ service: "sqs", region: "eu-central-1", isDebug: false, resourceTags: [], namespaces: [] },
      ...{ deletionPolicy: "delete", resyncMs: 36_000_000, concurrency: 1, mayAdopt: true },
    });
    const more = [
      "--watch-namespace=a,b",
      "--reconcile-resources=Table",
      "--reconcile-default-resync-seconds=60",
      "--reconcile-resource-resync-seconds=Table=30",
      "--reconcile-default-max-concurrent-syncs=4",
      "--log-level=debug",
      "--deletion-policy=retain",
    ];
    expect(readSettings(["dynamodb", ...least, ...more])).toMatchObject({
      ...{ namespaces: ["a", "b"], resyncMs: 30_000, concurrency: 4, isDebug: true, deletionPolicy: "retain" },
    });
  });

  test.each([
    [["s3", ...least], "dynamodb or sqs, got s3"],
    [[...least], "dynamodb or sqs, got none"],
    [["sqs", ...least.slice(1)], "--aws-region=: allowed is a region"],
    [["sqs", ...least, "--enable-carm=true"], "--enable-carm=true: allowed is false"],
    [["sqs", least[0] as string, "--enable-carm=false"], "--enable-cross-namespace=true: allowed is false"],
    [["sqs", ...least, "--feature-gates=IAMRoleSelector=true"], "IAMRoleSelector=true"],
    [["sqs", ...least, "--feature-gates=ResourceAdoption=maybe"], "<name>=true or <name>=false"],
    [["sqs", ...least, "--reconcile-resources=Table"], "allowed is Queue"],
    [["sqs", ...least, "--reconcile-resource-resync-seconds=Table=1"], "allowed is Queue=<seconds>"],
    [["sqs", ...least, "--reconcile-default-resync-seconds=0"], "a whole number from 1"],
    [["sqs", ...least, "--deletion-policy=orphan"], "delete or retain"],
    [["sqs", ...least, "--resource-tags=a"], "<key>=<value>"],
    [["sqs", ...least, "--watch-selectors=a=b"], "--watch-selectors"],
  ])("%j are refused", (args, message) => expect(() => readSettings(args)).toThrow(message));
});

test("each kind is known by the names of its definition", () => {
  for (const kind of [table, queue]) {
    expect(definitionOf(kind)).toBe(served[kind.service]);
    const { group, names } = definitionOf(kind).spec;
    expect(pathOf(kind)).toBe(`/apis/${group}/v1alpha1/${names.plural}`);
    expect(pathOf(kind, "shop", "a")).toBe(`/apis/${group}/v1alpha1/namespaces/shop/${names.plural}/a`);
    expect(finalizerOf(kind)).toBe(`finalizers.${kind.service}.services.k8s.aws/${names.kind}`);
  }
  expect([table.service, queue.service]).toEqual(services);
});

test("a change of the specification calls for a pass, one of annotations or of the status does not", () => {
  const object = (generation: number, more: object = {}) =>
    ({ metadata: { uid: "1", generation, ...more } }) as unknown as AckObject;
  expect(callsForPass(undefined, object(1))).toBe(true);
  expect(callsForPass(object(1), object(2))).toBe(true);
  expect(callsForPass(object(1), object(1, { annotations: { a: "b" } }))).toBe(false);
  expect(callsForPass(object(1), object(1, { uid: "2" }))).toBe(true);
});

test("tags stand for facts of the object, and those that stand for nothing fall away", () => {
  const object = {
    kind: "Queue",
    metadata: { name: "events", namespace: "shop", labels: { "app.kubernetes.io/managed-by": "Helm" } },
  } as unknown as AckObject;
  const wanted = [
    "a=%CONTROLLER_SERVICE%-%CONTROLLER_VERSION%",
    "b=%K8S_RESOURCE_KIND%/%K8S_RESOURCE_NAME%",
    "c=%MANAGED_BY%",
    "d=%KRO_VERSION%",
  ];
  expect(controllerTags(wanted, object, "sqs", "v1")).toEqual({ a: "sqs-v1", b: "Queue/events", c: "Helm" });
});

test("kubelet's probes are answered until the program stops", async () => {
  const stop = new AbortController();
  const port = await serveHealth(stop.signal, 0);
  const asked = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  expect([await asked("/healthz"), await asked("/readyz"), await asked("/metrics")]).toEqual([200, 200, 404]);
  stop.abort();
});
