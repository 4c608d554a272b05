import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkFunctionDigest, checkReferences, fetched } from "../../../cli/doctor/references.ts";
import type { Fetch } from "../../../cli/upstream/http.ts";
import { projectReferences } from "../../../cli/upstream/project.ts";
import { root } from "../support/fleet.ts";

const today = "2026-11-22";
const { references } = projectReferences(root);

/** Every registry and chart repository at once: it has what the project names, but for what `lacks` says. */
const everywhere =
  (lacks: (url: string) => number | undefined = () => undefined): Fetch =>
  async (url) => {
    const status = lacks(url);
    if (status !== undefined) return new Response("", { status });
    if (url.endsWith("/index.yaml")) {
      const charts = references.flatMap((reference) => (reference.kind === "chart" ? [reference] : []));
      const entries = Object.fromEntries(
        charts.map(({ name, version }) => [name, [{ version, urls: [`${name}.tgz`] }]]),
      );
      return Response.json({ entries });
    }
    const manifests = ["amd64", "arm64"].map((architecture) => ({ platform: { os: "linux", architecture } }));
    return Response.json({ manifests });
  };

const look = (fetch: Fetch, settings = {}, encrypted: readonly string[] = []) =>
  checkReferences({ settings, encrypted, embedded: false }, { root, fetch, pauses: [], today });

