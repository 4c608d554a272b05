import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gitPaths } from "@eks-gitops-fleet/local/git";
import { findInstance, type Instance, readJson, run } from "@eks-gitops-fleet/local/instance";
import { REGISTRY, type RegistryCredential } from "@eks-gitops-fleet/local/registry";
import { command } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registrySecrets } from "../../lib/registries.ts";
import { traces } from "../support/base64-traces.ts";

/**
 * A fleet whose charts, images and Crossplane packages are in a registry that asks for a credential. Nodes have no image by its name
 * there, so every pod of the platform is one that was pulled.
 */

const clusters = ["fleet-hub", "fleet-spoke-blue"] as const;
type Cluster = (typeof clusters)[number];

/** What is not the platform's: EKS's add-ons, which come from AWS's own registry, and the application. */
const others = new Set(["kube-system", "payment-app"]);

interface Pod {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly imagePullSecrets?: object[]; readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly containerStatuses: readonly {
      readonly imageID: string;
      readonly ready: boolean;
      readonly state: { readonly waiting?: { readonly reason: string; readonly message?: string } };
    }[];
  };
}

let dir: string;
let instance: Instance;
let credential: RegistryCredential;
/** Command lines of what ran while the fleet came up. */
const ran = new Set<string>();

const kubectl = (context: Cluster, args: readonly string[], input?: object) =>
  run([join(instance.paths.bin, "kubectl"), "--context", context, ...args], {
    env: { ...process.env, KUBECONFIG: instance.paths.kubeconfig },
    ...(input ? { input: JSON.stringify(input) } : {}),
  });
const all = async <T>(context: Cluster, kind: string): Promise<T[]> =>
  JSON.parse(await kubectl(context, ["get", kind, "--all-namespaces", "--output", "json"])).items;
const get = async (context: Cluster, namespace: string, kind: string, name: string) =>
  JSON.parse(await kubectl(context, ["--namespace", namespace, "get", kind, name, "--output", "json"]));
const decoded = (data: Readonly<Record<string, string>>, key: string) =>
  Buffer.from(data[key] ?? "", "base64").toString();
const platformPods = async (context: Cluster) =>
  (await all<Pod>(context, "pods")).filter(({ metadata }) => !others.has(metadata.namespace));

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "fleet-mirrors-"));
  const look = async () => {
    for (const line of (await run(["ps", "axww", "--format", "args"])).split("\n")) ran.add(line);
  };
  const sample = setInterval(() => void look(), 500);
  // Ends well once the spoke is Ready and the application answers.
  await command("start.ts", dir, ["--charts", "private"]).finally(() => clearInterval(sample));
  instance = (await findInstance(dir)) ?? expect.fail(`no instance runs in ${dir}`);
  credential =
    (await readJson(join(dir, "registry", "credential.json"))) ?? expect.fail("the registry has no credential");
}, 2_400_000);
afterAll(async () => {
  await command("down.ts", dir);
  // The command removes it too, when it was empty before.
  rmSync(dir, { recursive: true, force: true });
}, 1_200_000);

