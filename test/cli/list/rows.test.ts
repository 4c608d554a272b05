import { describe, expect, test } from "vitest";
import { type Look, rowOf } from "../../../cli/list/rows.ts";
import { changesOf, tableOf } from "../../../cli/list/table.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { flux, no, platform, spoke } from "./support.ts";

const row = (parts: Parameters<typeof spoke>[1] = {}, look: Look = { objects: platform }) =>
  rowOf(spoke("blue", parts) as Spoke, look);
const app = (name: string, more: object = {}) => flux("Kustomization", name, name, more);
const broken = { status: { conditions: [no("health check failed: Deployment/shop/shop status: 'InProgress'")] } };

describe("a row of fleet list", () => {
  test("counts an application for each namespace of its own, and none of the platform's", () => {
    const objects = [...platform, app("shop"), flux("HelmRelease", "shop", "cache"), app("payment-app")];
    expect(row({}, { objects })).toMatchObject({ applications: { ready: 2, total: 2 }, isWell: true });
    expect(row()).toMatchObject({ applications: { ready: 0, total: 0 }, isWell: true, message: "the spoke runs" });
  });

  test("names a broken application of a spoke that is Ready", () => {
    const objects = [...platform, app("payment-app"), app("shop", broken), flux("HelmRelease", "shop", "cache")];
    expect(row({}, { objects })).toMatchObject({
      ...{ applications: { ready: 1, total: 2 }, isReady: true, isWell: false },
      message: "Kustomization shop: health check failed: Deployment/shop/shop status: 'InProgress'",
    });
  });

  test("names what keeps the spoke from reading its applications", () => {
    const [tools] = platform;
    const workloads = flux("Kustomization", "flux-system", "workloads", {
      status: { conditions: [no("no such path")] },
    });
    expect(row({}, { objects: [tools ?? workloads, workloads] })).toMatchObject({
      ...{ isWell: false, message: "Kustomization workloads: no such path" },
    });
  });

  test("counts an application that takes a commit while the one before goes on", () => {
    const status = {
      conditions: [{ type: "Ready", status: "Unknown", reason: "Progressing", message: "reconciling" }],
      history: [{ lastReconciledStatus: "ReconciliationSucceeded" }],
    };
    expect(row({}, { objects: [app("shop", { status })] })).toMatchObject({ applications: { ready: 1, total: 1 } });
  });

  test("lets the Spoke speak first when it is not Ready", () => {
    const status = { phase: "Failing", message: "nodes: no capacity", conditions: [no("Unready")] };
    expect(row({ status }, { objects: [app("shop", broken)] })).toMatchObject({
      ...{ message: "nodes: no capacity", isReady: false, isWell: false },
    });
  });

  test("says what it is upgraded to until the nodes run it as well", () => {
    const versions = (kubernetesVersion: string, nodesKubernetesVersion: string) =>
      row({ spec: { kubernetesVersion: "1.36" }, status: { kubernetesVersion, nodesKubernetesVersion } });
    expect(versions("1.35", "1.35")).toMatchObject({ kubernetesVersion: "1.35", nextVersion: "1.36" });
    expect(versions("1.36", "1.35")).toMatchObject({ kubernetesVersion: "1.35", nextVersion: "1.36" });
    expect(versions("1.36", "1.36")).toMatchObject({ kubernetesVersion: "1.36", nextVersion: undefined });
  });

  test("shows no next version of a spoke that the hub doesn't upgrade because someone rolled it back", () => {
    const conditions = [{ type: "VersionCurrent", status: "False", reason: "RolledBack" }];
    const status = { kubernetesVersion: "1.35", nodesKubernetesVersion: "1.35", conditions };
    expect(row({ spec: { kubernetesVersion: "1.36" }, status }).nextVersion).toBeUndefined();
  });

  test("of a spoke that was not reached says nothing of applications, and is not well", () => {
    expect(row({}, { unreached: "i/o timeout" })).toMatchObject({ applications: undefined, isWell: false });
    expect(row({}, {})).toMatchObject({ applications: undefined, isWell: true });
  });
});

const now = Date.parse("2026-11-25T09:00:00Z");
const blue = row({}, { objects: [...platform, app("shop")] });
const teal = { ...row({ spec: { ring: "canary" } }, { unreached: "i/o timeout" }), name: "teal" };

describe("the table of fleet list", () => {
  test("has a line for each spoke, and below it why one was not reached", () => {
    expect(tableOf([blue, teal], now)).toBe(`\
NAME  ENVIRONMENT  TENANT    RING    KUBERNETES  APPLICATIONS  READY  PHASE  AGE  MESSAGE
blue  dev          payments  -       1.35        1 of 1        True   Ready  5d   the spoke runs
teal  dev          payments  canary  1.35        ?             True   Ready  5d   the spoke runs

teal was not reached: i/o timeout
`);
  });

  test("has no column for rings that nobody has, and cuts its lines to the terminal only where there is one", () => {
    const long = { ...blue, message: "x ".repeat(200) };
    expect(tableOf([long], now, 80).split("\n")).toEqual([
      "NAME  ENVIRONMENT  TENANT    KUBERNETES  APPLICATIONS  READY  PHASE  AGE  MESSA…",
      "blue  dev          payments  1.35        1 of 1        True   Ready  5d   x x x…",
      "",
    ]);
    expect(tableOf([long], now)).toContain(`x${" x".repeat(190)}`);
  });

  test("says so when there is no spoke", () => expect(tableOf([], now)).toBe("no spokes\n"));

  test("shows again only what changed: rows, reasons and spokes that are gone, and not the time that passes", () => {
    expect(changesOf([blue, teal], [blue, teal], now + 60_000)).toEqual([]);
    expect(changesOf([blue, teal], [{ ...blue, isReady: false, phase: "Failing" }], now)).toEqual([
      "blue  dev          payments  1.35        1 of 1        False  Failing  5d   the spoke runs",
      "teal is gone",
    ]);
    expect(changesOf([blue], [blue, teal], now).at(-1)).toBe("teal was not reached: i/o timeout");
  });
});

test("what a tenant writes does not act on the terminal of whoever looks", () => {
  const sly = { status: { conditions: [no("\u001b[2Jall is well\u0007")] } };
  const shown = tableOf([row({}, { objects: [...platform, app("shop", sly)] })], 0);
  expect(shown).toContain("all is well");
  expect(shown).not.toMatch(/[^\P{Cc}\n]/u);
});
