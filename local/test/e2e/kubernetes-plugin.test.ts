/** The kubernetes stand-in against a real API server with controllers, and the real helm. */
import { execFile, spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PropertyMap, plainMap, Secret, textOf } from "../../pulumi/framework/values.ts";
import { ensureToolchain, type Toolchain } from "../../toolchain/index.ts";
import { type ControlPlane, startControlPlane } from "../support/control-plane.ts";
import { makeProject } from "../support/project.ts";
import { type Plugin, partialState, startPlugin } from "../unit/pulumi/harness.ts";

const NAMESPACE = "kubernetes:core/v1:Namespace";
const CONFIG_MAP = "kubernetes:core/v1:ConfigMap";
const SECRET = "kubernetes:core/v1:Secret";
const SERVICE = "kubernetes:core/v1:Service";
const DEPLOYMENT = "kubernetes:apps/v1:Deployment";
const CRD = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition";
const THING = "kubernetes:example.com/v1:Thing";
const RELEASE = "kubernetes:helm.sh/v3:Release";

let toolchain: Toolchain;
let cluster: ControlPlane;
let plugin: Plugin;
const kubectl = async (...args: string[]) => {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfigFile };
  return (await promisify(execFile)(toolchain.bin("kubectl"), args, { env })).stdout;
};

beforeAll(async () => {
  toolchain = await ensureToolchain();
  cluster = await startControlPlane(toolchain);
  plugin = await startPlugin("local/pulumi/kubernetes/main.ts", { FLEET_HELM: toolchain.bin("helm") });
  await plugin.configure({ kubeconfig: cluster.kubeconfig, enableSecretMutable: "true" });
  await plugin.create(NAMESPACE, { metadata: { name: "demo" } });
});
afterAll(async () => {
  await plugin?.close();
  await cluster?.stop();
});

/** Creates as the engine does: check, then create. */
async function make(token: string, news: PropertyMap, options: Parameters<Plugin["create"]>[2] = {}) {
  const { inputs, failures } = await plugin.check(token, options?.name ?? "it", news);
  expect(failures).toEqual([]);
  return { inputs, ...(await plugin.create(token, inputs, options)) };
}

const deployment = (spec: PropertyMap = {}): PropertyMap => ({
  metadata: { name: "app", namespace: "demo" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "a" } },
    template: {
      metadata: { labels: { app: "a" } },
      spec: { containers: [{ name: "a", image: "a", resources: { limits: { cpu: "1000m" } } }] },
    },
    ...spec,
  },
});

const crd: PropertyMap = {
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: { type: "integer" },
                  zone: {
                    type: "string",
                    "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "field is immutable" }],
                  },
                },
              },
              status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            },
          },
        },
      },
    ],
  },
};

