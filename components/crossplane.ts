import * as pulumi from "@pulumi/pulumi";
import { namespaces } from "../lib/names.ts";
import { disruptionBudget, type FleetSize, fleetSizes, spread } from "./fleet-size.ts";
import { HelmAddon, imageValues, type Registries } from "./helm-addon.ts";
import { imageConfigs, type PackageVerification, verifyingValues } from "./package-verification.ts";
import { charts } from "./versions.ts";

const crossplaneNamespace = namespaces.crossplane;

export interface CrossplaneArgs {
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
   * Whose signatures packages must have, an alpha feature of Crossplane. Its pods then ask Sigstore's servers for the roots of trust when
   * they start, also where all signatures are made with keys.
   * @default none: every package is installed
   */
  readonly verifications?: readonly PackageVerification[];
  /**
   * Annotations of Crossplane's service account and pods, which restart when they change: the role with which it pulls packages from Amazon
   * ECR, whose credential helper Crossplane has (crossplane-runtime 2.4.0, pkg/xpkg/fetch.go; go-containerregistry, pkg/authn/k8schain).
   * @default none
   */
  readonly annotations?: pulumi.Input<Readonly<Record<string, string>>> | undefined;
}

/**
 * Crossplane's core, without its RBAC manager: the permissions of packages come from Git, like the packages, XRDs and compositions. Its CRDs
 * are installed by its pods: Helm never removes them.
 * @example
 * new Crossplane("crossplane", {}, { provider: cluster.provider });
 */
export class Crossplane extends pulumi.ComponentResource {
  /** Its namespace; known when its pods are ready. */
  readonly namespace: pulumi.Output<string>;

  constructor(name: string, args: CrossplaneArgs = {}, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:Crossplane", name, {}, opts);
    const { registries = {}, logLevel, size = fleetSizes.small, verifications = [], annotations } = args;
    const { args: verifying, ...environment } = verifications.length > 0 ? verifyingValues : { args: [] };
    const { image, pullSecretNames } = imageValues(registries);
    const core = { app: "crossplane" };
    const pod = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
    const container = {
      runAsUser: 65532,
      runAsGroup: 65532,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    };
    const addon = new HelmAddon(
      name,
      {
        chart: charts.crossplane,
        registries,
        releaseName: "crossplane",
        namespace: crossplaneNamespace,
        // Pods of packages only meet the standard baseline.
        podSecurity: "baseline",
        values: {
          // Values: cluster/charts/crossplane/values.yaml of crossplane 2.3.4. The Secret's name goes to the service accounts.
          image: { repository: image("xpkg.crossplane.io/crossplane/crossplane") },
          imagePullSecrets: pullSecretNames,
          ...(annotations && { serviceAccount: { customAnnotations: annotations }, customAnnotations: annotations }),
          // A spoke composes some seventy resources, which cause up to 2000 events at first: with the defaults (100, 1 a second)
          // Crossplane would ignore the spoke for five minutes.
          args: [
            ...(logLevel === "debug" ? ["--debug"] : []),
            "--circuit-breaker-burst=5000",
            "--circuit-breaker-refill-rate=10",
            ...verifying,
          ],
          ...environment,
          replicas: size.replicas,
          resourcesCrossplane: size.crossplane,
          // It gives each provider the Secrets of all namespaces, and may itself grant every permission.
          rbacManager: { deploy: false },
          ...(size.replicas > 1 && {
            topologySpreadConstraints: spread(core),
            extraObjects: [disruptionBudget(core.app, crossplaneNamespace, core)],
          }),
          // Git activates the few kinds that the fleet uses, because every active kind takes memory of the API server.
          provider: { defaultActivations: [] },
          podSecurityContextCrossplane: pod,
          securityContextCrossplane: container,
        },
      },
      { parent: this },
    );
    imageConfigs(verifications, crossplaneNamespace, { parent: this, dependsOn: [addon] });
    this.namespace = addon.namespace;
    this.registerOutputs({ namespace: this.namespace });
  }
}
