import { PROVIDER_API, PROVIDER_VERSIONS } from "../crossplane/packages/provider.ts";
import { charts, kubernetesVersions } from "../product.ts";
import { addonNames, addonOf, addonVersion } from "./addons.ts";
import { externalSecretsGroup, kubernetesSdkVersion, mainGroup, pulumiKubernetesGroup } from "./go-groups.ts";
import { versionOf } from "./go-mod.ts";

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

/** Parts that could differ, with what runs in both. */
const parts = (): Difference[] => [
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
  ...addonNames.flatMap((name) => {
    const { chart } = addonOf(name);
    const why = "the version that is built from Go modules";
    const local = `that of ${addonVersion(name)}`;
    return chart?.folder !== undefined && !chart.isReleased
      ? [{ part: `Add-on ${name}`, production: `chart ${chart.version}`, local, why }]
      : [];
  }),
];

/** What the local stack runs in another version than production. */
export const differences = (): Difference[] => parts().filter(({ production, local }) => production !== local);
