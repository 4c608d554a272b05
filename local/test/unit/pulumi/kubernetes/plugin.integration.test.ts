/** The plugin process without a cluster, and in front of a small HTTP server that records what it is asked. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PropertyMap, Secret, UNKNOWN } from "../../../../pulumi/framework/values.ts";
import { type Plugin, startPlugin } from "../harness.ts";

const CONFIG_MAP = "kubernetes:core/v1:ConfigMap";
const SECRET = "kubernetes:core/v1:Secret";

interface Call {
  readonly method: string;
  readonly url: URL;
  readonly authorization: string;
  readonly body: string;
}

let folder: string;
let server: Server;
let plugin: Plugin;
let unconfigured: Plugin;
let mutable: Plugin;
const calls: Call[] = [];
const stored = new Map<string, object>();

/** Only what the tests below ask for: discovery of one version, get and apply of single objects. */
function answer(call: Call): [status: number, body: object] {
  const { pathname } = call.url;
  if (pathname === "/api/v1")
    return [
      200,
      {
        resources: [
          { name: "configmaps", kind: "ConfigMap", namespaced: true },
          { name: "secrets", kind: "Secret", namespaced: true },
        ],
      },
    ];
  if (call.method === "GET") {
    const found = stored.get(pathname);
    return found ? [200, found] : [404, { reason: "NotFound", message: `${pathname} not found` }];
  }
  if (call.method === "PATCH") {
    const object = JSON.parse(call.body) as object;
    stored.set(pathname, object);
    return [200, object];
  }
  if (call.method === "DELETE") {
    stored.delete(pathname);
    return [200, {}];
  }
  return [500, { message: `not expected: ${call.method} ${pathname}` }];
}

function kubeconfig(port: number): string {
  const script = path.join(folder, "credential.sh");
  const credential = {
    kind: "ExecCredential",
    apiVersion: "client.authentication.k8s.io/v1",
    status: { token: "token-from-exec" },
  };
  writeFileSync(script, `#!/bin/sh\necho run >> ${folder}/runs\necho '${JSON.stringify(credential)}'\n`, {
    mode: 0o700,
  });
  const exec = { apiVersion: credential.apiVersion, command: script, interactiveMode: "Never" };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: { exec } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "from-context" } }],
    "current-context": "x",
  });
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "kubernetes-plugin-"));
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const call = {
        method: request.method ?? "",
        url: new URL(request.url ?? "", "http://x"),
        authorization: request.headers.authorization ?? "",
        body: Buffer.concat(chunks).toString("utf8"),
      };
      calls.push(call);
      const [status, body] = answer(call);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  [plugin, mutable, unconfigured] = await Promise.all([
    startPlugin("local/pulumi/kubernetes/main.ts"),
    startPlugin("local/pulumi/kubernetes/main.ts"),
    startPlugin("local/pulumi/kubernetes/main.ts", { HOME: "/nonexistent", KUBECONFIG: "" }),
  ]);
  await plugin.configure({ kubeconfig: kubeconfig((server.address() as AddressInfo).port) });
  await mutable.configure({
    kubeconfig: kubeconfig((server.address() as AddressInfo).port),
    enableConfigMapMutable: "true",
  });
  await unconfigured.configure({});
});
afterAll(async () => {
  await Promise.all([plugin.close(), mutable.close(), unconfigured.close()]);
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

test("an object is applied server-side: strict, under its own manager, with the exec plugin's token asked for once", async () => {
  const made = await Promise.all(
    ["a", "b", "c"].map((name) =>
      plugin.create(CONFIG_MAP, { metadata: { name }, data: { key: "1", empty: null } }, { name }),
    ),
  );
  expect(made.map(({ id }) => id)).toEqual(["from-context/a", "from-context/b", "from-context/c"]);
  const applies = calls.filter(({ method }) => method === "PATCH");
  expect(applies).toHaveLength(3);
  for (const { url, authorization } of applies) {
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ fieldValidation: "Strict", force: "false" });
    expect(url.searchParams.get("fieldManager")).toMatch(/^pulumi-kubernetes-[0-9a-f]{8}$/);
    expect(authorization).toBe("Bearer token-from-exec");
  }
  expect(JSON.parse(applies[0]?.body ?? "")).toMatchObject({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "from-context" },
  });
  expect(applies[0]?.body).not.toContain("empty");
  expect(readFileSync(path.join(folder, "runs"), "utf8")).toBe("run\n");
});

