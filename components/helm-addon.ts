import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type PodSecurityLevel, podSecurityLabels } from "../lib/labels.ts";
import type { Chart } from "./versions.ts";

export interface HelmAddonArgs {
  readonly chart: Chart;
  /** Mirror that replaces the chart's upstream repository: https://… or oci://… Empty for upstream. */
  readonly chartsRegistry: string;
  /** Name of the Helm release. */
  readonly releaseName: string;
  /** Namespace that is made for the release. */
  readonly namespace: string;
  /** Pod Security Standard that the namespace enforces. */
  readonly podSecurity: PodSecurityLevel;
  readonly values: pulumi.Input<Record<string, unknown>>;
}

/** Seconds that a chart's pods may take to become ready, on nodes that still pull every image. */
const timeout = 600;

/** A chart in a namespace of its own. Pulumi is the only owner of the release: Git never touches it. */
export class HelmAddon extends pulumi.ComponentResource {
  /** The namespace; known when the release is ready in it. */
  readonly namespace: pulumi.Output<string>;

  constructor(name: string, args: HelmAddonArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:HelmAddon", name, {}, opts);
    const namespace = new kubernetes.core.v1.Namespace(
      `${name}-namespace`,
      { metadata: { name: args.namespace, labels: podSecurityLabels(args.podSecurity) } },
      { parent: this },
    );
    const release = new kubernetes.helm.v3.Release(
      `${name}-release`,
      {
        ...chartSource(args.chart, args.chartsRegistry),
        name: args.releaseName,
        version: args.chart.version,
        namespace: namespace.metadata.name,
        createNamespace: false,
        values: args.values,
        atomic: true,
        cleanupOnFail: true,
        maxHistory: 5,
        timeout,
      },
      { parent: this },
    );
    this.namespace = pulumi.all([namespace.metadata.name, release.status]).apply(([ready]) => ready);
    this.registerOutputs({ namespace: this.namespace });
  }
}

function chartSource({ name, repository }: Chart, registry: string) {
  if (registry.startsWith("oci://")) return { chart: `${registry}/${name}` };
  return { chart: name, repositoryOpts: { repo: registry || repository } };
}