describe("fleet doctor, packages", () => {
  test("are ok when every chart, image and package of the project's files is there", async () => {
    const [summary, ...rest] = await look(everywhere());
    expect(summary).toMatchObject({ status: "ok", message: expect.stringMatching(/^(\d+) of \1 can be pulled$/) });
    for (const { status } of rest) expect(status).toBe("note");
  });

  test("that are gone are wrong, with the place that names them; a server that does not answer leaves them unknown", async () => {
    const image = references.find(({ kind }) => kind === "package");
    const path = image && "reference" in image ? image.reference.replace(/^[^/]+\//, "").split(":")[0] : "";
    const gone = await look(everywhere((url) => (url.includes(`/${path}/`) ? 404 : undefined)));
    const found = gone.filter(({ status }) => status === "wrong");
    expect(found.length).toBeGreaterThan(0);
    // The function's package is an image of the cluster inventory, too.
    const same = references.filter((each) => "reference" in each && each.reference.includes(`/${path}:`));
    expect(found.map(({ name }) => name.split(" ")[0]).sort()).toEqual(same.map(({ kind }) => kind).sort());
    for (const { name, todo } of found) {
      expect(name).toContain(path);
      expect(todo).toContain(same.find(({ kind }) => name.startsWith(`${kind} `))?.origins[0]);
    }
    const silent = await look(everywhere((url) => (url.includes(`/${path}/`) ? 503 : undefined)));
    expect(silent.filter(({ status }) => status === "unchecked")).toHaveLength(found.length);
    expect(silent.filter(({ status }) => status === "wrong")).toEqual([]);
  });

  test("are not called ok where no server answers at all", async () => {
    const findings = await look(everywhere(() => 503));
    expect(findings.filter(({ status }) => status === "unchecked").length).toBeGreaterThan(5);
    expect(findings.filter(({ status }) => status === "ok")).toEqual([]);
  });

  test("are charts of the stack's mirror where it has one", async () => {
    const charts = fetched(references, { chartsRegistry: "https://charts.example" }).filter(
      ({ kind }) => kind === "chart",
    );
    expect(charts.length).toBeGreaterThan(0);
    for (const chart of charts) expect(chart).toMatchObject({ repository: "https://charts.example" });
    const asked: string[] = [];
    const noting: Fetch = async (url, init) => {
      asked.push(new URL(url).host);
      return everywhere()(url, init);
    };
    await look(noting, { chartsRegistry: "https://charts.example" });
    expect(asked).toContain("charts.example");
    expect(asked).not.toContain("charts.crossplane.io");
  });

  test("are only the charts on an embedded cloud, which brings images and packages itself", async () => {
    const asked: string[] = [];
    const onlyCharts: Fetch = async (url, init) => {
      asked.push(new URL(url).host);
      return new URL(url).host === "charts.example" ? everywhere()(url, init) : new Response("", { status: 503 });
    };
    const settings = { chartsRegistry: "https://charts.example" };
    const found = await checkReferences(
      { settings, encrypted: [], embedded: true },
      { root, fetch: onlyCharts, pauses: [], today },
    );
    expect(new Set(asked)).toEqual(new Set(["charts.example"]));
    expect(found[0]).toMatchObject({ status: "ok", name: "charts" });
    expect(found.slice(1).every(({ status }) => status === "note")).toBe(true);
    expect(found[1]).toMatchObject({ name: "images, packages", todo: expect.stringContaining("check:upstream") });
  });

  test("that an embedded cloud lacks are wrong where every fleet needs them, and worth a note where it may leave them out", async () => {
    const none: Fetch = async () => Response.json({ entries: {} });
    const settings = { chartsRegistry: "https://charts.example" };
    const found = await checkReferences(
      { settings, encrypted: [], embedded: true },
      { root, fetch: none, pauses: [], today },
    );
    const statusOf = (chart: string) => found.find(({ name }) => name.startsWith(`chart ${chart} `))?.status;
    expect(["flux2", "sealed-secrets", "kyverno", "metrics-server"].map(statusOf)).toEqual([
      ...["wrong", "wrong", "note", "note"],
    ]);
  });

  test("are not what the project's workflows use, which no cluster fetches", () => {
    const found = fetched(references, {});
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(["chart", "image", "package"]));
    expect(found.flatMap(({ origins }) => origins).join("\n")).not.toContain(".github");
  });

  test("are asked for at the stack's mirrors, and upstream for none that a mirror has", async () => {
    const asked: string[] = [];
    const noting: Fetch = async (url, init) => {
      asked.push(url);
      return everywhere()(url, init);
    };
    const found = await look(noting, {
      chartsRegistry: "oci://registry.example/charts",
      imagesRegistry: "registry.example/mirror",
      packagesRegistry: "registry.example/mirror",
      functionPackage: "registry.example/function-spoke",
    });
    const packages = references.filter(({ kind }) => kind === "package");
    expect(packages.length).toBeGreaterThan(5);
    expect(
      asked.filter((url) => url.startsWith("https://registry.example/v2/mirror/xpkg.crossplane.io/")),
    ).toHaveLength(packages.length - 1);
    expect(asked.filter((url) => /^https:\/\/(xpkg|charts)\./.test(url))).toEqual([]);
    expect(found).toContainEqual(
      expect.objectContaining({
        status: "note",
        name: "images of charts",
        todo: expect.stringContaining("mirrors.md"),
      }),
    );
  });

  test("ask for the function by the digest of the stack", async () => {
    const digest = `sha256:${"1".repeat(64)}`;
    const asked: string[] = [];
    const noting: Fetch = async (url, init) => {
      asked.push(url);
      return everywhere()(url, init);
    };
    await look(noting, { functionPackage: `registry.example/function-spoke@${digest}` });
    const manifests = asked.filter((url) => url.includes("/function-spoke/manifests/"));
    expect(new Set(manifests)).toEqual(new Set([`https://registry.example/v2/function-spoke/manifests/${digest}`]));
  });

  test.each([
    ["wrong", "ghcr.io/acme/function-spoke"],
    ["note", "111111111111.dkr.ecr.eu-west-1.amazonaws.com/function-spoke"],
  ])("are %s if the stack names the function without a digest: %s", (status, functionPackage) => {
    expect(checkFunctionDigest({ functionPackage })).toMatchObject([
      {
        status,
        name: "functionPackage",
        message: expect.stringContaining("has no digest"),
        todo: expect.stringContaining(`pulumi config set functionPackage ${functionPackage}@sha256:<digest>`),
      },
    ]);
    const pinned = `${functionPackage}@sha256:${"1".repeat(64)}`;
    expect(checkFunctionDigest({ functionPackage: pinned })).toMatchObject([{ status: "ok" }]);
  });

  test("ask for the function where the stack has it from; one behind a pull secret is told of, and not taken for missing", async () => {
    const asked: string[] = [];
    const guarded: Fetch = async (url, init) => {
      asked.push(url);
      return everywhere((each) => (each.includes("/private/function-spoke/") ? 403 : undefined))(url, init);
    };
    const settings = { functionPackage: "registry.example/private/function-spoke" };
    const without = (await look(guarded, settings)).filter(({ name }) => name.includes("private/function-spoke"));
    const publish = expect.stringContaining("publish it (docs/guides/signatures.md#the-functions-package)");
    expect(without).toMatchObject([
      { status: "wrong", todo: publish },
      { status: "wrong", todo: publish },
    ]);
    const withOne = await look(guarded, settings, ["pullSecret"]);
    const noted = withOne.filter(({ name }) => name.includes("private/function-spoke"));
    expect(noted).toMatchObject([
      { status: "note", todo: publish },
      { status: "note", todo: publish },
    ]);
    expect(asked.filter((url) => url.includes("function-spoke") && !url.includes("private"))).toEqual([]);
  });

  test.each(["oci://private.example/charts", "https://private.example/charts"])(
    "of a private chart mirror at %s are told of when the stack has its password, and else must be seen to",
    async (chartsRegistry) => {
      const status = chartsRegistry.startsWith("oci") ? 401 : 403;
      const guarded = everywhere((url) => (url.includes("private.example/") ? status : undefined));
      const charts = async (encrypted: string[]) =>
        (await look(guarded, { chartsRegistry }, encrypted)).filter(({ name }) => name.startsWith("chart "));
      const withOne = await charts(["chartsPassword"]);
      expect(withOne.length).toBeGreaterThan(3);
      for (const found of withOne)
        expect(found).toMatchObject({
          status: "note",
          message: expect.stringContaining("chartsPassword is not tried"),
        });
      const without = await charts(["pullSecret"]);
      expect(without).toHaveLength(withOne.length);
      for (const { status: told, todo } of without) {
        expect(["wrong", "unchecked"]).toContain(told);
        expect(todo).toContain("set chartsPassword");
      }
      const gone = everywhere((url) => (url.includes("private.example/") ? 404 : undefined));
      const missing = (await look(gone, { chartsRegistry }, ["chartsPassword"])).filter(
        ({ status: told }) => told === "wrong",
      );
      expect(missing).toHaveLength(withOne.length);
    },
  );

  test.each(["image", "package"] as const)("that a pull secret opens are told of: each %s", async (kind) => {
    const one = references.find((reference) => reference.kind === kind && !reference.origins[0]?.startsWith(".github"));
    const path = one && "reference" in one ? one.reference.replace(/^[^/]+\//, "").split(":")[0] : "";
    const guarded = everywhere((url) => (url.includes(`/${path}/`) ? 401 : undefined));
    const statuses = async (encrypted: string[]) =>
      (await look(guarded, {}, encrypted)).filter(({ name }) => name.includes(`${path}:`)).map(({ status }) => status);
    expect(new Set(await statuses([]))).toEqual(new Set(["wrong"]));
    expect(new Set(await statuses(["pullSecret"]))).toEqual(new Set(["note"]));
  });

  test("that are images in Amazon ECR are told of: nodes log in to it by their role", async () => {
    const ecr = "111111111111.dkr.ecr.eu-central-1.amazonaws.com/podinfo:6.9.2";
    const folder = mkdtempSync(join(tmpdir(), "doctor-references-"));
    try {
      for (const name of ["Pulumi.yaml", "stacks", "repos"])
        cpSync(join(root, name), join(folder, name), { recursive: true });
      const file = join(folder, "repos/payment-app-manifests/base/deployment.yaml");
      writeFileSync(file, readFileSync(file, "utf8").replace(/(image: )\S+$/m, `$1${ecr}`));
      const fetch = everywhere((url) => (url.includes(".dkr.ecr.") ? 401 : undefined));
      const stack = { settings: {}, encrypted: [], embedded: false };
      const found = await checkReferences(stack, { root: folder, fetch, pauses: [], today });
      expect(found.filter(({ name }) => name.includes(ecr))).toMatchObject([{ status: "note" }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
