import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { inBase64 } from "../lib/base64.ts";
import { type PodSecurityLevel, podSecurityLabels } from "../lib/labels.ts";
import { prefixOf, registrySecrets } from "../lib/registries.ts";
import type { Chart } from "./versions.ts";

/** Where charts and their images come from. */
export interface Registries {
  /** Mirror that replaces the charts' upstream repositories: https://… or oci://… Empty or missing for upstream. */
  readonly charts?: string;
  /** Credential of the mirror, at https:// and oci:// alike (the latter since pulumi-kubernetes 4.27.0, its CHANGELOG.md, #3661). */
  readonly chartsCredential?: { readonly username: string; readonly password: pulumi.Input<string> } | undefined;
  /** Mirror of images, host or host/path. Empty or missing for upstream. */
  readonly images?: string;
  /** Docker configuration with which the images are pulled, always secret in Pulumi's state. Missing where anonymous pulls are allowed. */
  readonly pullSecret?: pulumi.Input<string> | undefined;
}

/** The parts of chart values that concern images. */
export function imageValues({ images = "", pullSecret }: Registries) {
  const names = pullSecret ? [registrySecrets.pull] : [];
  return {
    /** The address from which an image is pulled, given its upstream name without a tag; the chart adds the tag. */
    image: (upstreamName: string) => `${prefixOf(images)}${upstreamName}`,
    /** Pull secrets, in the form of a pod's specification. */
    pullSecrets: names.map((name) => ({ name })),
    /** The same as names, which some charts want. */
    pullSecretNames: names,
  };
}

export interface HelmAddonArgs {
  /**
   * The chart, in an exact version.
   * @example { name: "podinfo", version: "6.9.2", repository: "https://stefanprodan.github.io/podinfo" }
   */
  readonly chart: Chart;
  /**
   * Mirrors of charts and images.
   * @default where upstream publishes them
   */
  readonly registries?: Registries;
  /**
   * Name of the Helm release, at most 53 characters.
   * @default the component's name
   */
  readonly releaseName?: string;
  /**
   * Namespace that is made for the release, with the pull secret if there is one.
   * @default the release's name
   */
  readonly namespace?: string;
  /**
   * Pod Security Standard that the namespace enforces.
   * @default "restricted"
   */
  readonly podSecurity?: PodSecurityLevel;
  /**
   * The chart's values.
   * @default the chart's own
   */
  readonly values?: pulumi.Input<Record<string, unknown>>;
}

/** Seconds for a chart's pods to become ready, on nodes that still have to pull every image. */
const timeout = 600;

/**
 * A chart in a namespace of its own. Pulumi alone owns the release; nothing in Git changes it. It is atomic: a release whose pods
 * are not ready within ten minutes fails and is rolled back.
 * @example
 * new HelmAddon("podinfo", { chart }, { provider: cluster.provider });
 */
export class HelmAddon extends pulumi.ComponentResource {
  /** The namespace; known when the release is ready in it. */
  readonly namespace: pulumi.Output<string>;

  constructor(name: string, args: HelmAddonArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:HelmAddon", name, {}, opts);
    const { chart, registries = {}, releaseName = name, values = {} } = args;
    const { namespace: namespaceName = releaseName, podSecurity = "restricted" } = args;
    const { pullSecret } = registries;
    const namespace = new kubernetes.core.v1.Namespace(
      `${name}-namespace`,
      { metadata: { name: namespaceName, labels: podSecurityLabels(podSecurity) } },
      { parent: this },
    );
    // Before the release, and not by External Secrets, whose own images are pulled with it.
    const secrets = pullSecret
      ? [
          new kubernetes.core.v1.Secret(
            `${name}-pull-secret`,
            {
              metadata: { name: registrySecrets.pull, namespace: namespace.metadata.name },
              type: "kubernetes.io/dockerconfigjson",
              data: pulumi.secret(pullSecret).apply((config) => inBase64({ ".dockerconfigjson": config })),
            },
            { parent: this },
          ),
        ]
      : [];
    const release = new kubernetes.helm.v3.Release(
      `${name}-release`,
      {
        ...chartSource(chart, registries),
        name: releaseName,
        version: chart.version,
        namespace: namespace.metadata.name,
        createNamespace: false,
        values,
        atomic: true,
        cleanupOnFail: true,
        maxHistory: 5,
        timeout,
      },
      { parent: this, dependsOn: secrets },
    );
    // Not by its status, which is unknown in the preview of every change of the release (pulumi-kubernetes, helm_release.go, checkpointRelease).
    this.namespace = pulumi.all([namespace.metadata.name, release.id]).apply(([ready]) => ready);
    this.registerOutputs({ namespace: this.namespace });
  }
}

function chartSource({ name, repository }: Chart, { charts: mirror = "", chartsCredential }: Registries) {
  const login = chartsCredential && { ...chartsCredential, password: pulumi.secret(chartsCredential.password) };
  if (mirror.startsWith("oci://")) return { chart: `${mirror}/${name}`, ...(login && { repositoryOpts: login }) };
  return { chart: name, repositoryOpts: { repo: mirror || repository, ...login } };
}