test("a deletion names the object that it means, by its uid", async () => {
  const state = { metadata: { name: "gone", namespace: "n", uid: "u-1" } };
  stored.set("/api/v1/namespaces/n/configmaps/gone", state);
  await plugin.delete(CONFIG_MAP, "n/gone", state);
  const deletion = calls.find(({ method }) => method === "DELETE");
  expect(JSON.parse(deletion?.body ?? "")).toEqual({ propagationPolicy: "Foreground", preconditions: { uid: "u-1" } });
});

test.each([
  ["orphan", "Orphan"],
  ["Background", "Background"],
])("the annotation deletionPropagationPolicy %s has the API server delete with %s", async (policy, sent) => {
  const annotations = { "pulumi.com/deletionPropagationPolicy": policy };
  const state = { metadata: { name: `gone-${policy}`, namespace: "n", uid: "u-1", annotations } };
  stored.set(`/api/v1/namespaces/n/configmaps/gone-${policy}`, state);
  await plugin.delete(CONFIG_MAP, `n/gone-${policy}`, state);
  const deletion = calls.filter(({ method }) => method === "DELETE").at(-1);
  expect(JSON.parse(deletion?.body ?? "")).toMatchObject({ propagationPolicy: sent });
});

test("a deletionPropagationPolicy that the API server does not have is refused before anything is created", async () => {
  const metadata = { name: "a", annotations: { "pulumi.com/deletionPropagationPolicy": "later" } };
  expect((await plugin.check(CONFIG_MAP, "it", { metadata })).failures).toEqual([
    expect.stringContaining("got 'later', allowed are Foreground, Background, Orphan"),
  ]);
});

test("an object that somebody else made is refused, nothing is applied", async () => {
  stored.set("/api/v1/namespaces/n/configmaps/theirs", {
    metadata: { name: "theirs", managedFields: [{ manager: "kubectl", operation: "Update" }] },
  });
  const before = calls.length;
  const theirs = { metadata: { name: "theirs", namespace: "n" } };
  await expect(plugin.create(CONFIG_MAP, theirs)).rejects.toThrow(
    /ConfigMap n\/theirs already exists .*Import it \(id n\/theirs\)/,
  );
  expect(calls.slice(before).map(({ method }) => method)).not.toContain("PATCH");
});

test("without a cluster a preview shows the inputs, and real operations say what is missing", async () => {
  const inputs = { metadata: { name: "a" }, data: { key: "1" } };
  expect((await unconfigured.create(CONFIG_MAP, inputs, { preview: true })).outputs).toMatchObject(inputs);
  await expect(unconfigured.create(CONFIG_MAP, inputs)).rejects.toThrow(
    /there is no kubeconfig: \/nonexistent\/.kube\/config does not exist/,
  );
});

test("names are generated, kept, and replaced by those that the program gives; data replaces unless the provider says otherwise", async () => {
  const { inputs } = await plugin.check(CONFIG_MAP, "settings", { metadata: { namespace: "n" } });
  expect(inputs["metadata"]).toEqual({
    namespace: "n",
    name: "settings-abababa",
    annotations: { "pulumi.com/autonamed": "true" },
  });
  const again = await plugin.check(CONFIG_MAP, "renamed", { metadata: { namespace: "n" } }, inputs);
  expect(again.inputs["metadata"]).toEqual(inputs["metadata"]);
  const change = { ...inputs, data: { a: "1" } };
  expect(await plugin.diff(CONFIG_MAP, "n/x", inputs, change)).toMatchObject({
    properties: { data: "add-replace" },
    deleteBeforeReplace: false,
  });
  const changed = await mutable.diff(CONFIG_MAP, "n/x", inputs, change);
  expect(changed.properties).toEqual({ data: "add" });
  const named = { metadata: { namespace: "n", name: "fixed" } };
  expect(await plugin.diff(CONFIG_MAP, "n/fixed", named, { ...named, data: { a: "1" } })).toMatchObject({
    deleteBeforeReplace: true,
  });
  const moved = { metadata: { namespace: "m", name: "fixed" } };
  expect(await plugin.diff(CONFIG_MAP, "n/fixed", named, moved)).toMatchObject({
    properties: { "metadata.namespace": "update-replace" },
    deleteBeforeReplace: false,
  });
});

