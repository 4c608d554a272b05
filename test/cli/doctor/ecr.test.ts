import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkEcr, ecrLogins, loginFiles } from "../../../cli/doctor/ecr.ts";
import type { Run } from "../../../cli/doctor/process.ts";
import { checkReferences } from "../../../cli/doctor/references.ts";
import type { Fetch } from "../../../cli/upstream/http.ts";
import { root } from "../support/fleet.ts";

const host = "111111111111.dkr.ecr.eu-west-1.amazonaws.com";
const settings = {
  chartsRegistry: `oci://${host}/mirror/charts`,
  imagesRegistry: `${host}/mirror`,
  packagesRegistry: `${host}/mirror`,
  functionPackage: `${host}/mirror/ghcr.io/example/function-spoke`,
};
const stack = { settings, region: "eu-west-1" };

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "doctor-ecr-"));
  mkdirSync(join(home, ".docker"));
});
afterAll(() => rmSync(home, { recursive: true }));

describe("fleet doctor, the login of pulumi to Amazon ECR", () => {
  const file = () => join(home, ".docker", "config.json");
  const found = () => checkEcr(stack, {}, home);

  test("is missing where no file has it, with the command that makes it", () => {
    rmSync(file(), { force: true });
    expect(found()).toMatchObject([
      {
        status: "wrong",
        name: "login of pulumi",
        todo: expect.stringContaining(
          `aws ecr get-login-password --region eu-west-1 | docker login --username AWS --password-stdin ${host}`,
        ),
      },
    ]);
    writeFileSync(file(), '{"auths":{"ghcr.io":{}}}');
    expect(found()).toMatchObject([{ status: "wrong" }]);
  });

  test.each([
    ["a password", { auths: { [host]: { auth: "x" } } }],
    ["a password under a URL", { auths: { [`https://${host}`]: {} } }],
    ["a credential helper", { credHelpers: { [host]: "ecr-login" } }],
  ])("is there as %s", (_name, config) => {
    writeFileSync(file(), JSON.stringify(config));
    expect(found()).toMatchObject([{ status: "ok", name: "login of pulumi" }]);
  });

  test("is read from the files that the Kubernetes provider reads, not from helm's own", () => {
    expect(loginFiles({}, "/h")).toEqual(["/h/.config/helm/registry.json", "/h/.docker/config.json"]);
    expect(
      loginFiles({ PULUMI_K8S_HELM_REGISTRY_CONFIG_PATH: "/r", DOCKER_CONFIG: "/d", HELM_REGISTRY_CONFIG: "/x" }, "/h"),
    ).toEqual(["/r", "/d/config.json"]);
  });

  test("is asked of no other registry", () => {
    expect(checkEcr({ ...stack, settings: { chartsRegistry: "oci://registry.example/charts" } }, {}, home)).toEqual([]);
  });
});

test("fleet doctor names registries in regions that spokes can't reach", () => {
  const keys = (change: object) =>
    checkEcr({ ...stack, ...change }, {}, home)
      .filter(({ message }) => message.includes("spokes may not pull"))
      .map(({ name }) => name);
  expect(keys({})).toEqual([]);
  expect(keys({ region: "us-east-1" })).toEqual(Object.keys(settings));
  expect(keys({ region: "us-east-1", settings: { ...settings, spokeRegions: ["eu-west-1"] } })).toEqual([]);
});

describe("fleet doctor, what is in Amazon ECR", () => {
  const aws =
    (code: number, calls: string[][] = []): Run =>
    async (_program, args) => {
      calls.push([...args]);
      return { code, stdout: "p4ssw0rd\n", stderr: code === 0 ? "" : "AccessDeniedException: no" };
    };
  const authorization = `Basic ${Buffer.from("AWS:p4ssw0rd").toString("base64")}`;
  const manifests = ["amd64", "arm64"].map((architecture) => ({ platform: { os: "linux", architecture } }));
  /** ECR as it answers: 401 without a password, 404 for what it lacks, 403 for what the caller may not read. */
  const registry =
    (missing = "", forbidden = ""): Fetch =>
    async (url, init) => {
      const given = (init.headers as Record<string, string> | undefined)?.["authorization"];
      if (!url.includes(host)) return new Response("", { status: 503 });
      if (given !== authorization)
        return new Response("", { status: 401, headers: { "www-authenticate": `Basic realm="https://${host}/"` } });
      if (missing !== "" && url.includes(missing)) return new Response("", { status: 404 });
      if (forbidden !== "" && url.includes(forbidden)) return new Response("", { status: 403 });
      return Response.json({ manifests });
    };
  const look = async (run: Run, fetch: Fetch) => {
    const { login, findings } = ecrLogins(run);
    const options = { root, fetch, pauses: [], today: "2026-11-22", login };
    const references = await checkReferences({ settings, encrypted: [], embedded: false }, options);
    return [...(await findings()), ...references].filter(({ name }) => name.includes(host));
  };

  test("is read with the caller's password, which is asked for once", async () => {
    const calls: string[][] = [];
    expect(await look(aws(0, calls), registry())).toEqual([]);
    expect(calls).toEqual([["ecr", "get-login-password", "--region", "eu-west-1"]]);
  });

  test("is named where it is missing: charts, packages, images and the composition function", async () => {
    for (const path of [
      "/mirror/charts/flux2/",
      "/mirror/xpkg.crossplane.io/crossplane-contrib/provider-aws-eks/",
      "/mirror/ghcr.io/example/function-spoke/",
    ]) {
      const found = await look(aws(0), registry(path));
      expect(
        found.map(({ status }) => status),
        path,
      ).toContain("wrong");
      for (const { name } of found) expect(name.replaceAll(" of oci://", "")).toContain(path.split("/").at(-2));
    }
  });

  test("is not called missing where the caller may not read it", async () => {
    const path = "/mirror/charts/flux2/";
    expect(await look(aws(0), registry("", path))).toMatchObject([{ status: "note" }]);
  });

  test("is unknown where AWS gives no password, with what AWS said", async () => {
    const [first, ...rest] = await look(aws(254), registry());
    expect(first).toMatchObject({ status: "unchecked", message: expect.stringContaining("AccessDeniedException") });
    expect(new Set(rest.map(({ status }) => status))).toEqual(new Set(["note"]));
  });
});