describe("objects", () => {
  test("an object lives through create, refresh, update and delete without drift of its own", async () => {
    const made = await make(DEPLOYMENT, deployment());
    expect(made.id).toBe("demo/app");
    const read = await plugin.read(DEPLOYMENT, made.id, made.outputs, made.inputs);
    // The server writes 1000m as 1: the same amount is no drift.
    expect(read.inputs).toEqual(made.inputs);
    const { inputs } = await plugin.check(DEPLOYMENT, "it", deployment({ paused: true }), made.inputs);
    expect((await plugin.diff(DEPLOYMENT, made.id, made.inputs, inputs, made.outputs)).properties).toEqual({
      "spec.paused": "add",
    });
    const updated = await plugin.update(DEPLOYMENT, made.id, made, inputs);
    expect(updated).toMatchObject({ spec: { paused: true } });
    const selector = { selector: { matchLabels: { app: "b" } } };
    const moved = await plugin.check(DEPLOYMENT, "it", deployment(selector), made.inputs);
    expect((await plugin.diff(DEPLOYMENT, made.id, made.inputs, moved.inputs, made.outputs)).properties).toMatchObject({
      "spec.selector.matchLabels.app": "update-replace",
    });
    await plugin.delete(DEPLOYMENT, made.id, updated, inputs);
    expect((await plugin.read(DEPLOYMENT, made.id, updated, inputs)).id).toBe("");
  });

  test("a field that was removed from the program is removed from the object, others' fields stay", async () => {
    const object = (data: PropertyMap): PropertyMap => ({ metadata: { name: "owned", namespace: "demo" }, data });
    const made = await make(CONFIG_MAP, object({ a: "1", b: "2" }));
    await kubectl("patch", "configmap", "owned", "-n", "demo", "--patch", '{"data":{"c":"3"}}');
    await plugin.update(CONFIG_MAP, made.id, made, object({ a: "1" }));
    expect(JSON.parse(await kubectl("get", "configmap", "owned", "-n", "demo", "-o", "json")).data).toEqual({
      a: "1",
      c: "3",
    });
  });

  test("a change behind Pulumi's back is found, a change of another field is none", async () => {
    const made = await make(CONFIG_MAP, { metadata: { name: "drift", namespace: "demo" }, data: { a: "1" } });
    await kubectl("patch", "configmap", "drift", "-n", "demo", "--patch", '{"data":{"a":"changed","other":"x"}}');
    const read = await plugin.read(CONFIG_MAP, made.id, made.outputs, made.inputs);
    expect((await plugin.diff(CONFIG_MAP, made.id, made.inputs, read.inputs, made.outputs)).properties).toEqual({
      "data.a": "update-replace",
    });
  });

  test("unknown fields are refused by the API server, in the preview already", async () => {
    const wrong = deployment({ replicass: 3 });
    await expect(plugin.create(DEPLOYMENT, wrong, { preview: true })).rejects.toThrow(/replicass/);
    await expect(plugin.create(DEPLOYMENT, wrong)).rejects.toThrow(/replicass/);
  });

  test("somebody else's object is not taken over; the same resource's own is, after an interruption", async () => {
    await kubectl("create", "configmap", "theirs", "-n", "demo");
    const theirs: PropertyMap = { metadata: { name: "theirs", namespace: "demo" } };
    await expect(plugin.create(CONFIG_MAP, theirs)).rejects.toThrow(
      /already exists and is not managed by this resource/,
    );
    const own: PropertyMap = { metadata: { name: "own", namespace: "demo" } };
    const first = await plugin.create(CONFIG_MAP, own, { name: "one" });
    const again = await plugin.create(CONFIG_MAP, own, { name: "one" });
    expect(again.outputs["metadata"]).toEqual(first.outputs["metadata"]);
    await expect(plugin.create(CONFIG_MAP, own, { name: "two" })).rejects.toThrow(/already exists/);
  });

  test("an object that does not get ready is recorded with the reason", async () => {
    const error = await plugin
      .create(
        DEPLOYMENT,
        { ...deployment({ replicas: 1 }), metadata: { name: "stuck", namespace: "demo" } },
        { timeout: 3 },
      )
      .catch((reason: unknown) => reason);
    expect(partialState(error)).toMatchObject({
      id: "demo/stuck",
      outputs: { kind: "Deployment" },
      reasons: [
        expect.stringMatching(/^Deployment demo\/stuck: not ready within 3 s: .* 0 available$/),
        expect.stringContaining("Available is False"),
      ],
    });
    const refreshed = await plugin
      .read(DEPLOYMENT, "demo/stuck", partialState(error)?.outputs ?? {}, deployment({ replicas: 1 }))
      .catch((reason: unknown) => reason);
    expect(partialState(refreshed)?.reasons[0]).toContain("0 available");
  });

  test("a cancelled wait ends at once, and the object stays recorded", async () => {
    const cancelled = await startPlugin("local/pulumi/kubernetes/main.ts");
    await cancelled.configure({ kubeconfig: cluster.kubeconfigFile });
    const spec = { ...deployment({ replicas: 1 }), metadata: { name: "cancelled", namespace: "demo" } };
    const waiting = cancelled.create(DEPLOYMENT, spec).catch((reason: unknown) => reason);
    const exists = () => kubectl("get", "deployment", "cancelled", "-n", "demo").catch(() => "");
    await expect.poll(exists, { timeout: 20_000 }).toContain("cancelled");
    await cancelled.cancel();
    expect(partialState(await waiting)).toMatchObject({
      id: "demo/cancelled",
      reasons: [expect.stringContaining("cancelled while waiting")],
    });
    await cancelled.close();
  });

  test("an annotation skips the wait, another one sets what is waited for", async () => {
    const annotated = (name: string, annotations: PropertyMap): PropertyMap => ({
      ...deployment({ replicas: 1 }),
      metadata: { name, namespace: "demo", annotations },
    });
    await plugin.create(DEPLOYMENT, annotated("skipped", { "pulumi.com/skipAwait": "true" }));
    const waitFor: PropertyMap = {
      metadata: {
        name: "waits",
        namespace: "demo",
        annotations: { "pulumi.com/waitFor": "jsonpath={.data.ready}=yes", "pulumi.com/timeoutSeconds": "30" },
      },
      data: { ready: "no" },
    };
    const waiting = plugin.create(CONFIG_MAP, waitFor);
    await expect
      .poll(() => kubectl("get", "configmap", "waits", "-n", "demo").catch(() => ""), { timeout: 20_000 })
      .toContain("waits");
    await kubectl("patch", "configmap", "waits", "-n", "demo", "--patch", '{"data":{"ready":"yes"}}');
    expect((await waiting).id).toBe("demo/waits");
    const wrong = await plugin.check(CONFIG_MAP, "it", {
      metadata: { annotations: { "pulumi.com/waitFor": "something" } },
    });
    expect(wrong.failures).toEqual([expect.stringContaining("allowed are condition=TYPE")]);
  });

  test("a service with a selector waits for endpoints, a headless one does not", async () => {
    const service = (name: string, spec: PropertyMap): PropertyMap => ({
      metadata: { name, namespace: "demo" },
      spec: { selector: { app: "nobody" }, ports: [{ port: 80 }], ...spec },
    });
    await expect(plugin.create(SERVICE, service("alone", {}), { timeout: 2 })).rejects.toThrow(
      /no pod behind the service is ready/,
    );
    expect((await plugin.create(SERVICE, service("headless", { clusterIP: "None" }))).id).toBe("demo/headless");
  });

  test("a custom resource waits for its CRD, and its immutable field replaces", async () => {
    const things = make(
      THING,
      { metadata: { name: "one", namespace: "demo" }, spec: { size: 1, zone: "a" } },
      { name: "thing" },
    );
    await plugin.create(CRD, crd);
    const made = await things;
    const change = async (spec: PropertyMap) => {
      const { inputs } = await plugin.check(
        THING,
        "it",
        { metadata: { name: "one", namespace: "demo" }, spec },
        made.inputs,
      );
      return plugin.diff(THING, made.id, made.inputs, inputs, made.outputs);
    };
    expect((await change({ size: 2, zone: "a" })).properties).toEqual({ "spec.size": "update" });
    const moved = await change({ size: 1, zone: "b" });
    expect(moved.properties).toEqual({ "spec.zone": "update-replace" });
    expect(moved.deleteBeforeReplace).toBe(true);
    await expect(
      plugin.create(THING, { metadata: { name: "two", namespace: "demo" }, spec: { colour: "x" } }),
    ).rejects.toThrow(/colour/);
    await plugin.delete(CRD, "things.example.com", {});
  });

  test("Secret data is secret in inputs and outputs, stringData drifts like data", async () => {
    const made = await make(SECRET, {
      metadata: { name: "keys", namespace: "demo" },
      stringData: { key: "s3cret-value" },
    });
    expect(made.inputs["stringData"]).toBeInstanceOf(Secret);
    expect(made.outputs["data"]).toBeInstanceOf(Secret);
    expect(plainMap(made.outputs)["data"]).toEqual({ key: Buffer.from("s3cret-value").toString("base64") });
    await kubectl(
      "patch",
      "secret",
      "keys",
      "-n",
      "demo",
      "--patch",
      `{"data":{"key":"${Buffer.from("other").toString("base64")}"}}`,
    );
    const read = await plugin.read(SECRET, made.id, made.outputs, made.inputs);
    expect(read.inputs["stringData"]).toEqual(new Secret({ key: "other" }));
  });

  test("delete waits until the object is gone, and says what holds one that stays", async () => {
    const held: PropertyMap = { metadata: { name: "held", namespace: "demo", finalizers: ["example.com/hold"] } };
    const made = await make(CONFIG_MAP, held);
    const state = {
      ...made.outputs,
      metadata: { ...(made.outputs["metadata"] as PropertyMap), annotations: { "pulumi.com/timeoutSeconds": "2" } },
    };
    await expect(plugin.delete(CONFIG_MAP, made.id, state, made.inputs)).rejects.toThrow(
      /finalizers example.com\/hold hold it/,
    );
    await kubectl(
      "patch",
      "configmap",
      "held",
      "-n",
      "demo",
      "--type=json",
      "--patch",
      '[{"op":"remove","path":"/metadata/finalizers"}]',
    );
    await plugin.delete(CONFIG_MAP, made.id, state, made.inputs);
  });

  test("another object of the same name is not deleted", async () => {
    const made = await make(CONFIG_MAP, { metadata: { name: "again", namespace: "demo" }, data: { a: "1" } });
    await kubectl("delete", "configmap", "again", "-n", "demo");
    await kubectl("create", "configmap", "again", "-n", "demo");
    await plugin.delete(CONFIG_MAP, made.id, made.outputs, made.inputs);
    expect(await kubectl("get", "configmap", "again", "-n", "demo")).toContain("again");
  });

  test("an import records what the program would have to say", async () => {
    await kubectl("create", "configmap", "imported", "-n", "demo", "--from-literal=a=1");
    const { inputs } = await plugin.read(CONFIG_MAP, "demo/imported");
    expect(inputs).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "imported", namespace: "demo" },
      data: { a: "1" },
    });
  });
});

