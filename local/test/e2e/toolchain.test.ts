import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { credentials } from "@grpc/grpc-js";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import providergrpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provpb from "@pulumi/pulumi/proto/provider_pb.js";
import emptypb from "google-protobuf/google/protobuf/empty_pb.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { openInstance, releaseInstance } from "../../instance/index.ts";
import { hasApt } from "../../product.ts";
import { openSdk } from "../../pulumi/framework/shape.ts";
import {
  addonImages,
  chartVersions,
  ensureAddons,
  ensureToolchain,
  imageReferences,
  removeCache,
  type Toolchain,
} from "../../toolchain/index.ts";
import { ensurePython } from "../../toolchain/python.ts";
import { ensureSystem, fits, SYSTEM_SETS } from "../../toolchain/system.ts";

let toolchain: Toolchain;
let work: string;

beforeAll(async () => {
  toolchain = await ensureToolchain();
  work = await mkdtemp(join(tmpdir(), "toolchain-e2e-"));
});
afterAll(() => rm(work, { recursive: true }));

const output = (name: string, ...args: string[]): string =>
  execFileSync(toolchain.bin(name), args, { encoding: "utf8", env: { PATH: process.env.PATH, HOME: work } });

describe("programs", () => {
  test.each([
    ["pulumi", ["version"], "v3.276.0"],
    ["kubelet", ["--version"], "v1.36.4"],
    ["kube-apiserver", ["--version"], "v1.36.4"],
    ["kubectl", ["version", "--client"], "v1.36.4"],
    ["etcd", ["--version"], "3.6.16"],
    ["helm", ["version", "--short"], "v4.2.4"],
    ["coredns", ["-version"], "1.14.6"],
    ["kubeseal", ["--version"], "v0.40.0"],
    ["aws", ["--version"], "aws-cli/1.46.2"],
  ])("%s says its pinned version", (name, args, version) => expect(output(name, ...args)).toContain(version));

  test("Pulumi's Kubernetes provider has the version of the SDK, and no component resources", async () => {
    const plugin = spawn(toolchain.bin("pulumi-resource-kubernetes"), [], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [port] = await once(createInterface({ input: plugin.stdout }), "line");
      const client = new providergrpc.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
      const info = await new Promise<PluginInfo>((resolve, reject) => {
        client.getPluginInfo(new emptypb.Empty(), (error, found) => (error ? reject(error) : resolve(found)));
      });
      expect(info.getVersion()).toBe(openSdk("kubernetes").version);
      const construct = new Promise((resolve, reject) => {
        client.construct(new provpb.ConstructRequest(), (error, made) => (error ? reject(error) : resolve(made)));
      });
      await expect(construct).rejects.toThrow("method Construct not implemented");
      client.close();
    } finally {
      plugin.kill();
    }
  });

  test("are all there", () => {
    for (const name of toolchain.programs) expect(existsSync(toolchain.bin(name)), name).toBe(true);
  });

  test("that nobody knows are refused with the list of those that exist", () =>
    expect(() => toolchain.bin("docker")).toThrow(/no program docker; it has aws, .*containerd, /));
});

/** A cache below a home with spaces and quotes, and longer than the first line of a script may be. */
const CACHE = join("it's ä %41", "c".repeat(250));

/** Every file of the machine's package database and of apt's lists and archives, with size and time of change. */
const packageState = (): string =>
  execFileSync("find", [...PACKAGE_FOLDERS, "-type", "f", "-printf", "%p %s %T@ %i\\n"], { encoding: "utf8" });

const PACKAGE_FOLDERS = ["/var/lib/dpkg", "/var/lib/apt", "/var/cache/apt"];

