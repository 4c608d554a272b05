import * as pulumi from "@pulumi/pulumi";
import { namespaces } from "../lib/names.ts";
import { apart, disruptionBudget, type FleetSize, fleetSizes } from "./fleet-size.ts";
import { HelmAddon, imageValues, type Registries } from "./helm-addon.ts";
import { charts, fluxTags } from "./versions.ts";

/** Namespace of Flux, of its sync objects and of the hub's cluster secret. */
export const fluxNamespace = namespaces.flux;

/** Flux's controllers that act in AWS, with the name of their service account. */
type FluxIdentity = "kustomize-controller" | "helm-controller";

export interface FluxArgs {
  /**
   * Mirrors of charts and images.
   * @default where upstream publishes them
   */
  readonly registries?: Registries;
  /**
   * Log level of the controllers: debug, info or error.
   * @default "info"
   */
  readonly logLevel?: string;
  /**
   * Pods of each controller and what they get, by the number of spokes: one of `fleetSizes`.
   * @default fleetSizes.small
   */
  readonly size?: FleetSize;
  /**
   * ARNs of the IAM roles with which kustomize-controller and helm-controller reach spokes.
   * @default none: they reach the cluster that they run on
   */
  readonly roleArns?: Readonly<Record<FluxIdentity, pulumi.Input<string>>>;
  /**
   * Annotations of the pods that have these roles, beside the chart's own: the pods start anew when they change.
   * @default none
   */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /**
   * Annotations of source-controller's service account and pods, which restart when they change: the role with which it pulls charts from
   * Amazon ECR.
   * @default none
   */
  readonly sourceAnnotations?: pulumi.Input<Readonly<Record<string, string>>> | undefined;
}

/**
 * Flux on the hub: source-, kustomize-, helm- and notification-controller, and source-watcher, which cuts sources into artifacts by folder.
 * @example
 * new Flux("flux", {}, { provider: cluster.provider });
 */
export class Flux extends pulumi.ComponentResource {
  /** Its namespace; known when its pods are ready. */
  readonly namespace: pulumi.Output<string>;

  constructor(name: string, args: FluxArgs = {}, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:Flux", name, {}, opts);
    const { registries = {}, logLevel = "info", roleArns, podAnnotations = {}, size = fleetSizes.small } = args;
    const { sourceAnnotations: annotations } = args;
    const redundant = size.replicas > 1;
    const { image, pullSecrets } = imageValues(registries);
    // Names without a tag, as in charts/flux2/values.yaml of fluxcd-community/helm-charts (flux2 2.18.3,
    // the newest that was read).
    const imageOf = (name: string) => ({ image: image(`ghcr.io/fluxcd/${name}`) });
    const reconciler = (identity: FluxIdentity, additionalArgs: string[]) => ({
      ...imageOf(identity),
      tag: fluxTags[identity],
      ...(roleArns && { serviceAccount: { annotations: { "eks.amazonaws.com/role-arn": roleArns[identity] } } }),
      // Of the pod template (templates/kustomize-controller.yaml of flux2 2.18.3); Helm lays them over the chart's own.
      ...(Object.keys(podAnnotations).length > 0 && { annotations: podAnnotations }),
      resources: size.reconcilers,
      // The chart accepts `replicas`, though its values.yaml doesn't list it (templates/kustomize-controller.yaml of flux2 2.18.3,
      // the newest that was read).
      ...(redundant && { replicas: size.replicas, affinity: apart({ app: identity }) }),
      container: { additionalArgs: [`--requeue-dependency=${size.dependencyPause}`, ...additionalArgs] },
    });
    const addon = new HelmAddon(
      name,
      {
        chart: charts.flux,
        registries,
        releaseName: "flux",
        namespace: fluxNamespace,
        podSecurity: "restricted",
        values: {
          installCRDs: true,
          // The CRDs stay when the release is removed: without them every Flux object would go, with all that it applied.
          crds: { annotations: { "helm.sh/resource-policy": "keep" } },
          logLevel,
          imagePullSecrets: pullSecrets,
          // They allow all egress, and all ports of notification-controller to every pod. Git has narrower ones (platform/policies/namespaces).
          policies: { create: false },
          // The check before the first installation.
          cli: imageOf("flux-cli"),
          notificationController: imageOf("notification-controller"),
          // By default a repository that failed is retried after up to 15 minutes: a deploy key that was registered late, and
          // the removal of the hub, would wait for that.
          // One pod: the artifacts are in its own volume, and a second pod would not become ready while the first one leads.
          sourceController: {
            ...imageOf("source-controller"),
            ...(annotations && { serviceAccount: { annotations }, annotations }),
            resources: size.sourceController,
            container: { additionalArgs: ["--max-retry-delay=1m"] },
          },
          // Its chart also lets kustomize-controller take its artifacts (the feature gate ExternalArtifact). One pod, as above.
          sourceWatcher: {
            create: true,
            ...imageOf("source-watcher"),
            resources: size.sourceController,
            container: {
              additionalArgs: [
                // A commit to one spoke writes the status of every spoke's artifact, one after the other: the default of 50 a second
                // would make the last one of 500 spokes wait for 20 seconds.
                "--kube-api-qps=500",
                "--kube-api-burst=1000",
                "--requeue-dependency=1s",
                "--max-retry-delay=1m",
              ],
            },
          },
          kustomizeController: reconciler("kustomize-controller", [
            // A worker is occupied while what it applied becomes ready or is removed, and so are the workers of the Kustomizations that
            // it waits for: with the default of 4, as many spokes that are added or removed at once would wait for each other until they
            // time out.
            "--concurrent=100",
            // A removal that comes before its turn is refused; kustomize-controller repeats it after at most this pause.
            "--max-retry-delay=5s",
            // A commit with a fix must not wait for the health checks of the revision that it corrects.
            "--feature-gates=CancelHealthCheckOnNewRevision=true",
          ]),
          // Each spoke has three releases, and each occupies a worker while its pods start.
          helmController: reconciler("helm-controller", ["--concurrent=20", "--max-retry-delay=30s"]),
          ...(redundant && {
            extraObjects: (["kustomize-controller", "helm-controller"] as const).map((app) =>
              disruptionBudget(app, fluxNamespace, { app }),
            ),
          }),
          imageAutomationController: { create: false },
          imageReflectionController: { create: false },
        },
      },
      { parent: this },
    );
    this.namespace = addon.namespace;
    this.registerOutputs({ namespace: this.namespace });
  }
}
