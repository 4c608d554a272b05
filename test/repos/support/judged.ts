import { join } from "node:path";
import { bridgeData } from "../../../lib/bridge.ts";
import { awsKindsAnnotation } from "../../../lib/labels.ts";
import { admissionCases } from "../../envtest/support/admission-cases.ts";
import { unlabelledSpokes } from "../../envtest/support/admission-places.ts";
import { annotatedNamespaces, type Cases, kept, tenantNamespace } from "../../envtest/support/admission-request.ts";
import {
  crossplaneScope,
  endpoints,
  labelledNamespace,
  providerConfigs,
  removedByCrossplane,
  tokenRefused,
  tokenRequest,
} from "../../envtest/support/crossplane-scope.ts";
import { foundBefore, otherKinds, tenantAck } from "../../envtest/support/tenant-ack.ts";
import { otherwiseNamed, tenantBuckets } from "../../envtest/support/tenant-buckets.ts";
import {
  databasesOfOthers,
  databasesWithIds,
  furtherDatabases,
  ordersOfDatabases,
  ordersWithIds,
  tenantDatabases,
} from "../../envtest/support/tenant-databases.ts";
import { tenantIngresses } from "../../envtest/support/tenant-ingresses.ts";
import { furtherFields, initialRegions, orderedBefore, tenantOrders } from "../../envtest/support/tenant-orders.ts";
import { tenantWorkloads } from "../../envtest/support/tenant-workloads.ts";
import {
  kubeConfigs,
  removedByWorkloads,
  tenantNamespaces,
  workloadsScope,
} from "../../envtest/support/workloads-scope.ts";
import { hub } from "../../functions/spoke/support/fixtures.ts";
import { type Request, refusal } from "./admission.ts";
import { substituted } from "./flux.ts";
import { build, type Manifest } from "./kustomize.ts";
import { otherCases } from "./other-parameters.ts";
import { removals } from "./removals.ts";
import { render, system, withAddons } from "./spoke.ts";

/** Every admission policy of the fleet, and every request for which it is known what they say. */

const spoke = render(withAddons("minimal", ["argocd", "rds_instances"]));
const values = { hub: bridgeData(hub), spoke: spoke.bridge };

/** A manifest of repos/ with the variables of that cluster filled in. */
export const filled = (manifest: Manifest, on: keyof typeof values): Manifest => substituted(manifest, values[on]);

const ofHub = ["policies", "deletion-order", "api", "crossplane/policies"].flatMap((folder) =>
  build(join(system, "platform", folder)),
);
const ofSpoke = spoke.applied.flatMap(({ objects }) => objects);
const objects = [...ofHub.map((object) => filled(object, "hub")), ...ofSpoke];

/** The policies by their names; of one that is on the hub and on spokes the hub's. */
export const policies: ReadonlyMap<string, Manifest> = new Map(
  objects
    .filter(({ kind }) => kind === "ValidatingAdmissionPolicy")
    .map((policy) => [policy.metadata.name, policy] as const)
    .reverse(),
);

/** The bindings by the names of their policies, as many as there are. */
export const bindingsOf = (policy: string): Manifest[] =>
  objects.filter(({ kind, spec }) => kind === "ValidatingAdmissionPolicyBinding" && spec.policyName === policy);

const parameters = objects.find(
  ({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "admission-parameters",
) as Manifest;

export interface Case {
  readonly policy: string;
  readonly title: string;
  readonly request: Request;
  /** A part of what the policy says; absent when the request passes. */
  readonly refused?: string | undefined;
}

/** The object as the API server has it when it is being removed. */
const removed = <T extends Manifest>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
});

const tenant = { "fleet.internal/tenant": "payments" };

const tenants = [tenantNamespace, labelledNamespace.metadata.name];

/** Where a request goes. */
function placeOf({
  kind,
  metadata,
}: Manifest): Pick<Request, "namespace" | "namespaceLabels" | "namespaceAnnotations"> {
  const { namespace = "", labels = {} } = metadata;
  if (kind === "Namespace") return { namespaceLabels: labels };
  const named = { "kubernetes.io/metadata.name": namespace };
  const kinds = annotatedNamespaces[namespace];
  if (kinds !== undefined)
    return {
      namespace,
      namespaceLabels: { ...named, ...tenant },
      namespaceAnnotations: { [awsKindsAnnotation]: kinds },
    };
  return { namespace, namespaceLabels: { ...named, ...(tenants.includes(namespace) ? tenant : {}) } };
}

const changes = [
  ...admissionCases,
  ...unlabelledSpokes.map((each) => ({ ...each, policy: "spoke-fleet.fleet.internal" })),
  ...[
    ...tenantOrders,
    ...initialRegions,
    ...furtherFields,
    ...tenantBuckets,
    ...otherwiseNamed,
    ...orderedBefore,
    ...ordersOfDatabases,
    ...ordersWithIds,
  ].map((each) => ({ ...each, policy: "tenant-resources.fleet.internal" })),
  ...[...tenantDatabases, ...furtherDatabases, ...databasesOfOthers, ...databasesWithIds].map((each) => ({
    ...each,
    policy: "tenant-databases.fleet.internal",
  })),
  ...[...tenantAck, ...foundBefore, ...otherKinds].map((each) => ({ ...each, policy: "tenant-ack.fleet.internal" })),
  ...tenantIngresses.map((each) => ({ ...each, policy: "tenant-ingresses.fleet.internal" })),
  ...tenantWorkloads.map((each) => ({ ...each, policy: "tenant-workloads.fleet.internal" })),
  ...kubeConfigs.map((each) => ({ ...each, policy: "kube-config.fleet.internal" })),
  ...tenantNamespaces.map((each) => ({ ...each, policy: "tenant-namespaces.fleet.internal" })),
].map(({ policy, title, object, from, leaving, by, refused }): Case => {
  const known = leaving ? removed : (each: Manifest) => each;
  const who = by === undefined ? {} : { by };
  const before = from === undefined ? {} : { from: known(from as Manifest) };
  const request = { object: known(object as Manifest), ...before, ...who, ...placeOf(object as Manifest), parameters };
  return { policy, title, request, refused };
});