describe("helm releases", () => {
  const chart = async (version: string) => {
    const folder = path.join(cluster.dir, version, "demo");
    await mkdir(path.join(folder, "templates"), { recursive: true });
    await writeFile(
      path.join(folder, "Chart.yaml"),
      `apiVersion: v2\nname: demo\nversion: ${version}\nappVersion: "7"\n`,
    );
    await writeFile(path.join(folder, "values.yaml"), "password: none\nreplicas: 0\n");
    await writeFile(
      path.join(folder, "templates", "all.yaml"),
      `apiVersion: v1
kind: Secret
metadata: { name: "{{ .Release.Name }}-keys" }
stringData: { password: {{ .Values.password | quote }} }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: "{{ .Release.Name }}" }
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app: release } }
  template: { metadata: { labels: { app: release } }, spec: { containers: [{ name: a, image: a }] } }
`,
    );
    return folder;
  };
  const release = async (over: PropertyMap = {}): Promise<PropertyMap> => ({
    name: "rel",
    namespace: "releases",
    createNamespace: true,
    chart: await chart("1.0.0"),
    values: { password: new Secret("a-release-password") },
    atomic: true,
    timeout: 60,
    ...over,
  });

  test("a release is installed, refreshed without drift, upgraded and uninstalled; values stay secret", async () => {
    const made = await make(RELEASE, await release());
    expect(made.outputs).toMatchObject({
      status: {
        name: "rel",
        namespace: "releases",
        revision: 1,
        status: "deployed",
        version: "1.0.0",
        appVersion: "7",
      },
      resourceNames: { "Deployment.apps/apps/v1": ["rel"], "Secret/v1": ["rel-keys"] },
    });
    expect((made.outputs["values"] as PropertyMap)["password"]).toBeInstanceOf(Secret);
    const read = await plugin.read(RELEASE, made.id, made.outputs, made.inputs);
    expect(read.inputs).toEqual(made.inputs);
    const { inputs } = await plugin.check(RELEASE, "it", await release({ chart: await chart("1.1.0") }), made.inputs);
    const planned = await plugin.update(RELEASE, made.id, made, inputs, true);
    expect(planned["status"]).toMatchObject({ version: "1.1.0", namespace: "releases", revision: 2 });
    const updated = await plugin.update(RELEASE, made.id, made, inputs);
    expect(updated["status"]).toMatchObject({ version: "1.1.0", revision: 2, status: "deployed" });
    await plugin.delete(RELEASE, made.id, updated, inputs);
    expect((await plugin.read(RELEASE, made.id, updated, inputs)).id).toBe("");
  });

  test("changes behind Pulumi's back are found: other values, a release that is gone", async () => {
    const made = await make(RELEASE, await release({ name: "drift" }));
    const helm = (...args: string[]) =>
      promisify(execFile)(toolchain.bin("helm"), args, { env: { ...process.env, KUBECONFIG: cluster.kubeconfigFile } });
    await helm(
      "upgrade",
      "drift",
      textOf(made.inputs["chart"]),
      "-n",
      "releases",
      "--reuse-values",
      "--set",
      "extra=1",
    );
    const read = await plugin.read(RELEASE, made.id, made.outputs, made.inputs);
    expect((await plugin.diff(RELEASE, made.id, read.inputs, made.inputs, read.outputs)).properties).toEqual({
      "values.extra": "delete",
    });
    await helm("uninstall", "drift", "-n", "releases");
    expect((await plugin.read(RELEASE, made.id, made.outputs, made.inputs)).id).toBe("");
  });

  test("a failing installation says which workload was not ready, and leaves nothing when atomic", async () => {
    const failing = await release({ name: "fails", timeout: 10, values: { replicas: 1 } });
    await expect(plugin.create(RELEASE, failing)).rejects.toThrow(/Deployment fails: .* 0 available/);
    expect((await plugin.read(RELEASE, "releases/fails", {}, failing)).id).toBe("");
    const kept = await plugin.create(RELEASE, { ...failing, atomic: false }).catch((error: unknown) => error);
    expect(partialState(kept)).toMatchObject({ id: "releases/fails", outputs: { status: { status: "failed" } } });
    const healed = { ...failing, values: { replicas: 0 } };
    const outputs = await plugin.update(
      RELEASE,
      "releases/fails",
      { inputs: failing, outputs: partialState(kept)?.outputs ?? {} },
      healed,
    );
    expect(outputs["status"]).toMatchObject({ status: "deployed" });
  });

  test("a release that an interrupted helm left pending is resumed", async () => {
    const made = await make(RELEASE, await release({ name: "pending" }));
    const args = [
      "upgrade",
      "pending",
      textOf(made.inputs["chart"]),
      "-n",
      "releases",
      "--wait",
      "--set",
      "replicas=1",
    ];
    const killed = spawn(toolchain.bin("helm"), args, {
      env: { ...process.env, KUBECONFIG: cluster.kubeconfigFile },
      stdio: "ignore",
    });
    const status = () =>
      plugin.read(RELEASE, made.id, made.outputs, made.inputs).then(
        () => "",
        (error: Error) => error.message,
      );
    await expect.poll(status, { timeout: 30_000 }).toContain("is pending-upgrade");
    killed.kill("SIGKILL");
    const outputs = await plugin.update(RELEASE, made.id, made, made.inputs);
    expect(outputs["status"]).toMatchObject({ status: "deployed" });
  });

  test("another owner's release is refused, and no secret is in any argument", async () => {
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfigFile };
    await promisify(execFile)(toolchain.bin("helm"), ["install", "theirs", await chart("1.0.0"), "-n", "releases"], {
      env,
    });
    await expect(plugin.create(RELEASE, await release({ name: "theirs" }))).rejects.toThrow(
      /already exists and is not managed/,
    );
    const running = plugin.create(
      RELEASE,
      await release({ name: "argv", values: { replicas: 1, password: new Secret("a-release-password") }, timeout: 8 }),
    );
    const failed = expect(running).rejects.toThrow();
    const commandLines = async () => {
      const { stdout } = await promisify(execFile)("ps", ["-eo", "args"], { maxBuffer: 16 << 20 });
      return stdout.split("\n").filter((line) => line.includes("upgrade argv"));
    };
    await expect.poll(commandLines, { timeout: 15_000 }).not.toEqual([]);
    for (const line of await commandLines()) {
      expect(line).not.toContain("a-release-password");
      expect(line).not.toContain(cluster.token);
    }
    await failed;
  });

  test("a version that a repository does not have is refused", async () => {
    const missing = await release({
      name: "missing",
      chart: "crossplane",
      version: "0.0.1",
      repositoryOpts: { repo: "https://127.0.0.1:1/" },
    });
    await expect(plugin.create(RELEASE, missing)).rejects.toThrow(/helm upgrade: /);
  });
});