describe.each(clusters)("on %s", (context) => {
  test("every pod of the platform runs an image of the mirror, with the pull secret", async () => {
    const pods = await platformPods(context);
    expect(pods.length).toBeGreaterThan(7);
    for (const { metadata, spec, status } of pods) {
      expect(spec.imagePullSecrets, metadata.name).toContainEqual({ name: registrySecrets.pull });
      // No node has an image by this name before it has pulled it.
      for (const { image } of spec.containers)
        expect(image, metadata.name).toMatch(new RegExp(`^${REGISTRY}/[a-z.]+[.][a-z]+/`));
      expect(
        status.containerStatuses.map(({ ready }) => ready),
        metadata.name,
      ).toEqual(spec.containers.map(() => true));
    }
  });

  test("every package of Crossplane comes from the mirror and is healthy", async () => {
    const kinds =
      context === "fleet-hub"
        ? ["providers.pkg.crossplane.io", "functions.pkg.crossplane.io"]
        : ["providers.pkg.crossplane.io"];
    for (const kind of kinds) {
      const packages = await all<{
        metadata: { name: string };
        spec: { package: string };
        status: { conditions: { type: string; status: string }[] };
      }>(context, kind);
      expect(packages.length, kind).toBeGreaterThan(0);
      for (const { metadata, spec, status } of packages) {
        expect(spec.package, metadata.name).toMatch(new RegExp(`^${REGISTRY}/`));
        expect(status.conditions, metadata.name).toContainEqual(
          expect.objectContaining({ type: "Healthy", status: "True" }),
        );
      }
    }
  });

  test("every chart was read with the mirror's credential", async () => {
    const repositories = await all<{ metadata: { namespace: string }; spec: object }>(context, "helmrepositories");
    expect(repositories.length).toBeGreaterThan(0);
    for (const { metadata, spec } of repositories) {
      expect(spec).toMatchObject({ type: "oci", secretRef: { name: registrySecrets.charts } });
      const { data } = await get(context, metadata.namespace, "secret", registrySecrets.charts);
      expect([decoded(data, "username"), decoded(data, "password")]).toEqual([
        credential.username,
        credential.password,
      ]);
    }
    const charts = await all<{ status: { conditions: { type: string; status: string }[] } }>(context, "helmcharts");
    expect(charts.length).toBeGreaterThan(0);
    for (const { status } of charts)
      expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  });

  test("a pod without the pull secret gets no image from there, and one with it does", async () => {
    const [used] = (await platformPods(context)).filter(({ metadata }) => metadata.namespace === "flux-system");
    const image = used?.spec.containers[0]?.image;
    const pod = (name: string, imagePullSecrets: object[]) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "flux-system" },
      spec: {
        restartPolicy: "Never",
        automountServiceAccountToken: false,
        imagePullSecrets,
        securityContext: { runAsNonRoot: true, runAsUser: 65534, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "main",
            image,
            // What is on the node does not count.
            imagePullPolicy: "Always",
            args: ["--help"],
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
          },
        ],
      },
    });
    const pods = { without: pod("pulls-without", []), with: pod("pulls-with", [{ name: registrySecrets.pull }]) };
    try {
      for (const each of Object.values(pods)) await kubectl(context, ["apply", "--filename", "-"], each);
      const statusOf = async (name: string) =>
        ((await get(context, "flux-system", "pod", name)) as Pod).status.containerStatuses?.[0];
      await vi.waitFor(
        async () => {
          const refused = await statusOf("pulls-without");
          expect(refused?.state.waiting).toMatchObject({
            reason: expect.stringMatching(/^(ErrImagePull|ImagePullBackOff)$/),
            message: expect.stringMatching(/401|authorization failed|no basic auth credentials/i),
          });
          expect((await statusOf("pulls-with"))?.imageID).toMatch(/@sha256:/);
        },
        { timeout: 120_000, interval: 500 },
      );
    } finally {
      for (const { metadata } of Object.values(pods))
        await kubectl(context, ["--namespace", "flux-system", "delete", "pod", metadata.name, "--ignore-not-found"]);
    }
  });
});

test("the registry lets nobody in without the credential", async () => {
  const { paths, gatewayAddress } = instance;
  const asked = (...args: string[]) =>
    run([
      "curl",
      "--silent",
      "--cacert",
      paths.caCertificate,
      "--output",
      "/dev/null",
      "--write-out",
      "%{http_code}",
      ...args,
      `https://${gatewayAddress}:5000/v2/`,
    ]);
  expect(await asked()).toBe("401");
  expect(await asked("--user", `${credential.username}:wrong`)).toBe("401");
});

test("the credential is in no command line, log, state or commit", async () => {
  const { password } = credential;
  expect(
    [...ran].some((line) => line.includes("pulumi")),
    "what ran was seen",
  ).toBe(true);
  const leaks = traces(password);
  const shows = (text: string) => leaks.some((trace) => text.includes(trace));
  expect([...ran].filter(shows)).toEqual([]);
  for (const folder of ["logs", "pulumi"]) {
    const patterns = leaks.flatMap((trace) => ["-e", trace]);
    const found = await run(["grep", "-rlF", ...patterns, join(dir, folder)]).catch(
      ({ exitCode }: { exitCode?: number }) => (exitCode === 1 ? "" : expect.fail(`grep in ${folder}`)),
    );
    expect(found).toBe("");
  }
  for (const repository of ["gitops-system", "gitops-workloads"]) {
    const bare = join(gitPaths(instance).root, `${repository}.git`);
    const history = await run(["git", "--git-dir", bare, "log", "--patch", "main"]);
    expect(shows(history), repository).toBe(false);
  }
});