// Elsewhere the machine's own commands are used: there is nothing to take apart.
describe.runIf(hasApt())("on a machine that has none of the system's commands", () => {
  test("they and pip come out of packages into the cache, they run, and nothing is installed", async () => {
    const installed = execFileSync("dpkg", ["-l"], { encoding: "utf8" });
    const before = packageState();
    const system = await ensureSystem(join(work, CACHE), () => {}, { commands: {}, cni: undefined, pip: false });
    const python = await ensurePython(join(work, CACHE), system.pip, () => {});

    for (const set of SYSTEM_SETS) {
      const program = join(system.bin, set.commands[0]);
      const { stdout, stderr } = spawnSync(program, [set.version[0]], { encoding: "utf8", env: {} });
      expect(fits(set, stdout + stderr), `${program} says ${stdout}${stderr}`).toBe(true);
      for (const name of set.commands) expect(existsSync(join(system.bin, name)), name).toBe(true);
    }
    const plugin = spawnSync(join(system.cni, "ptp"), { encoding: "utf8", env: { CNI_COMMAND: "VERSION" } });
    expect(JSON.parse(plugin.stdout).supportedVersions).toContain("1.0.0");
    expect(execFileSync(join(python, "bin", "aws"), ["--version"], { encoding: "utf8" })).toContain("aws-cli/");

    expect(execFileSync("dpkg", ["-l"], { encoding: "utf8" })).toBe(installed);
    expect(packageState()).toBe(before);
  });

  test("iptables finds its extensions, and nftables and ipset the kernel", async () => {
    const system = await ensureSystem(join(work, CACHE), () => {}, { commands: {}, cni: undefined, pip: false });
    const script = `
      iptables --append INPUT --match comment --comment ours --jump ACCEPT
      ipset create names hash:ip
      nft list table ip filter > /dev/null
      iptables-save`;
    const rules = execFileSync("unshare", ["--net", "sh", "-e", "-c", script], {
      encoding: "utf8",
      env: { PATH: `${system.bin}:/usr/sbin:/usr/bin:/sbin:/bin` },
    });
    expect(rules).toContain("-A INPUT -m comment --comment ours -j ACCEPT");
  });
});

test("the cache is not removed under an instance that runs from it", async () => {
  const before = process.env["FLEET_CACHE_DIR"];
  const instance = await openInstance(join(work, "instance"));
  try {
    // Not the real one, should it fail.
    process.env["FLEET_CACHE_DIR"] = join(work, "cache-to-remove");
    await expect(removeCache()).rejects.toThrow(instance.dir);
  } finally {
    await releaseInstance(instance);
    if (before === undefined) delete process.env["FLEET_CACHE_DIR"];
    else process.env["FLEET_CACHE_DIR"] = before;
  }
});

test("CoreDNS can't ask a server outside: it has no plugin that forwards", () => {
  const plugins = output("coredns", "-plugins")
    .split("\n")
    .map((line) => line.trim());
  expect(plugins).toContain("kubernetes");
  expect(plugins.filter((name) => ["forward", "grpc", "route53", "secondary", "etcd"].includes(name))).toEqual([]);
});

test("every image is an archive that names itself", () => {
  const images = toolchain.images();
  expect(images.map(({ reference }) => reference).sort()).toEqual(Object.values(imageReferences).sort());
  for (const { tar, reference } of images) {
    const manifest = execFileSync("tar", ["--extract", "--to-stdout", "--file", tar, "manifest.json"], {
      encoding: "utf8",
    });
    expect(JSON.parse(manifest)[0].RepoTags).toEqual([reference]);
  }
});

/** Renders a chart of the mirror; rejects with helm's message. */
async function render(chart: keyof typeof chartVersions, ...flags: string[]): Promise<Manifest[]> {
  const archive = join(toolchain.charts, `${chart}-${chartVersions[chart]}.tgz`);
  const argv = ["template", "release", archive, "--namespace", "test", "--include-crds", ...flags];
  const options = { encoding: "utf8", maxBuffer: 64 << 20 } as const;
  const { stdout } = await promisify(execFile)(toolchain.bin("helm"), argv, options);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  readonly spec: { readonly template: { readonly spec: PodSpec } };
  /** Of a ClusterRole. */
  readonly rules?: { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] }[];
}

interface PodSpec {
  readonly containers: { readonly image: string; readonly args: string[] }[];
  readonly initContainers?: { readonly image: string }[];
}

const names = (manifests: Manifest[], kind: string): string[] =>
  manifests
    .filter((manifest) => manifest.kind === kind)
    .map(({ metadata }) => metadata.name)
    .sort();

