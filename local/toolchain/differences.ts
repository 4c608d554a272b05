import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { PROVIDER_API, PROVIDER_VERSIONS } from "../crossplane/packages/provider.ts";
import { charts, fluxTags, kubernetesVersions } from "../product.ts";
import { productPaths } from "../product-paths.ts";
import { addonImages, addonNames, addonOf, addonVersion } from "./addons.ts";
import {
  argocdGroup,
  externalSecretsGroup,
  kubernetesSdkVersion,
  mainGroup,
  pulumiKubernetesGroup,
} from "./go-groups.ts";
import { versionOf } from "./go-mod.ts";
import { imageReferences } from "./images.ts";

/** A part of which the local stack runs another version than production. */
export interface Difference {
  readonly part: string;
  readonly production: string;
  readonly local: string;
  readonly why: string;
}

const module = (path: string): string => versionOf(mainGroup.mod, path).replace(/^v/, "");

/** The commit of a module version such as `v4.0.0-20260115033456-f47bc2d6f199`, with its day. */
const providerDate = (version: string): string =>
  version.replace(/^.*-(\d{4})(\d\d)(\d\d)\d{6}-(\w+)$/, "commit $4 of $1-$2-$3");
const inGit = (file: string): string => readFileSync(join(productPaths.gitopsSystem, file), "utf8");

/** The versions that Git pins for production, by name: those of tools, and those of images whose manifests are upstream's (Cluster API). */
export function productionPins(): Readonly<Record<string, string>> {
  const tools: Record<string, string> = parse(inGit("tools/prod/versions.yaml")).spec.postBuild.substitute;
  const images = parseAllDocuments(inGit("platform/hub/cluster-api/steps.yaml")).flatMap(
    (step): { newName: string; newTag: string }[] => step.toJS().spec.images ?? [],
  );
  return { ...tools, ...Object.fromEntries(images.map(({ newName, newTag }) => [pinOf(newName), newTag])) };
}

/** The name of an image's pin: `node_exporter_version`. */
const pinOf = (repository: string): string => `${basename(repository).replaceAll("-", "_")}_version`;

const FROM_MODULES = "the version that is built from Go modules";

/** Parts that could differ, with what runs in both. */
const parts = (pins: Readonly<Record<string, string>>): Difference[] => [
  {
    part: "Kubernetes",
    production: `EKS's ${kubernetesVersions.join(", ")}`,
    local: `${module("k8s.io/kubernetes")}, which emulates the requested minor, at most its own`,
    why: "one build serves the minors up to its own (--emulated-version); containerd supports 1.37 from its version 2 on",
  },
  {
    part: "Crossplane",
    production: charts.crossplane.version,
    local: module("github.com/crossplane/crossplane/v2"),
    why: "modules of 2.4.1 and later can't be downloaded; 2.4.0 has the same chart and API",
  },
  {
    part: "External Secrets",
    production: charts.externalSecrets.version,
    local: versionOf(externalSecretsGroup.mod, "github.com/external-secrets/external-secrets").replace(/^v/, ""),
    why: "the newest that builds from Go modules; the same API, external-secrets.io/v1",
  },
  {
    part: "Pulumi's Kubernetes provider",
    production: kubernetesSdkVersion,
    local: providerDate(versionOf(pulumiKubernetesGroup.mod, "github.com/pulumi/pulumi-kubernetes/provider/v4")),
    why: `upstream's newest commit that the Go proxy serves, about 4.25; it calls itself ${kubernetesSdkVersion}, so that the engine finds it`,
  },
  {
    part: "Crossplane's AWS providers",
    production: PROVIDER_VERSIONS.join(", "),
    local: `stand-in with the API of ${PROVIDER_API}`,
    why: "its modules can't be downloaded; later versions add fields to that API",
  },
  {
    part: "Flux",
    production: `chart ${charts.flux.version} with ${Object.entries(fluxTags)
      .filter(([name]) => name !== "chart")
      .map((tag) => tag.join(" "))
      .join(", ")}`,
    local: [...Object.values(imageReferences), ...addonImages("image_automation")]
      .filter((image) => image.startsWith("ghcr.io/fluxcd/"))
      .map((image) => basename(image).replace(":", " "))
      .join(", "),
    why: "the controllers of Flux 2.9 that can be downloaded, in a chart of ours under that number: no module has upstream's",
  },
  {
    part: "Argo CD",
    production: `chart ${pins["argocd_version"]}`,
    local: `the programs of ${versionOf(argocdGroup.mod, "github.com/argoproj/argo-cd/v3")}, for a test`,
    why: FROM_MODULES,
  },
  ...addonNames.flatMap((name): Difference[] => {
    const { chart } = addonOf(name);
    if (chart === undefined)
      return addonImages(name).map((image) => {
        const [repository = "", local = ""] = image.split(":");
        const production = pins[pinOf(repository)] ?? "none";
        return { part: `Image ${repository}`, production, local, why: FROM_MODULES };
      });
    const ofModule = chart.folder !== undefined ? !chart.isReleased : chart.definitions !== undefined;
    const local = `that of ${addonVersion(name)}`;
    return ofModule ? [{ part: `Add-on ${name}`, production: `chart ${chart.version}`, local, why: FROM_MODULES }] : [];
  }),
];

/** What the local stack runs in another version than production. */
export const differences = (pins = productionPins()): Difference[] =>
  parts(pins).filter(({ production, local }) => production !== local);
