import { stringify } from "yaml";
import type { Tags } from "../../lib/labels.ts";
import { ecrPlace } from "../../lib/registries.ts";
import { quoted } from "../shell.ts";
import { type ChartRelease, mark } from "./releases.ts";

/**
 * Upstream registries that a pull-through cache of Amazon ECR takes, with their URLs there (ECR API Reference, CreatePullThroughCacheRule), and
 * whether they need a credential (ECR User Guide, "Sync an upstream registry").
 */
export const cacheable = {
  "docker.io": { url: "registry-1.docker.io", needsCredential: true },
  "ghcr.io": { url: "ghcr.io", needsCredential: true },
  "public.ecr.aws": { url: "public.ecr.aws", needsCredential: false },
  "quay.io": { url: "quay.io", needsCredential: false },
  "registry.k8s.io": { url: "registry.k8s.io", needsCredential: false },
} as const;
export type Cacheable = keyof typeof cacheable;

export interface Mirror {
  /** Host, or host and path. */
  readonly registry: string;
  readonly charts: readonly ChartRelease[];
  /** References of images and packages that manifests name. */
  readonly images: readonly string[];
  /** Of repositories in Amazon ECR. Rules of a cache have none (ECR API Reference, CreatePullThroughCacheRule). */
  readonly tags: Tags;
  /** Upstream registries that ECR caches, with the ARN of the secret with the credential, or nothing. */
  readonly caches: ReadonlyMap<Cacheable, string>;
  /** Kubernetes version that charts are rendered for. */
  readonly kubernetesVersion: string;
}

/** Where a repository of the mirror has its name in the registry. */
const pathIn = (registry: string): string => {
  const path = registry.split("/").slice(1).join("/");
  return path === "" ? "" : `${path}/`;
};

/** In JSON: the AWS CLI's shorthand trims blanks. */
function tagsOption(tags: Tags): string {
  const list = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  return list.length === 0 ? "" : ` --tags ${quoted(JSON.stringify(list))}`;
}

function ecrFunctions({ registry, tags, caches }: Mirror): string[] {
  const place = ecrPlace(registry);
  if (place === undefined) return ["create() { :; }", ""];
  const host = registry.split("/")[0] as string;
  const path = pathIn(registry);
  return [
    `ecr() { aws ecr "$@" --region ${place.region} --registry-id ${place.account}; }`,
    "# ECR creates no repository when an image is pushed, and nodes may not create one in a pull-through cache.",
    "create() {",
    `  ecr describe-repositories --repository-names "${path}$1" > /dev/null 2>&1 ||`,
    `    ecr create-repository --repository-name "${path}$1"${tagsOption(tags)} > /dev/null`,
    "}",
    `aws ecr get-login-password --region ${place.region} | crane auth login ${host} --username AWS --password-stdin`,
    ...[...caches].map(([upstream, secret]) => {
      const prefix = `${path}${upstream}`;
      const credential = secret === "" ? "" : ` --credential-arn ${quoted(secret)}`;
      return (
        `ecr describe-pull-through-cache-rules --ecr-repository-prefixes ${prefix} > /dev/null 2>&1 ||\n` +
        `  ecr create-pull-through-cache-rule --ecr-repository-prefix ${prefix} --upstream-registry-url ${cacheable[upstream].url}${credential} > /dev/null`
      );
    }),
    "",
  ];
}

/** Of an image in a cache only the repository is created: the first pull fetches it. */
function imageFunction({ caches }: Mirror): string[] {
  const cached = [...caches.keys()].map((upstream) => `${upstream}/*`).join("|");
  return [
    "image() { # reference",
    `  local name=\${1%@*} target=$1`,
    "  # A reference with tag and digest is copied by its digest, and gets its tag.",
    `  [[ \${name##*/} != *:* ]] || { target=$name; name=\${name%:*}; }`,
    '  echo "image $1"',
    '  create "$name"',
    ...(cached === "" ? [] : [`  case $1 in ${cached}) return ;; esac`]),
    '  crane copy "$1" "$registry/$target"',
    "}",
    "",
  ];
}

const chartFunction = ({ kubernetesVersion }: Mirror): string[] => [
  "chart() { # name, version, repository and values",
  "  local name=$1 version=$2 repository=$3",
  '  echo "chart $name $version"',
  "  case $repository in",
  '    oci://*) helm pull "$repository/$name" --version "$version" --destination "$work" ;;',
  '    *) helm pull "$name" --repo "$repository" --version "$version" --destination "$work" ;;',
  "  esac",
  '  create "charts/$name"',
  '  helm push "$work/$name-$version.tgz" "oci://$registry/charts"',
  `  printf '%s' "$4" | helm template "$name" "$work/$name-$version.tgz" --namespace "$name" --kube-version ${kubernetesVersion} --values - > "$work/rendered"`,
  `  sed -nE 's#^.*${mark.replace(".", "[.]")}/([A-Za-z0-9][^" ,]*[:@][^" ,/]+).*$#\\1#p' "$work/rendered" | tr -d "'" >> "$work/images"`,
  "}",
  "",
];

/** Manifests are input: every value is one quoted word, which its content can't leave as it could a here-document. */
const chartCall = ({ name, version, repository, values }: ChartRelease): string =>
  `chart ${[name, version, repository, stringify(values, { lineWidth: 0 })].map(quoted).join(" ")}`;

/** The shell script that copies everything. */
export function mirrorScript(mirror: Mirror): string {
  const { registry, charts, images } = mirror;
  return [
    "#!/usr/bin/env bash",
    `# Copies the charts, packages and images that the clusters of a fleet pull into ${registry}. Printed by fleet mirror.`,
    "set -euo pipefail",
    `registry=${quoted(registry)}`,
    "work=$(mktemp -d)",
    "trap 'rm -rf \"$work\"' EXIT",
    "",
    ...ecrFunctions(mirror),
    ...imageFunction(mirror),
    ...chartFunction(mirror),
    "# Charts; the images in them are found by rendering.",
    ...charts.map(chartCall),
    "",
    "# Images and packages that manifests name.",
    ...images.map((reference) => `image ${quoted(reference)}`),
    "",
    "# Images of the charts.",
    // Not `mapfile`: bash 3.2 of macOS has none. A reference to an image has no blanks.
    'for each in $(sort -u "$work/images"); do image "$each"; done',
    "",
  ].join("\n");
}