describe("an API server that is away", () => {
  test("previews still work, real operations say what cannot be reached, deletes obey deleteUnreachable", async () => {
    const made = await make(CONFIG_MAP, { metadata: { name: "away", namespace: "demo" }, data: { a: "1" } });
    await cluster.stopApiServer();
    try {
      const preview = await plugin.create(CONFIG_MAP, made.inputs, { preview: true });
      expect(preview.outputs).toMatchObject({ data: { a: "1" } });
      await expect(plugin.read(CONFIG_MAP, made.id, made.outputs, made.inputs)).rejects.toThrow(/cannot be reached/);
      const tolerant = await startPlugin("local/pulumi/kubernetes/main.ts");
      await tolerant.configure({
        kubeconfig: cluster.kubeconfigFile,
        deleteUnreachable: "true",
        skipUpdateUnreachable: "true",
      });
      expect((await tolerant.read(CONFIG_MAP, made.id, made.outputs, made.inputs)).outputs).toEqual(made.outputs);
      await tolerant.delete(CONFIG_MAP, made.id, made.outputs, made.inputs);
      await tolerant.close();
    } finally {
      await cluster.startApiServer();
    }
  });
});

describe("through the engine", () => {
  test("a program with objects and a release comes up, stays unchanged, changes exactly, shows drift and goes", async () => {
    const project = await makeProject(toolchain.bin("pulumi"), {
      FLEET_HELM: toolchain.bin("helm"),
      KUBECONFIG: cluster.kubeconfigFile,
    });
    const chart = path.join(cluster.dir, "1.0.0", "demo");
    const program = (greeting: string, replicas: number) => `
import * as k8s from "@pulumi/kubernetes";
import * as random from "@pulumi/random";
import * as pulumi from "@pulumi/pulumi";
const password = new random.RandomPassword("password", { length: 24 });
const provider = new k8s.Provider("cluster", { kubeconfig: pulumi.secret(${JSON.stringify(cluster.kubeconfig)}), enableConfigMapMutable: true });
const options = { provider };
const namespace = new k8s.core.v1.Namespace("engine", {}, options);
const config = new k8s.core.v1.ConfigMap("config", { metadata: { namespace: namespace.metadata.name }, data: { greeting: "${greeting}" } }, options);
const release = new k8s.helm.v3.Release("release", {
  chart: ${JSON.stringify(chart)}, namespace: namespace.metadata.name, atomic: true, values: { password: password.result, replicas: ${replicas} },
}, options);
export const name = config.metadata.name;
export const space = namespace.metadata.name;
export const revision = release.status.revision;
export const result = password.result;
`;
    try {
      await project.write(program("hi", 0));
      const up = await project.run("up");
      expect(up.text).not.toContain("error:");
      expect(up.changes).toEqual({ create: 6 });
      expect((await project.run("up")).changes).toEqual({ same: 6 });
      expect((await project.run("refresh")).changes).toEqual({ same: 6 });
      const { space, name, result } = (await project.outputs()) as Record<string, string>;
      expect(await project.state()).not.toContain(result);
      expect(await project.state()).not.toContain("exec");
      await project.write(program("hello", 0));
      expect((await project.run("preview")).steps).toEqual(["update config: data.greeting"]);
      expect((await project.run("up")).steps).toEqual(["update config: data.greeting"]);
      await kubectl("delete", "configmap", String(name), "-n", String(space));
      expect((await project.run("refresh")).steps).toContain("refresh config");
      expect((await project.run("up")).changes).toMatchObject({ create: 1 });
      expect((await project.run("destroy")).code).toBe(0);
      await expect(kubectl("get", "namespace", String(space))).rejects.toThrow(/not found/);
    } finally {
      await project.remove();
    }
  });
});

test("nothing of helm stays in the temporary folder", async () => {
  await plugin.close();
  const { readdir } = await import("node:fs/promises");
  const { tmpdir } = await import("node:os");
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith("pulumi-helm-"));
  const contents = await Promise.all(
    left.map((name) => readFile(path.join(tmpdir(), name, "kubeconfig"), "utf8").catch(() => "")),
  );
  expect(contents.filter((content) => content.includes(cluster.dir))).toEqual([]);
});
