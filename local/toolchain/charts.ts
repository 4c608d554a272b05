import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseAllDocuments, parseDocument, stringify } from "yaml";
import { charts } from "../product.ts";
import { contentKey, type Entry, ensureEntry, readTexts } from "./cache.ts";
import { type ControllerSource, fluxChartFiles, type Manifest } from "./flux-chart.ts";
import { moduleDir } from "./go.ts";
import { externalSecretsGroup, goGroups, imageAutomationGroup, mainGroup } from "./go-groups.ts";
import { versionOf } from "./go-mod.ts";
import { imageReferences } from "./images.ts";
import { makeWritable } from "./patches.ts";
import { run } from "./run.ts";

const here = join(import.meta.dirname, "charts");

/** Version of every chart in the mirror: those that the program pins, whatever version of the program is in them (differences.ts). */
export const chartVersions = {
  flux2: charts.flux.version,
  crossplane: charts.crossplane.version,
  "external-secrets": charts.externalSecrets.version,
  // The program installs none; spokes do, from Git.
  "sealed-secrets": "2.20.0",
} as const;

type ChartName = keyof typeof chartVersions;

/** Fills an empty folder with a chart's source and returns the version of the program that it installs. */
type Assemble = (folder: string) => Promise<string>;

/**
 * Flux's controllers: their key in the chart's values, and their module below github.com/fluxcd. As upstream's, the chart has the last two
 * beside the others; their programs are the add-on image_automation's.
 */
const fluxControllers = {
  sourceController: "source-controller",
  kustomizeController: "kustomize-controller",
  helmController: "helm-controller",
  notificationController: "notification-controller",
  sourceWatcher: "source-watcher/v2",
  imageAutomationController: "image-automation-controller",
  imageReflectionController: "image-reflector-controller",
} as const;

/** The groups that build them. */
const fluxGroups = [mainGroup, imageAutomationGroup];

const assemble: Readonly<Record<ChartName, Assemble>> = {
  async flux2(folder) {
    await cp(join(here, "flux2"), folder, { recursive: true });
    const sources = await Promise.all(Object.entries(fluxControllers).map(readController));
    const files = fluxChartFiles(sources);
    const chart = {
      apiVersion: "v2",
      name: "flux2",
      description: "Flux, from its controllers' modules",
      type: "application",
    };
    await writeFiles(folder, { ...files, "Chart.yaml": stringify({ ...chart, version: chartVersions.flux2 }) });
    // The Flux release of these controllers; its number is in none of their modules.
    return "2.9.4";
  },

  async crossplane(folder) {
    const module = "github.com/crossplane/crossplane/v2";
    await copyModuleFolder(module, "cluster/charts/crossplane", folder);
    // Another than production's, whose modules aren't served (differences.ts).
    return versionOf(mainGroup.mod, module).slice(1);
  },

  async "external-secrets"(folder) {
    const module = "github.com/external-secrets/external-secrets";
    await copyModuleFolder(module, "deploy/charts/external-secrets", folder);
    // Bitwarden's sub-chart is off by default and would have to be downloaded.
    const chart = parseDocument(await readFile(join(folder, "Chart.yaml"), "utf8"));
    if (!chart.delete("dependencies")) throw new Error("external-secrets: Chart.yaml has no dependencies to cut");
    await rm(join(folder, "Chart.lock"));
    // Production's chart (2.x) has the image at ghcr.io, this older one at an address that leads there.
    const values = parseDocument(await readFile(join(folder, "values.yaml"), "utf8"));
    const [repository] = imageReferences.externalSecrets.split(":");
    for (const path of [[], ["webhook"], ["certController"]])
      values.setIn([...path, "image", "repository"], repository);
    const crds = await readTexts(join(moduleDir(module), "config/crds/bases"), ["."]);
    const files = Object.entries(crds).filter(([name]) => name !== "kustomization.yaml");
    await writeFiles(folder, {
      "Chart.yaml": String(chart),
      "values.yaml": String(values),
      "templates/crds/crds.yaml": await readFile(join(here, "external-secrets/templates/crds.yaml"), "utf8"),
      ...Object.fromEntries(files.map(([name, text]) => [`files/crds/${name}`, text])),
    });
    // Another than production's, which can't be built: the mirror has it under the version that the program and Git name.
    return versionOf(externalSecretsGroup.mod, module);
  },

  async "sealed-secrets"(folder) {
    const module = "github.com/bitnami/sealed-secrets";
    await copyModuleFolder(module, "helm/sealed-secrets", folder);
    // Upstream sets the image's tag when it releases the chart, after the program.
    const version = versionOf(mainGroup.mod, module).slice(1);
    const values = parseDocument(await readFile(join(folder, "values.yaml"), "utf8"));
    values.setIn(["image", "tag"], version);
    await writeFiles(folder, { "values.yaml": String(values) });
    return version;
  },
};

async function readController([key, path]: readonly [string, string]): Promise<ControllerSource> {
  const name = path.replace(/\/v\d+$/, "");
  const module = `github.com/fluxcd/${path}`;
  const { mod } = fluxGroups.find((group) => group.mod.versions.has(module)) ?? mainGroup;
  const config = join(moduleDir(module), "config");
  const manifests = async (folder: string, files: readonly string[]): Promise<Manifest[]> => {
    const texts = await readTexts(join(config, folder), files);
    return Object.values(texts).flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
  };
  return {
    key,
    name,
    tag: versionOf(mod, module),
    manager: await manifests("manager", ["."]),
    crds: await readTexts(join(config, "crd/bases"), ["."]),
  };
}

/** Copies a folder of a module; what the module cache keeps read-only becomes writable. */
export async function copyModuleFolder(module: string, path: string, folder: string): Promise<void> {
  await cp(join(moduleDir(module), path), folder, { recursive: true });
  await makeWritable(folder);
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** Where the mirror is, or will be. The key is our own files and the modules that the charts come from. */
export async function chartsEntry(root: string): Promise<Entry> {
  const own = await readTexts(import.meta.dirname, ["charts", "charts.ts", "flux-chart.ts", "images.ts"]);
  const modules = await Promise.all(
    [...goGroups, imageAutomationGroup].map((group) => readFile(join(group.dir, "go.mod"), "utf8")),
  );
  return {
    root,
    group: "charts",
    key: contentKey({ ...own, modules: modules.join("\n"), versions: JSON.stringify(chartVersions) }),
  };
}

/**
 * Makes the chart mirror: a static Helm repository (index.yaml and archives) with the charts in `chartVersions`.
 * @param helm the built helm
 * @returns its folder
 */
export async function ensureCharts(root: string, helm: string, say: (detail: string) => void): Promise<string> {
  return ensureEntry(await chartsEntry(root), async (dir) => {
    const work = join(dir, "work");
    for (const [name, version] of Object.entries(chartVersions)) {
      say(`${name} ${version}`);
      await rm(work, { recursive: true, force: true });
      const folder = join(work, name);
      await mkdir(folder, { recursive: true });
      const appVersion = await assemble[name as ChartName](folder);
      await run([helm, "package", folder, "--version", version, "--app-version", appVersion, "--destination", dir]);
    }
    await rm(work, { recursive: true, force: true });
    await run([helm, "repo", "index", dir]);
  });
}