test("autonaming that the project configures is refused where a name would be generated, and nowhere else", async () => {
  const check = (metadata: PropertyMap, olds = {}) => plugin.check(CONFIG_MAP, "it", { metadata }, olds, "proposed");
  await expect(check({})).rejects.toThrow(/do not implement pulumi:autonaming.* give the resource an explicit name/);
  expect((await check({ name: "own" })).failures).toEqual([]);
  const { inputs } = await plugin.check(CONFIG_MAP, "it", { metadata: {} });
  expect((await check({}, inputs)).inputs["metadata"]).toEqual(inputs["metadata"]);
});

test("Secret data is secret from the check on, unknown metadata is left alone", async () => {
  const { inputs } = await plugin.check(SECRET, "s", { metadata: { name: "s" }, stringData: { a: "x" } });
  expect(inputs["stringData"]).toEqual(new Secret({ a: "x" }));
  const { inputs: unknown, failures } = await plugin.check(SECRET, "s", { metadata: UNKNOWN });
  expect(unknown["metadata"]).toBe(UNKNOWN);
  expect(failures).toEqual([]);
});

test("what the plugin does not have is refused: lists, patches, client-side charts, wrong kinds, annotations, client-side apply", async () => {
  for (const token of [
    "kubernetes:core/v1:PodList",
    "kubernetes:core/v1:ServicePatch",
    "kubernetes:helm.sh/v4:Chart",
    "kubernetes:yaml/v2:ConfigGroup",
  ])
    await expect(plugin.check(token, "it", {})).rejects.toThrow(`does not implement the resource type ${token}`);
  expect((await plugin.check(CONFIG_MAP, "it", { kind: "Secret" })).failures).toEqual([
    expect.stringContaining("kind: got 'Secret'"),
  ]);
  expect((await plugin.check(CONFIG_MAP, "it", { metadata: { generateName: "x-" } })).failures[0]).toContain(
    "metadata.generateName",
  );
  for (const name of ["pulumi.com/replaceUnready", "pulumi.com/patchFieldManager"])
    expect((await plugin.check(CONFIG_MAP, "it", { metadata: { annotations: { [name]: "true" } } })).failures).toEqual([
      expect.stringContaining(`does not implement the annotation ${name}`),
    ]);
  const operators = { "pulumi.com/reconciliation-request": "now" };
  expect((await plugin.check(CONFIG_MAP, "it", { metadata: { annotations: operators } })).failures).toEqual([]);
  expect((await plugin.checkConfig({ enableServerSideApply: "false" })).failures[0]).toContain("allowed is true");
  expect((await plugin.checkConfig({ renderYamlToDirectory: "x" })).failures[0]).toContain(
    "does not implement 'renderYamlToDirectory'",
  );
});

test("another cluster replaces the provider's resources, another token doesn't", async () => {
  const config = (server: string, token: string) => ({
    kubeconfig: JSON.stringify({
      clusters: [{ name: "c", cluster: { server } }],
      users: [{ name: "u", user: { token } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  });
  const change = (server: string, token: string) => plugin.diffConfig(config("https://a", "1"), config(server, token));
  expect((await change("https://a", "2")).properties).toEqual({ kubeconfig: "update" });
  expect((await change("https://b", "1")).properties).toEqual({ kubeconfig: "update-replace" });
  expect((await plugin.diffConfig(config("https://a", "1"), { kubeconfig: UNKNOWN })).properties).toEqual({
    kubeconfig: "update",
  });
});
