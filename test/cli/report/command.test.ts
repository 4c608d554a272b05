import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { run } from "../../../cli/report/command.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { cluster, fleetOf, serving } from "../list/support.ts";
import { rejectsLines } from "../support/wrong-lines.ts";
import { app, hubSync, now, source, spoke, unready } from "./support.ts";

let hub: KubeObject[];
let onBlue: KubeObject[];
let written: string;
beforeEach(() => {
  const works = (kind: string, apiVersion: string, namespace: string | undefined, name: string, type: string) => ({
    ...{ apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } },
    status: { conditions: [{ type, status: "True" }] },
  });
  hub = [
    ...[spoke("blue"), cluster("blue"), hubSync, source("gitops-system", "main", "a")],
    works("Deployment", "apps/v1", "crossplane-system", "crossplane", "Available"),
    works("Function", "pkg.crossplane.io/v1", undefined, "function-spoke", "Healthy"),
  ];
  onBlue = [app("shop", "b")];
  written = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    written += String(text);
    return true;
  });
  vi.spyOn(console, "log").mockImplementation((text) => {
    written += `${text}\n`;
  });
});
afterEach(() => vi.restoreAllMocks());

const its = {
  connect: async () => fleetOf(hub, { blue: serving(onBlue) }),
  now: () => now,
  signal: () => new AbortController().signal,
  outputs: async () => ({ sealingCertificates: {}, activeSealingKeys: {} }),
};
const folder = mkdtempSync(join(tmpdir(), "fleet-report-"));

describe("fleet report", () => {
  test("says in one line that all is well", async () => {
    expect(await run([], its)).toBe(0);
    expect(written).toBe("fleet pilot: All is well. 1 of 1 spoke Ready, 1 of 1 application well.\n");
  });

  test("lists what is not well, with what to do, and exits with 1", async () => {
    onBlue = [app("shop", "b", { conditions: [unready("it fails")] })];
    expect(await run([], its)).toBe(1);
    expect(written).toMatch(
      /^failing {2}application shop on blue {2}1h {5}payments {2}fleet why blue\/shop {2}.*it fails$/m,
    );
  });

  test("asks only the hub with --offline", async () => {
    onBlue = [app("shop", "b", { conditions: [unready("it fails")] })];
    expect(await run(["--offline", "-o", "json"], its)).toBe(0);
    expect(JSON.parse(written)).toMatchObject({ fleet: "pilot", spokes: [{ name: "blue", state: "well" }] });
  });

  test("writes the page in the place of an older one, and leaves nothing else", async () => {
    const file = join(folder, "fleet.html");
    writeFileSync(file, "older");
    expect(await run(["--html", file], its)).toBe(0);
    expect(readFileSync(file, "utf8")).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(readdirSync(folder)).toEqual(["fleet.html"]);
    expect(written).toBe(`${file}: All is well. 1 of 1 spoke Ready, 1 of 1 application well.\n`);
  });

  test("names what its reader has no right to, shows the rest, and does not say that all was seen", async () => {
    const fleet = fleetOf(hub, { blue: serving(onBlue) });
    const list = (...asked: Parameters<typeof fleet.hub.list>) =>
      asked[0].plural === "gitrepositories" || asked[0].plural === "clusters"
        ? Promise.reject(new Error(`the context hub can't list ${asked[0].plural}: forbidden`))
        : fleet.hub.list(...asked);
    const limited = { ...its, connect: async () => ({ ...fleet, hub: { ...fleet.hub, list } }) };
    expect(await run(["-o", "json"], limited)).toBe(1);
    expect(JSON.parse(written)).toMatchObject({
      notSeen: [
        "the context hub can't list gitrepositories: forbidden",
        "the context hub can't list clusters: forbidden",
      ],
      spokes: [{ name: "blue" }],
    });
  });

  test("shows a person without any rights nothing", async () => {
    const refusing = { ...serving([]), list: () => Promise.reject(new Error("the context hub can't list spokes")) };
    const connect = async () => ({ ...fleetOf([]), hub: refusing });
    await expect(run(["--html", join(folder, "none.html")], { ...its, connect })).rejects.toThrow("can't list spokes");
    expect(readdirSync(folder)).not.toContain("none.html");
  });

  test("serves the page at an address that it prints, until the signal", async () => {
    const controller = new AbortController();
    const running = run(["--serve", "0"], { ...its, now: Date.now, signal: () => controller.signal });
    await vi.waitUntil(() => written.includes("http://"));
    const address = written.trim();
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/$/);
    const answer = await fetch(address);
    expect(await answer.text()).toContain("<title>Fleet pilot</title>");
    controller.abort();
    expect(await running).toBe(0);
    await expect(fetch(address)).rejects.toThrow();
  });
});

rejectsLines("fleet report", {
  "--html {nowhere}/fleet.html --serve http -o json": [
    "--html: names a file in a folder that does not exist | {nowhere}/fleet.html | a file in a folder that exists | correct the path",
    "--serve: is not a port | http | a number from 0 to 65535 | name one, or 0 for any that is free",
    "--html: is one form of the report, and another one is given too | --html, --serve, --output | one of --html, --serve and --output | leave the others out",
  ],
  "--html {folder} --serve 70000": [
    "--html: names a folder | {folder} | a file in a folder that exists | correct the path",
    "--serve: is not a port | 70000 | a number from 0 to 65535 | name one, or 0 for any that is free",
    "--html: is one form of the report, and another one is given too | --html, --serve | one of --html, --serve and --output | leave the others out",
  ],
  "--html fleet.html --serve 0 -o json":
    "--html: is one form of the report, and another one is given too | --html, --serve, --output | one of --html, --serve and --output | leave the others out",
});
