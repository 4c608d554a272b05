import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { APP, sharedApp } from "./support/apps.ts";
import { get, git, instance, kubectl } from "./support/fleet.ts";
import { histories, history, leaks, type Text, traces, tracesOfStack } from "./support/secrets.ts";
import { on, onSpoke, sharedSpoke, workloads } from "./support/spokes.ts";

const SPOKE = "blue";
// Not as a person: each call of kubectl would start `aws eks get-token`.
const hub = ["--kubeconfig", join(instance.paths.clusters, "fleet-hub", "admin.kubeconfig")];
const clusters: Readonly<Record<string, readonly string[]>> = { hub, [SPOKE]: on(SPOKE) };

let secrets: string[];
beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  await sharedApp(SPOKE, "dev");
  const inClusters = await Promise.all(Object.values(clusters).map(keysIn));
  secrets = [...new Set([...(await tracesOfStack()), ...inClusters.flat()])];
});

/** Traces of every private key in the Secrets of a cluster. */
async function keysIn(cluster: readonly string[]): Promise<string[]> {
  const { items } = await get([...cluster, "secrets", "--all-namespaces"]);
  return (items as { data?: Record<string, string> }[])
    .flatMap(({ data }) => Object.values(data ?? {}))
    .flatMap((value) => traces(atob(value)));
}

/** Every object of a cluster that is no Secret: Spokes and what they are composed of, ConfigMaps, Flux objects, events, all. */
async function objectsOf(cluster: readonly string[]): Promise<Text[]> {
  const kinds = (await kubectl([...cluster, "api-resources", "--verbs=list", "--output=name"])).trim().split("\n");
  const { items } = await get([...cluster, kinds.filter((kind) => kind !== "secrets").join(), "--all-namespaces"]);
  return items.map((item: { kind: string; metadata: Record<string, string> }) => [
    `${item.kind} ${item.metadata["namespace"] ?? ""}/${item.metadata["name"]}`,
    // A YAML or JSON text in a field has its line ends escaped.
    JSON.stringify(item).replaceAll("\\n", "\n"),
  ]);
}

/** What every pod of a cluster has written to its log. */
async function logsOf(cluster: readonly string[]): Promise<Text[]> {
  const { items } = await get([...cluster, "pods", "--all-namespaces"]);
  return Promise.all(
    (items as { metadata: { namespace: string; name: string } }[]).map(async ({ metadata: { namespace, name } }) => {
      const args = ["logs", name, "--namespace", namespace, "--all-containers", "--ignore-errors"];
      return [`${namespace}/${name}`, await kubectl([...cluster, ...args])] as const;
    }),
  );
}

describe("no private key of a spoke stands in plain text", () => {
  test("the test knows the real ones: of sealing keys, of the fleet's repositories and of the application's", async () => {
    const { data } = await get([...on(SPOKE), "secret", `${APP}-git`, "--namespace", APP]);
    const ofApp = traces(atob(data.identity));
    expect(ofApp.length).toBeGreaterThan(0);
    expect(secrets).toEqual(expect.arrayContaining(ofApp));
    const sealing = await get([
      ...on(SPOKE),
      ...["secrets", "--all-namespaces", "--selector", "sealedsecrets.bitnami.com/sealed-secrets-key=active"],
    ]);
    expect(sealing.items.length).toBeGreaterThan(0);
    for (const { data } of sealing.items)
      expect(secrets).toEqual(expect.arrayContaining(traces(atob(data["tls.key"]))));
  });

  test("in the history of any repository", async () => {
    const repositories = await histories();
    expect(repositories.map(([name]) => name).sort()).toEqual([
      "gitops-system.git",
      "gitops-workloads.git",
      "payment-app-manifests.git",
    ]);
    expect(leaks(secrets, repositories)).toEqual([]);
  });

  test.for(Object.keys(clusters))("in any object but Secrets, nor in the log of any pod: %s", async (name) => {
    const cluster = clusters[name] ?? [];
    const objects = await objectsOf(cluster);
    for (const kind of ["ConfigMap", "Kustomization", "GitRepository", name === "hub" ? "Spoke" : "SealedSecret"])
      expect(
        objects.some(([object]) => object.startsWith(`${kind} `)),
        kind,
      ).toBe(true);
    expect(leaks(secrets, objects)).toEqual([]);
    expect(leaks(secrets, await logsOf(cluster))).toEqual([]);
  });
});

describe("a private key that was put in plain text", () => {
  const key = async () => {
    const { data } = await get([...on(SPOKE), "secret", `${APP}-git`, "--namespace", APP]);
    return atob(data.identity);
  };

  test("into a ConfigMap is found, as it is and in base64", async () => {
    const planted = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "planted", namespace: APP } };
    const value = await key();
    const data = { plain: value };
    const binaryData = { wrapped: btoa(value) };
    for (const content of [{ data }, { binaryData }]) {
      const input = JSON.stringify({ ...planted, ...content });
      await onSpoke(SPOKE, ["create", "--filename", "-"], { input });
      const found = leaks(secrets, await objectsOf(on(SPOKE)));
      await onSpoke(SPOKE, ["delete", "configmap", "planted", "--namespace", APP]);
      expect(found).toEqual([`ConfigMap ${APP}/planted`]);
    }
  });

  test("into a commit is found, also when the next commit takes it out again", async () => {
    const { folder } = await workloads(); // a clone that nobody pushes
    await writeFile(join(folder, "key.yaml"), await key());
    await git(["add", "--all"], folder);
    await git(["commit", "--quiet", "--message", "Oops"], folder);
    await git(["rm", "--quiet", "key.yaml"], folder);
    await git(["commit", "--quiet", "--message", "Nobody saw it"], folder);
    expect(leaks(secrets, [["clone", await history(join(folder, ".git"))]])).toEqual(["clone"]);
  });
});
