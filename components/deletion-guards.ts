import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { ServiceAccountRef } from "../lib/iam/trust.ts";
import { group } from "../lib/labels.ts";
import { spokeSync } from "../lib/layout.ts";
import { hubName, namespaces } from "../lib/names.ts";
import { spokeApi } from "../lib/spoke.ts";

const kustomizationGroup = "kustomize.toolkit.fluxcd.io";

/** The remedy, which follows the list of spokes in a refusal. */
const remedy =
  `; remove spokes through Git first and wait until they are gone (kubectl get spokes -n ${spokeApi.namespace}),` +
  " or nobody would delete their clusters";

interface DeletionPolicyArgs {
  /** Name of policy and binding. */
  readonly name: string;
  readonly namespace: string;
  readonly apiGroup: string;
  readonly resource: string;
  readonly resourceName: string;
  /** Kind of the parameters: the policy judges a deletion once for each. */
  readonly paramKind: { readonly apiVersion: string; readonly kind: string };
  readonly paramNamespace: string;
  /** CEL expression: whether the deletion is allowed. */
  readonly expression: string;
  /** CEL expression: the message of a refusal. */
  readonly messageExpression: string;
}

/**
 * Refuses deletions of one object. While the API of the parameters is not installed they can't be read, which is an error that
 * `failurePolicy: Ignore` lets pass; a refusal is not an error, so it counts. The API server finds a new API within seconds.
 */
function deletionPolicy(name: string, args: DeletionPolicyArgs, parent: pulumi.Resource): pulumi.Resource {
  const metadata = { name: args.name };
  const policy = new kubernetes.admissionregistration.v1.ValidatingAdmissionPolicy(
    `${name}-policy`,
    {
      metadata,
      spec: {
        failurePolicy: "Ignore",
        paramKind: args.paramKind,
        matchConstraints: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": args.namespace } },
          resourceRules: [
            {
              apiGroups: [args.apiGroup],
              apiVersions: ["*"],
              operations: ["DELETE"],
              resources: [args.resource],
              resourceNames: [args.resourceName],
            },
          ],
        },
        validations: [{ expression: args.expression, reason: "Forbidden", messageExpression: args.messageExpression }],
      },
    },
    { parent },
  );
  return new kubernetes.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
    `${name}-binding`,
    {
      metadata,
      spec: {
        policyName: policy.metadata.name,
        validationActions: ["Deny"],
        paramRef: { namespace: args.paramNamespace, selector: {}, parameterNotFoundAction: "Allow" },
      },
    },
    { parent },
  );
}

export interface RootKustomizationGuardArgs {
  /**
   * Namespace of the Kustomization that must stay while a spoke exists.
   * @default "flux-system"
   */
  readonly namespace?: string;
  /**
   * Name of that Kustomization, `kustomizationName` of the `FluxSync`.
   * @default "hub"
   */
  readonly kustomizationName?: string;
}

/**
 * Refuses to delete the hub's root Kustomization while a Spoke exists: without it nothing would remove the spoke's cluster.
 * The Spokes are the policy's parameters: it refuses once for each, and without a Spoke there is no parameter, which it allows. Make
 * it before the Kustomization (a `FluxSync` that depends on it), so that it is deleted after it.
 * @example
 * const guard = new RootKustomizationGuard("root-guard", {}, { provider: cluster.provider });
 */
export class RootKustomizationGuard extends pulumi.ComponentResource {
  constructor(name: string, args: RootKustomizationGuardArgs = {}, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:RootKustomizationGuard", name, {}, opts);
    deletionPolicy(
      name,
      {
        name: `spoke-guard.${group}`,
        namespace: args.namespace ?? namespaces.flux,
        apiGroup: kustomizationGroup,
        resource: "kustomizations",
        resourceName: args.kustomizationName ?? hubName,
        paramKind: { apiVersion: spokeApi.apiVersion, kind: spokeApi.kind },
        paramNamespace: spokeApi.namespace,
        expression: "false",
        messageExpression: `'the hub still runs spoke ' + params.metadata.name + '${remedy}'`,
      },
      this,
    );
    this.registerOutputs({});
  }
}

export interface RemainingSpokesGuardArgs {
  /**
   * Namespace of Flux on the hub.
   * @default "flux-system"
   */
  readonly namespace?: string;
}

