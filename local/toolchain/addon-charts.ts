import { cp, link, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseDocument, stringify } from "yaml";
import { type AddonName, addonOf, addonVersion, isStandIn } from "./addons.ts";
import { contentKey, type Entry, ensureEntry, readTexts } from "./cache.ts";
import { copyModuleFolder } from "./charts.ts";
import { run } from "./run.ts";
import { standInChartSources, writeStandInChart } from "./stand-ins.ts";

/** Charts of ours in the place of upstream's. */
const ownCharts = join(import.meta.dirname, "addon-charts");

const KYVERNO_API = "kyverno-api";

/** As a Chart.yaml has it. */
interface Dependency {
  readonly name: string;
  readonly version: string;
  readonly condition?: string;
  /** None where the chart is among the subcharts. */
  readonly repository?: string;
}

/** Karpenter's definitions, its AWS provider's among them. */
const KARPENTER_CRDS = "pkg/apis/crds";

/** What a chart's source lacks that upstream's release puts in. */
const completed: Partial<Readonly<Record<AddonName, (folder: string) => Promise<void>>>> = {
  // make/manifests.mk
  async cert_manager(folder) {
    for (const name of ["signkey_annotation.txt", "values.linter.exceptions"]) await rm(join(folder, name));
  },
  // hack/release/common.sh names the image in values.yaml, with a digest that an image made here doesn't have. `crds` is a symbolic link to
  // the definitions, and a module has none.
  async karpenter(folder) {
    const values = parseDocument(await readFile(join(folder, "values.yaml"), "utf8"));
    values.setIn(["controller", "image", "tag"], addonVersion("karpenter"));
    values.deleteIn(["controller", "image", "digest"]);
    await writeFile(join(folder, "values.yaml"), String(values));
    await copyModuleFolder("github.com/aws/karpenter-provider-aws", KARPENTER_CRDS, join(folder, "crds"));
  },
  // The definitions of its API come from a module of their own; the other two dependencies are off in the fleet.
  async kyverno(folder) {
    const chart = parseDocument(await readFile(join(folder, "Chart.yaml"), "utf8"));
    const { dependencies = [] }: { dependencies?: Dependency[] } = chart.toJS();
    const api = dependencies.find(({ name }) => name === KYVERNO_API);
    if (api === undefined) throw new Error(`kyverno: Chart.yaml has no dependency ${KYVERNO_API}`);
    const own = dependencies.filter(({ repository }) => repository === undefined);
    chart.set("dependencies", [...own, { name: api.name, version: api.version, condition: api.condition }]);
    await writeFile(join(folder, "Chart.yaml"), String(chart));
    await rm(join(folder, "Chart.lock"));
    const target = join(folder, "charts", KYVERNO_API);
    await copyModuleFolder("github.com/kyverno/api", `charts/${KYVERNO_API}`, target);
    const about = parseDocument(await readFile(join(target, "Chart.yaml"), "utf8"));
    about.set("version", api.version);
    await writeFile(join(target, "Chart.yaml"), String(about));
  },
};

/** Where the mirror with the charts of these add-ons beside those of `mirror` is, or will be. */
export async function addonChartsEntry(root: string, mirror: string, names: readonly AddonName[]): Promise<Entry> {
  const own = await readTexts(import.meta.dirname, ["addon-charts.ts", "addons.ts"]);
  const versions = names.map((name) => `${name} ${addonVersion(name)}`).join("\n");
  const charts = names.flatMap((name) => addonOf(name).chart ?? []);
  const assembled = charts.filter((chart) => "definitions" in chart).map(({ name }) => join("addon-charts", name));
  const templates = await readTexts(import.meta.dirname, assembled);
  const standIns = names.some((name) => isStandIn(addonOf(name))) ? await standInChartSources() : {};
  return {
    root,
    group: "addon-charts",
    key: contentKey({ ...own, ...templates, ...standIns, mirror: basename(mirror), versions }),
  };
}

/**
 * Makes a chart mirror with the charts of add-ons beside those of another mirror of the same cache.
 * @param helm the built helm
 * @returns its folder
 */
export async function ensureAddonCharts(
  entry: Entry,
  mirror: string,
  names: readonly AddonName[],
  helm: string,
  say: (detail: string) => void,
): Promise<string> {
  return ensureEntry(entry, async (dir) => {
    for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true });
    const archives = (await readdir(mirror)).filter((name) => name.endsWith(".tgz"));
    for (const name of archives) await link(join(mirror, name), join(dir, name));
    for (const name of names) {
      const addon = addonOf(name);
      const folder = join(dir, "work", addon.chart?.name ?? name);
      if (isStandIn(addon)) {
        say(`${addon.chart.name} ${addon.chart.version}, a stand-in`);
        await writeStandInChart(folder, addon);
        await run([helm, "package", folder, "--destination", dir]);
        continue;
      }
      const { chart, module } = addon;
      if (chart?.definitions !== undefined) {
        say(`${chart.name} ${chart.version}, a chart of ours`);
        await cp(join(ownCharts, chart.name), folder, { recursive: true });
        for (const definitions of chart.definitions) await copyModuleFolder(module, definitions, join(folder, "crds"));
        const appVersion = addonVersion(name).replace(/^v/, "");
        const about = { apiVersion: "v2", name: chart.name, version: chart.version, appVersion };
        await writeFile(join(folder, "Chart.yaml"), stringify(about));
        await run([helm, "package", folder, "--destination", dir]);
        continue;
      }
      if (chart?.folder === undefined) continue;
      say(`${chart.name} ${chart.version}`);
      await mkdir(folder, { recursive: true });
      await copyModuleFolder(module, chart.folder, folder);
      await completed[name]?.(folder);
      const versions = ["--version", chart.version, "--app-version", chart.appVersion(addonVersion(name))];
      await run([helm, "package", folder, ...versions, "--destination", dir]);
    }
    await rm(join(dir, "work"), { recursive: true, force: true });
    await run([helm, "repo", "index", dir]);
  });
}