const ends = removals.map(
  ({ policy, title, refused, ...request }): Case => ({
    policy,
    title: `the removal of ${title}`,
    request: { ...request, ...placeOf(request.from) },
    refused,
  }),
);

/** A finalizer goes from what is there, whatever the policy would say of it as something new. */
const finalizers = changes
  .filter(({ request, refused }) => refused !== undefined && request.from === undefined)
  .flatMap(({ policy, title, request }) => {
    const object = request.object as Parameters<typeof kept>[0];
    return [(each: Manifest) => each, removed].map((known, index): Case => {
      const [from, now] = [known(kept(object) as Manifest), known(object as Manifest)];
      const what = `the end of a finalizer, ${index === 0 ? "while it stays" : "as it goes"}`;
      return { policy, title: `${title}: ${what}`, request: { ...request, from, object: now } };
    });
  });

const elsewhere = otherCases.map(
  ({ policy, title, object, from, parameters, refused }): Case => ({
    policy,
    title,
    request: { object, parameters, ...(from && { from }), ...placeOf(object) },
    refused,
  }),
);

/** What an account may do: an object that it may not change it may not remove either, and no finalizer of it. */
const ofAccount = (policy: string, made: Cases, removed: Cases): Case[] =>
  [...made, ...removed.map(({ object, ...each }) => ({ ...each, from: object, object: undefined }))].map(
    ({ title, object, from, by, refused }): Case => {
      const before = from === undefined ? {} : { from: from as Manifest };
      const after = object === undefined ? {} : { object: object as Manifest };
      const who = by === undefined ? {} : { by };
      return {
        policy,
        title,
        request: { ...before, ...after, ...who, ...placeOf((object ?? from) as Manifest) },
        refused,
      };
    },
  );
const token = { title: "a token of a service account", object: tokenRequest, refused: tokenRefused };
const ofAccounts = [
  ...ofAccount("workloads.fleet.internal", workloadsScope, removedByWorkloads),
  ...ofAccount(
    "crossplane.fleet.internal",
    [...crossplaneScope, { ...token, by: "system:serviceaccount:crossplane-system:provider-aws-iam" }],
    removedByCrossplane,
  ),
  ...ofAccount("provider-configs.fleet.internal", [...providerConfigs, ...endpoints], []),
];

export const cases: readonly Case[] = [...changes, ...elsewhere, ...finalizers, ...ends, ...ofAccounts];

/** The policies whose parameters are of a kind that may not be there yet, when nothing of it is: these fail open. */
const withKindsToCome: readonly string[] = [
  "argocd-deletion-order.fleet.internal",
  "argocd-namespaces.fleet.internal",
  "argocd-tenant-deletion-order.fleet.internal",
  "rds-instances-deletion-order.fleet.internal",
];

/** Whether a policy fails closed and judges every change of what it judges, or every removal. Region and account of a Spoke can't be changed. */
export function isComplete({ metadata, spec }: Manifest): boolean {
  const rules = spec.matchConstraints.resourceRules as { operations: string[]; resources: string[] }[];
  return (
    spec.failurePolicy === (withKindsToCome.includes(metadata.name) ? "Ignore" : "Fail") &&
    rules.every(({ operations, resources }) =>
      ["CREATE,UPDATE", "DELETE", ...(resources.join() === "spokes" ? ["CREATE"] : [])].includes(operations.join()),
    )
  );
}

/**
 * What becomes of a request while nothing is there that the policy reads as its parameters. What a policy must not hold up is
 * allowed: every Secret of a cluster, and removals where no Kustomization, Spoke or artifact is left to object.
 */
const withoutParameters: Readonly<Record<string, "Allow" | "Deny">> = {
  "git-credential.fleet.internal": "Allow",
  "git-source.fleet.internal": "Deny",
  "spoke-placement.fleet.internal": "Deny",
  "spoke-fleet.fleet.internal": "Deny",
  "tenant-source.fleet.internal": "Deny",
  "argocd-deletion-order.fleet.internal": "Allow",
  "argocd-namespaces.fleet.internal": "Allow",
  "argocd-tenant-deletion-order.fleet.internal": "Allow",
  "deletion-order.fleet.internal": "Allow",
  "rds-instances-deletion-order.fleet.internal": "Allow",
  "spoke-kustomization-deletion.fleet.internal": "Allow",
  "spoke-kustomization-folder.fleet.internal": "Allow",
  "tenant-deletion-order.fleet.internal": "Allow",
  "volume-deletion-order.fleet.internal": "Allow",
};

/** Whether what its policy refuses is refused under a binding, and what is asked without parameters as it should be. */
export const isBound = ({ spec }: Manifest): boolean =>
  spec.validationActions.join() === "Deny" &&
  spec.paramRef?.parameterNotFoundAction === withoutParameters[spec.policyName];

/** Whether a policy says of a request what it should. */
export function isAsExpected(policy: Manifest, { request, refused }: Case): boolean {
  const said = refusal(policy, request);
  return refused === undefined ? said === undefined : said?.includes(refused) === true;
}
