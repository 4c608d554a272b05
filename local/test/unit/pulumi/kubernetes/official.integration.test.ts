/** What the official plugin reads in a state, in the states that the stand-in writes; and the other way round. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PropertyMap, Secret } from "../../../../pulumi/framework/values.ts";
import { resourceNames } from "../../../../pulumi/kubernetes/official.ts";
import { type Plugin, partialState, startPlugin } from "../harness.ts";

const CONFIG_MAP = "kubernetes:core/v1:ConfigMap";
const SECRET = "kubernetes:core/v1:Secret";
const NAMESPACE = "kubernetes:core/v1:Namespace";
const RELEASE = "kubernetes:helm.sh/v3:Release";

let folder: string;
let server: Server;
let plugin: Plugin;
const stored = new Map<string, PropertyMap>();

/** Discovery, get and apply of single objects; a namespace never gets ready. */
function answer(method: string, pathname: string, body: string): [status: number, body: object] {
  const kinds = { configmaps: "ConfigMap", secrets: "Secret", namespaces: "Namespace" };
  const resources = Object.entries(kinds).map(([name, kind]) => ({ name, kind, namespaced: kind !== "Namespace" }));
  if (pathname === "/api/v1") return [200, { resources }];
  if (method === "GET") {
    const found = stored.get(pathname);
    return found ? [200, found] : [404, { reason: "NotFound", message: `${pathname} not found` }];
  }
  const object = JSON.parse(body) as { metadata: PropertyMap; data?: object; stringData?: Record<string, string> };
  const { stringData = {}, ...rest } = object;
  const encoded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  const data = { ...rest.data, ...(Object.fromEntries(encoded) as PropertyMap) };
  const live = { ...rest, data, metadata: { ...rest.metadata, uid: "u-1", managedFields: [] } };
  stored.set(pathname, live);
  return [200, live];
}