/**
 * Refuses to destroy the hub while spokes remain, and lists them. Of the refusals of {@link RootKustomizationGuard} the API server
 * reports only one, so one spoke. This object is deleted before the root Kustomization, and its refusal lists the spokes that Flux
 * applies to the hub, or one that it is removing. Spokes that did not come from Git are protected by {@link RootKustomizationGuard} alone.
 * It depends on the `FluxSync`; its namespace must exist.
 * @example
 * new RemainingSpokesGuard("remaining-spokes-guard", {}, { provider: cluster.provider, dependsOn: [sync] });
 */
export class RemainingSpokesGuard extends pulumi.ComponentResource {
  constructor(name: string, args: RemainingSpokesGuardArgs = {}, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:RemainingSpokesGuard", name, {}, opts);
    const { namespace = namespaces.flux } = args;
    const resourceName = "spokes-are-gone";
    // An entry of the inventory is <namespace>_<name>_<group>_<kind>.
    const entries = "params.status.inventory.entries";
    const isSync = `entry.id.matches('^${namespace}_${spokeSync("")}.*_${kustomizationGroup}_Kustomization$')`;
    const isSpoke = `entry.id.endsWith('_${group}_${spokeApi.kind}')`;
    const is = `${isSync} || ${isSpoke}`;
    // A spoke that is still there is in the list of what applies all of them; one that is on its way out only in its own Kustomization's.
    const isListed = `params.metadata.name.startsWith('${spokeSync("")}') && !has(params.metadata.deletionTimestamp)`;
    const binding = deletionPolicy(
      name,
      {
        name: `spoke-roll.${group}`,
        namespace,
        apiGroup: "",
        resource: "configmaps",
        resourceName,
        paramKind: { apiVersion: `${kustomizationGroup}/v1`, kind: "Kustomization" },
        paramNamespace: namespace,
        expression:
          `!has(params.status) || !has(params.status.inventory) || (${isListed}) || ` +
          `!${entries}.exists(entry, ${is})`,
        messageExpression:
          `'the hub still runs these spokes: ' + ${entries}.filter(entry, ${is})` +
          `.map(entry, ${isSync} ? entry.id.split('_')[1].substring(${spokeSync("").length}) : entry.id.split('_')[1])` +
          `.join(', ') + '${remedy}'`,
      },
      this,
    );
    new kubernetes.core.v1.ConfigMap(
      `${name}-object`,
      {
        metadata: { name: resourceName, namespace },
        data: { purpose: "Can be deleted when no spoke is left: pulumi destroy begins with it." },
      },
      { parent: this, dependsOn: [binding] },
    );
    this.registerOutputs({});
  }
}

export interface PushedSecretsGuardArgs {
  /** The store: its namespace, and the name of its service account, which is its own. */
  readonly store: ServiceAccountRef;
  /** What a person does about secrets that remain, after `still exists: `. */
  readonly remedy: string;
}

/**
 * Refuses to delete a `SecretStore` while a PushSecret writes through it: nothing would delete its secret in AWS, and it would never go.
 * Make it before the store, so that it is deleted after it.
 * @example
 * const store = { namespace: "shop", serviceAccount: "shop-secrets" };
 * new PushedSecretsGuard("shop-secrets-guard", { store, remedy: "delete it first" }, { provider: cluster.provider });
 */
export class PushedSecretsGuard extends pulumi.ComponentResource {
  constructor(name: string, args: PushedSecretsGuardArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:PushedSecretsGuard", name, {}, opts);
    const {
      store: { namespace, serviceAccount: store },
      remedy,
    } = args;
    deletionPolicy(
      name,
      {
        name: `${store}-guard.${group}`,
        namespace,
        apiGroup: "external-secrets.io",
        resource: "secretstores",
        resourceName: store,
        paramKind: { apiVersion: "external-secrets.io/v1alpha1", kind: "PushSecret" },
        paramNamespace: namespace,
        expression: `!params.spec.secretStoreRefs.exists(ref, ref.?name.orValue('') == '${store}')`,
        messageExpression: `'SecretStore ${store} goes after what it wrote; PushSecret ' + params.metadata.name + ' still exists: ${remedy}'`,
      },
      this,
    );
    this.registerOutputs({});
  }
}