describe("the chart mirror", () => {
  const noImages = ["--set", "imageAutomationController.create=false,imageReflectionController.create=false"];

  test("indexes exactly the pinned charts", async () => {
    const index = parse(await readFile(join(toolchain.charts, "index.yaml"), "utf8"));
    const found = Object.entries<{ version: string }[]>(index.entries).map(([name, [entry]]) => [name, entry?.version]);
    expect(Object.fromEntries(found)).toEqual(chartVersions);
  });

  test.each([
    ["flux2", noImages],
    ["crossplane", []],
    ["external-secrets", []],
    ["sealed-secrets", []],
  ] as const)("%s names only images that the toolchain makes", async (chart, flags) => {
    const workloads = (await render(chart, ...flags)).filter(({ kind }) => kind === "Deployment");
    const pods = workloads.map(({ spec }) => spec.template.spec);
    const used = pods.flatMap((pod) => [...pod.containers, ...(pod.initContainers ?? [])]).map(({ image }) => image);
    expect(used.length).toBeGreaterThan(0);
    for (const image of used) expect(Object.values(imageReferences)).toContain(image);
  });

  test("flux2 has the four controllers, their CRDs, and cluster-admin for those that apply", async () => {
    const manifests = await render("flux2", ...noImages);
    const controllers = ["helm-controller", "kustomize-controller", "notification-controller", "source-controller"];
    expect(names(manifests, "Deployment")).toEqual(controllers);
    expect(names(manifests, "ServiceAccount")).toEqual(controllers);
    expect(names(manifests, "CustomResourceDefinition")).toContain("gitrepositories.source.toolkit.fluxcd.io");
    expect(names(manifests, "ClusterRoleBinding")).toEqual(["cluster-reconciler", "crd-controller"]);
    expect(JSON.stringify(manifests)).not.toContain("ExternalArtifact=true");
  });

  test("flux2 has source-watcher and its kind where it is asked for, and lets who applies take its artifacts", async () => {
    const manifests = await render("flux2", ...noImages, "--set", "sourceWatcher.create=true");
    expect(names(manifests, "Deployment")).toContain("source-watcher");
    expect(names(manifests, "Service")).toContain("source-watcher");
    expect(names(manifests, "ServiceAccount")).toContain("source-watcher-controller");
    expect(names(manifests, "CustomResourceDefinition")).toContain("artifactgenerators.source.extensions.fluxcd.io");
    const taking = manifests.filter((each) => JSON.stringify(each).includes("--feature-gates=ExternalArtifact=true"));
    expect(taking.map(({ metadata }) => metadata.name)).toEqual(["helm-controller", "kustomize-controller"]);
  });

  test("flux2 grants its controllers what the community chart grants: no tokens of service accounts, all of Flux's own groups", async () => {
    const role = (await render("flux2", ...noImages)).find(
      ({ kind, metadata }) => kind === "ClusterRole" && metadata.name === "crd-controller",
    );
    const granted = (role?.rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}: ${verbs.join(" ")}`)),
    );
    const own = [
      "source.toolkit",
      "source.extensions",
      "kustomize.toolkit",
      "helm.toolkit",
      "notification.toolkit",
      "image.toolkit",
    ];
    expect(granted).toEqual([
      ...own.map((group) => `${group}.fluxcd.io/*: *`),
      ...["namespaces", "secrets", "configmaps", "serviceaccounts"].map((kind) => `/${kind}: get list watch`),
      "/events: create patch",
      "/configmaps: get list watch create update patch delete",
      "/configmaps/status: get update patch",
      "coordination.k8s.io/leases: get list watch create update patch delete",
    ]);
  });

  test("flux2 locked down for tenants has no references across namespaces", async () => {
    const manifests = await render("flux2", ...noImages, "--set", "multitenancy.enabled=true");
    const flags = manifests.flatMap(({ kind, spec }) =>
      kind === "Deployment" ? (spec.template.spec.containers[0]?.args ?? []) : [],
    );
    expect(flags.filter((flag) => flag === "--no-cross-namespace-refs=true")).toHaveLength(3);
    expect(flags.filter((flag) => flag === "--default-service-account=default")).toHaveLength(2);
  });

  test("flux2 has the image controllers alone, with their CRDs and without rights, where a release leaves the rest out", async () => {
    const others = ["sourceController", "kustomizeController", "helmController", "notificationController"];
    const off = [...others.map((key) => `${key}.create`), "rbac.create", "rbac.createAggregation", "policies.create"];
    const manifests = await render("flux2", "--set", off.map((key) => `${key}=false`).join(","));
    const controllers = ["image-automation-controller", "image-reflector-controller"];
    expect(names(manifests, "Deployment")).toEqual(controllers);
    expect(names(manifests, "ServiceAccount")).toEqual(controllers);
    expect(names(manifests, "CustomResourceDefinition")).toEqual([
      "imagepolicies.image.toolkit.fluxcd.io",
      "imagerepositories.image.toolkit.fluxcd.io",
      "imageupdateautomations.image.toolkit.fluxcd.io",
    ]);
    expect(new Set(manifests.map(({ kind }) => kind))).toEqual(
      new Set(["CustomResourceDefinition", "Deployment", "ServiceAccount"]),
    );
    const images = manifests.flatMap(({ kind, spec }) =>
      kind === "Deployment" ? spec.template.spec.containers.map(({ image }) => image) : [],
    );
    expect(images.sort()).toEqual(addonImages("image_automation").sort());
    expect(JSON.stringify(manifests)).not.toContain("--events-addr");
  });

  test("flux2 passes annotations of service accounts and CRDs on, and leaves CRDs out when told", async () => {
    const annotation = "serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn=arn";
    const manifests = await render(
      "flux2",
      ...noImages,
      "--set",
      `sourceController.${annotation}`,
      "--set-json",
      'crds.annotations={"helm.sh/resource-policy":"keep"}',
    );
    const account = manifests.find(
      ({ kind, metadata }) => kind === "ServiceAccount" && metadata.name === "source-controller",
    );
    expect(account?.metadata.annotations).toEqual({ "eks.amazonaws.com/role-arn": "arn" });
    const crds = manifests.filter(({ kind }) => kind === "CustomResourceDefinition");
    for (const { metadata } of crds) expect(metadata.annotations).toMatchObject({ "helm.sh/resource-policy": "keep" });
    expect(names(await render("flux2", ...noImages, "--set", "installCRDs=false"), "CustomResourceDefinition")).toEqual(
      [],
    );
  });

  test("flux2 takes the tag of a controller's image from its values", async () => {
    const manifests = await render("flux2", ...noImages, "--set", "helmController.tag=v9.9.9");
    const images = manifests.flatMap(({ kind, spec }) =>
      kind === "Deployment" ? spec.template.spec.containers.map(({ image }) => image) : [],
    );
    expect(images).toContain("ghcr.io/fluxcd/helm-controller:v9.9.9");
    expect(images).toContain(imageReferences.kustomizeController);
  });

  test.each([
    ["an unknown value", ["--set", "nothing=1"], /'nothing' not allowed/],
    ["an unknown value of a controller", ["--set", "sourceController.replica=2"], /'replica' not allowed/],
    ["other rights for its controllers", ["--set", "multitenancy.privileged=false"], /value must be true/],
  ])("flux2 refuses %s", (_, flags, message) =>
    expect(render("flux2", ...noImages, ...flags)).rejects.toThrow(message),
  );

  test("external-secrets brings its CRDs, and leaves out those that are switched off", async () => {
    const all = names(await render("external-secrets"), "CustomResourceDefinition");
    expect(all).toContain("externalsecrets.external-secrets.io");
    const fewer = names(
      await render("external-secrets", "--set", "crds.createPushSecret=false"),
      "CustomResourceDefinition",
    );
    expect(all.filter((name) => !fewer.includes(name))).toEqual(["pushsecrets.external-secrets.io"]);
  });
});

describe("the stand-in for ACK's controllers", () => {
  const names = ["ack_dynamodb", "ack_sqs"] as const;

  test("is made with charts beside the toolchain's, from nothing of Go's, and is there the second time", async () => {
    const parts = { helm: toolchain.bin("helm"), charts: toolchain.charts };
    const made = await ensureAddons(names, parts, () => {});
    expect(made.images.map(({ reference }) => reference)).toEqual(names.flatMap(addonImages));
    for (const { tar } of made.images) expect(existsSync(tar)).toBe(true);
    expect(made.programs).toEqual({});
    const { entries } = parse(await readFile(join(made.charts, "index.yaml"), "utf8"));
    expect(Object.keys(entries).sort()).toEqual([...Object.keys(chartVersions), "dynamodb-chart", "sqs-chart"].sort());
    const lines: string[] = [];
    expect(await ensureAddons(names, parts, (line) => lines.push(line))).toEqual(made);
    expect(lines).toEqual([]);
  });
});