/** A helm with one release, of chart "demo", that is there once it was upgraded; it never is when the file `fails` is there. */
const HELM = `#!/bin/sh
cd "$(dirname "$0")"
case "$1 $2" in
  version*) echo v4.2.4;;
  upgrade*) echo "$@" > arguments; login=$(sed -n 's/.*--registry-config \\([^ ]*\\).*/\\1/p' arguments); [ -z "$login" ] || cp -p "$login" login
    cat > values; touch made; [ ! -e fails ] || { echo "Error: not ready" >&2; exit 1; };;
  "get metadata") [ -e made ] || { echo "Error: release: not found" >&2; exit 1; }
    echo '{"name":"rel","namespace":"n","chart":"demo","version":"1.2.3","appVersion":"7","revision":1,"status":"'$([ -e fails ] && echo failed || echo deployed)'"}';;
  "get values") echo '{"password":"a-release-password"}';;
  "get manifest") printf -- '---\\napiVersion: apps/v1\\nkind: Deployment\\nmetadata: { name: web, namespace: n }\\n---\\napiVersion: v1\\nkind: Service\\nmetadata: { name: web }\\n';;
esac
`;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "official-state-"));
  writeFileSync(path.join(folder, "helm"), HELM, { mode: 0o755 });
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { pathname } = new URL(request.url ?? "", "http://x");
      const [status, body] = answer(request.method ?? "", pathname, Buffer.concat(chunks).toString("utf8"));
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  plugin = await startPlugin("local/pulumi/kubernetes/main.ts", { FLEET_HELM: path.join(folder, "helm") });
  const { port } = server.address() as AddressInfo;
  const cluster = { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
  await plugin.configure({
    kubeconfig: JSON.stringify({
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "from-context" } }],
      "current-context": "x",
    }),
  });
});
afterAll(async () => {
  await plugin.close();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function made(token: string, inputs: PropertyMap) {
  const checked = await plugin.check(token, "it", inputs);
  expect(checked.failures).toEqual([]);
  return { inputs: checked.inputs, ...(await plugin.create(token, checked.inputs)) };
}

describe("an object", () => {
  const settings = { metadata: { name: "settings", namespace: "n" }, data: { a: "1" } };

  test("has its inputs and the API version in which it was made in the state, after create, update and refresh", async () => {
    const { id, inputs, outputs } = await made(CONFIG_MAP, settings);
    const kept = {
      __initialApiVersion: "v1",
      __fieldManager: expect.stringMatching(/^pulumi-kubernetes-[0-9a-f]{8}$/),
    };
    expect(inputs).toEqual({ ...settings, apiVersion: "v1", kind: "ConfigMap" });
    expect(outputs).toMatchObject({ ...kept, __inputs: inputs });
    const changed = { ...inputs, data: { a: "2" } };
    const updated = await plugin.update(CONFIG_MAP, id, { inputs, outputs }, changed);
    expect(updated).toMatchObject({ ...kept, __inputs: changed, data: { a: "2" } });
    stored.set("/api/v1/namespaces/n/configmaps/settings", { ...updated, data: { a: "3" } });
    const read = await plugin.read(CONFIG_MAP, id, updated, changed);
    expect(read.inputs).toMatchObject({ data: { a: "3" } });
    expect(read.outputs).toMatchObject({ ...kept, __inputs: read.inputs, data: { a: "3" } });
  });

  test("that came from an older API version keeps the name of that version, and the field manager of the official plugin", async () => {
    const older = { ...settings, metadata: { name: "older", namespace: "n" } };
    const { id, inputs, outputs } = await made(CONFIG_MAP, older);
    const state = { ...outputs, __initialApiVersion: "v1beta1", __fieldManager: "pulumi-kubernetes-0a1b2c3d" };
    const kept = { __initialApiVersion: "v1beta1", __fieldManager: "pulumi-kubernetes-0a1b2c3d" };
    const old = { inputs, outputs: state };
    expect(await plugin.update(CONFIG_MAP, id, old, { ...inputs, data: { a: "2" } })).toMatchObject(kept);
    expect((await plugin.read(CONFIG_MAP, id, state, inputs)).outputs).toMatchObject(kept);
  });

  test("with secrets has no more in plain text than before", async () => {
    const { outputs } = await made(SECRET, { metadata: { name: "s", namespace: "n" }, stringData: { key: "a-value" } });
    expect(outputs["__inputs"]).toMatchObject({ stringData: new Secret({ key: "a-value" }) });
    const mixed = await made(CONFIG_MAP, {
      metadata: { name: "mixed", namespace: "n" },
      data: { open: "1", hidden: new Secret("a-value") },
    });
    expect(mixed.outputs["__inputs"]).toMatchObject({ data: { open: "1", hidden: new Secret("a-value") } });
    const read = await plugin.read(CONFIG_MAP, mixed.id, mixed.outputs, mixed.inputs);
    expect(read.outputs["__inputs"]).toMatchObject({ data: { open: "1", hidden: new Secret("a-value") } });
  });

  test("that is not ready is recorded with them too", async () => {
    const inputs = {
      metadata: { name: "slow", annotations: { label: new Secret("a-value") } },
      apiVersion: "v1",
      kind: "Namespace",
    };
    const failed = partialState(
      await plugin.create(NAMESPACE, inputs, { timeout: 1 }).catch((error: unknown) => error),
    );
    expect(failed?.outputs).toMatchObject({ __initialApiVersion: "v1", __inputs: inputs });
  });
});

describe("a release", () => {
  const program = {
    name: "rel",
    namespace: "n",
    chart: "demo",
    version: "1.2.3",
    repositoryOpts: { repo: "https://charts.example" },
    values: { password: new Secret("a-release-password") },
    atomic: true,
    cleanupOnFail: true,
    createNamespace: false,
    maxHistory: 5,
    timeout: 600,
  };
  /** What `Check` of the official plugin gives for the program, without the SDK's own `compat`: pulumi-kubernetes 4.32, `Release` in helm_release.go. */
  const official = {
    ...program,
    repositoryOpts: {
      repo: "https://charts.example",
      caFile: "",
      certFile: "",
      keyFile: "",
      password: "",
      username: "",
    },
    allowNullValues: false,
    dependencyUpdate: false,
    description: "",
    devel: false,
    disableCRDHooks: false,
    disableOpenapiValidation: false,
    disableWebhooks: false,
    forceUpdate: false,
    keyring: "",
    lint: false,
    postrender: "",
    recreatePods: false,
    renderSubchartNotes: false,
    replace: false,
    resetValues: false,
    reuseValues: false,
    skipAwait: false,
    skipCrds: false,
    verify: false,
    waitForJobs: false,
  };

  test("has the inputs, outputs and bookkeeping of the official plugin", async () => {
    const { inputs, id, outputs } = await made(RELEASE, { ...program, compat: "true" });
    expect(inputs).toEqual(official);
    expect(id).toBe("n/rel");
    const recorded = {
      ...official,
      __inputs: new Secret({ ...official, values: { password: "a-release-password" } }),
      status: {
        name: "rel",
        namespace: "n",
        chart: "demo",
        version: "1.2.3",
        appVersion: "7",
        revision: 1,
        status: "deployed",
      },
      resourceNames: { "Deployment.apps/apps/v1": ["n/web"], "Service/v1": ["web"] },
    };
    const plain = (map: PropertyMap) => ({ ...map, __inputs: revealed(map["__inputs"]) });
    expect(plain(outputs)).toEqual(plain(recorded));
    expect(outputs["__inputs"]).toBeInstanceOf(Secret);
    const read = await plugin.read(RELEASE, id, outputs, inputs);
    expect(read.inputs).toEqual(official);
    expect(plain(read.outputs)).toEqual(plain(recorded));
    expect(read.outputs["__inputs"]).toBeInstanceOf(Secret);
  });

  test("keeps the password of its chart repository secret, in what is checked, changed and read", async () => {
    const repositoryOpts = { repo: "https://charts.example", username: "u", password: new Secret("a-chart-password") };
    const { inputs } = await plugin.check(RELEASE, "it", { ...program, repositoryOpts }, official);
    const outputs = await plugin.update(RELEASE, "n/rel", { inputs: official, outputs: {} }, inputs);
    const read = await plugin.read(RELEASE, "n/rel", outputs, inputs);
    const shown = (value: unknown): string =>
      JSON.stringify(value, (_, member) => (member instanceof Secret ? "secret" : member));
    for (const [name, state] of Object.entries({ inputs, outputs, readInputs: read.inputs, readOutputs: read.outputs }))
      expect(shown(state), name).not.toContain("a-chart-password");
  });

  test("that the official plugin made, or an earlier stand-in, is not changed by this one", async () => {
    const { inputs } = await plugin.check(RELEASE, "it", program, official);
    expect((await plugin.diff(RELEASE, "n/rel", official, inputs)).properties).toEqual({});
    expect((await plugin.diff(RELEASE, "n/rel", { ...program, compat: "true" }, inputs)).properties).toEqual({});
    const { name: _, ...unnamed } = program;
    expect((await plugin.check(RELEASE, "it", unnamed, { ...official, name: "it-0a1b2c3d" })).inputs["name"]).toBe(
      "it-0a1b2c3d",
    );
    expect((await plugin.check(RELEASE, "it", unnamed)).inputs["name"]).toMatch(/^it-[0-9a-f]{7}$/);
  });

  test("that failed is recorded with its inputs, secret as a whole", async () => {
    writeFileSync(path.join(folder, "fails"), "");
    try {
      const inputs = { ...official, atomic: false };
      const error: unknown = await plugin
        .update(RELEASE, "n/rel", { inputs, outputs: {} }, inputs)
        .catch((reason: unknown) => reason);
      expect(partialState(error)?.outputs["__inputs"]).toBeInstanceOf(Secret);
    } finally {
      rmSync(path.join(folder, "fails"));
    }
    expect(existsSync(path.join(folder, "made"))).toBe(true);
  });

  test("of a chart at oci:// is fetched with its credential, from a file of this user's and in no argument", async () => {
    const at = (name: string) => path.join(folder, name);
    const upgraded = async (repositoryOpts: PropertyMap) => {
      rmSync(at("login"), { force: true });
      const inputs = { ...official, chart: "oci://registry.example:5000/charts/demo", repositoryOpts };
      await plugin.update(RELEASE, "n/rel", { inputs, outputs: {} }, inputs);
      return readFileSync(at("arguments"), "utf8");
    };
    const credential = { username: "fleet", password: new Secret("t0p: s3cret") };
    const withOne = await upgraded({ ...official.repositoryOpts, ...credential, repo: "" });
    expect(withOne).toMatch(
      /^upgrade rel oci:\/\/registry\.example:5000\/charts\/demo --registry-config \S+ --version 1\.2\.3 /,
    );
    expect(withOne).not.toContain("s3cret");
    const auth = Buffer.from("fleet:t0p: s3cret").toString("base64");
    expect(JSON.parse(readFileSync(at("login"), "utf8"))).toEqual({ auths: { "registry.example:5000": { auth } } });
    expect(statSync(at("login")).mode & 0o777).toBe(0o600);
    // Without both the user's own login counts, as with the official plugin.
    expect(await upgraded({ ...official.repositoryOpts, username: "fleet", repo: "" })).not.toContain(
      "--registry-config",
    );
  });

  test("without a wait has no timeout of its own; one without a namespace is in the context's", async () => {
    const { timeout: _, namespace: __, ...rest } = program;
    expect((await plugin.check(RELEASE, "it", { ...rest, skipAwait: true })).inputs).toMatchObject({
      timeout: 0,
      namespace: "from-context",
    });
    expect((await plugin.check(RELEASE, "it", rest)).inputs).toMatchObject({ timeout: 300 });
  });
});

/** The value with no secret marks in it. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return revealed(value.value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, revealed(member)]));
}

test("names of a release's objects are sorted, each once, under group, group and version", () => {
  const object = (apiVersion: string, kind: string, name: string, namespace = "") =>
    JSON.stringify({ apiVersion, kind, metadata: { name, ...(namespace ? { namespace } : {}) } });
  const manifest = [
    object("v1", "Service", "b", "n"),
    "",
    object("v1", "Service", "a", "n"),
    object("v1", "Service", "a", "n"),
    object("rbac.authorization.k8s.io/v1", "ClusterRole", "reader"),
  ].join("\n---\n");
  expect(resourceNames(manifest)).toEqual({
    "Service/v1": ["n/a", "n/b"],
    "ClusterRole.rbac.authorization.k8s.io/rbac.authorization.k8s.io/v1": ["reader"],
  });
});
