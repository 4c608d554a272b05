import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { plannedApps } from "../../../cli/app/folder.ts";
import { run } from "../../../cli/app/onboard.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { request } from "../support/apps.ts";
import { inNewCases } from "../support/cases.ts";
import { certificate, knownHosts, root } from "../support/fleet.ts";
import { printed } from "../support/receivers.ts";

const { at, dev } = await inNewCases("fleet-onboard-clusters-", "gitops-workloads");
const prod = await certificate();

const system = () => join(dirname(at.checkout), "gitops-system");
const spoke = (name: string, spec: string, fleet = "fleet"): void => {
  const folder = join(system(), "spokes", fleet, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "spoke.yaml"), `kind: Spoke\nspec: { ${spec} }\n`);
};
beforeEach(() => {
  cpSync(join(root, "repos/gitops-system/templates"), join(system(), "templates"), { recursive: true });
  spoke("blue", "environment: dev, tenant: payments");
  spoke("green", "environment: prod, tenant: payments");
});

const folder = (cluster: string, app = "payment-app") => join(at.checkout, "clusters", cluster, app);
const source = (cluster: string) => {
  const [, sync] = parseAllDocuments(readFileSync(join(folder(cluster), "sync.yaml"), "utf8")).map((each) =>
    each.toJS(),
  );
  return sync.spec.path;
};

const onboard = (...argv: string[]) =>
  printed(
    run,
    at.kubeseal.program,
    [
      ...["payment-app", "--tenant", "payments", "--repository-url", request.repositoryUrl],
      ...["--fleet", "fleet", "--repository", at.checkout, ...argv],
    ],
    { certificate: dev, "known-hosts": knownHosts },
  );

describe("fleet onboard on several clusters", () => {
  test("writes a folder for each, with the overlay of its environment and a deploy key of its own", async () => {
    const said = await onboard("--cluster", "blue", "--cluster", "green", "--cluster", "blue");
    expect([source("blue"), source("green")]).toEqual(["./overlays/dev", "./overlays/prod"]);
    const keys = at.kubeseal.calls().map(({ input }) => fromBase64(input.data)["identity.pub"] ?? "");
    expect(keys).toHaveLength(2);
    expect(keys.map((key) => key.split(" ")[2])).toEqual(["payment-app@blue", "payment-app@green"]);
    expect(keys[0]?.split(" ")[1]).not.toBe(keys[1]?.split(" ")[1]);
    for (const key of keys) expect(said).toContain(key);
    expect(said).toContain("Register these read-only deploy keys, one for each cluster,");
    expect(said).toContain(
      'git add clusters/blue/payment-app clusters/green/payment-app && git commit -m "Onboard payment-app on blue, green"',
    );
    for (const cluster of ["blue", "green"])
      for (const name of parse(readFileSync(join(folder(cluster), "kustomization.yaml"), "utf8")).resources)
        expect(existsSync(join(folder(cluster), name)), `${cluster}/${name}`).toBe(true);
  });

  test("seals for each by what its Spoke says: its environment's key, or its own", async () => {
    spoke("amber", "environment: dev, sealing: cluster");
    const own = await certificate();
    at.fleet = { ...at.fleet, certificates: { dev, prod, "cluster-amber": own } };
    const facts = { blue: ["dev", "environment"], green: ["prod", "environment"], amber: ["dev", "cluster"] } as const;
    const requests = Object.entries(facts).map(([cluster, [environment, sealing]]) => ({
      ...{ ...request, cluster, environment, sealing },
    }));
    await plannedApps(at.checkout, requests, async () => at.fleet, {}, system());
    expect(at.kubeseal.calls().map(({ certificate: used }) => used)).toEqual([dev, prod, own]);
  });

  test("takes the same overlay on all where a path is given", async () => {
    await onboard("--cluster", "blue", "--cluster", "green", "--path", "./overlays/eu");
    expect([source("blue"), source("green")]).toEqual(["./overlays/eu", "./overlays/eu"]);
  });

  test("says once how pushes are told, for each of them, and seals a token for each", async () => {
    const said = await onboard("--cluster", "blue", "--cluster", "green", "--git-receiver", "github");
    expect(said.match(/add a webhook of type/g)).toHaveLength(1);
    expect(said).toContain("For each of blue, green:");
    const tokens = at.kubeseal.calls().flatMap(({ input }) => fromBase64(input.data)["token"] ?? []);
    expect(new Set(tokens).size).toBe(2);
  });

  test("writes nothing when one is wrong, and tells what is wrong with all of them", async () => {
    mkdirSync(folder("green"), { recursive: true });
    const unreachable = () => Promise.reject(new Error("asked the fleet"));
    const on = (cluster: string, more = {}) => ({ ...request, cluster, ...more });
    const wrong = [on("blue", { tenant: "The Team" }), on("green", { tenant: "The Team" }), on("Red")];
    const message = await plannedApps(at.checkout, wrong, unreachable).catch((error: Error) => error.message);
    expect(message).toMatch(/^3 problems in fleet onboard, nothing was changed/);
    expect(message).toContain("--tenant: is not a name");
    expect(message).toMatch(/<app>: already has a folder on this cluster\n +got: +.*clusters\/green\/payment-app/);
    expect(message).toMatch(/--cluster: is not the name of a spoke\n +got: +Red/);
    expect(existsSync(folder("blue"))).toBe(false);
  });

  test("tells of every cluster what the fleet shows, before anything is sealed", async () => {
    const requests = ["none", "blue", "nowhere"].map((cluster) => ({ ...request, cluster, environment: "prod" }));
    const message = await plannedApps(at.checkout, requests, async () => at.fleet, {}, system()).catch(
      (error: Error) => error.message,
    );
    expect(message).toMatch(/^3 problems[\s\S]*got: +none[\s\S]*spoke blue[\s\S]*got: +nowhere/);
    expect(at.kubeseal.calls()).toEqual([]);
  });

  test("names every environment that can't be sealed for", async () => {
    const requests = ["staging", "prod"].map((environment) => ({ ...request, cluster: environment, environment }));
    await expect(plannedApps(at.checkout, requests, async () => at.fleet)).rejects.toThrow(
      /no sealing key of scope staging[\s\S]*no sealing key of scope prod/,
    );
  });

  test("leaves nothing behind when sealing for the last one fails", async () => {
    const broken = { ...at.fleet, certificates: { dev, prod: "no certificate" } };
    const requests = [request, { ...request, cluster: "green", environment: "prod" }];
    await expect(plannedApps(at.checkout, requests, async () => broken)).rejects.toThrow();
    expect(existsSync(join(at.checkout, "clusters"))).toBe(false);
  });
});

describe("fleet onboard on one cluster", () => {
  test("needs no environment where its Spoke says it", async () => {
    const said = await onboard("--cluster", "green");
    expect(source("green")).toBe("./overlays/prod");
    expect(said).toMatch(/kubectl --context [a-z]+-spoke-green -n payment-app get /);
    expect(said).toContain("Register this read-only deploy key at");
    expect(said).toContain('git commit -m "Onboard payment-app on green"');
  });

  test("takes the environment of the fleet that is named, where two fleets have a spoke of that name", async () => {
    spoke("blue", "environment: prod", "other");
    await onboard("--cluster", "blue");
    expect(source("blue")).toBe("./overlays/dev");
  });
});
