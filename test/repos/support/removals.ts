import { tenantNamespace } from "../../envtest/support/admission-request.ts";
import type { Manifest } from "./kustomize.ts";

/** Requests to remove an object, and what the policies on removals say of them. */

export interface Removal {
  readonly policy: string;
  readonly title: string;
  /** The object that is to go. */
  readonly from: Manifest;
  /** The Kustomization that the policy is asked with; an API server asks with each of the namespace in turn. */
  readonly parameters?: Manifest;
  readonly dryRun?: boolean;
  /** A part of the message; absent when the object may go. */
  readonly refused?: string;
}

const kustomization = (name: string, spec: object, namespace = "spokes"): Manifest => ({
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name, namespace },
  spec,
});
const needs = (...dependsOn: object[]) => kustomization("blue-workloads", { dependsOn });
const tools = kustomization("blue-tools", {});
const inTheWay =
  "Kustomization blue-tools is removed after what depends on it; Kustomization blue-workloads still exists";

const steps: readonly Omit<Removal, "policy">[] = [
  {
    title: "a step on which another depends",
    from: tools,
    parameters: needs({ name: "blue-tools" }),
    refused: inTheWay,
  },
  {
    title: "a step that is one of several on which another depends",
    from: tools,
    parameters: needs({ name: "blue-sync" }, { name: "blue-tools", namespace: "spokes" }),
    refused: inTheWay,
  },
  { title: "a step on which nothing depends", from: tools, parameters: kustomization("blue-workloads", {}) },
  { title: "a step when another depends on others", from: tools, parameters: needs({ name: "blue-sync" }) },
  {
    title: "a step whose name has one in another namespace",
    from: tools,
    parameters: needs({ name: "blue-tools", namespace: "flux-system" }),
  },
];

const object = (apiVersion: string, kind: string, metadata: object = {}): Manifest => ({
  apiVersion,
  kind,
  metadata: { name: "it", namespace: tenantNamespace, ...metadata },
});
const rbac = "rbac.authorization.k8s.io/v1";
const app = kustomization("app", { serviceAccountName: "deployer" }, tenantNamespace);
const appliedFrom = (namespace: string) => ({ labels: { "kustomize.toolkit.fluxcd.io/namespace": namespace } });
const { namespace: _, ...clusterWide } = object("v1", "Namespace", {
  labels: { "fleet.internal/tenant": "payments" },
}).metadata;
const governed: readonly Manifest[] = [
  { ...object("v1", "Namespace"), metadata: clusterWide },
  object("v1", "ServiceAccount", appliedFrom("flux-system")),
  object(rbac, "Role"),
  object(rbac, "RoleBinding"),
  object("aws.m.upbound.io/v1beta1", "ProviderConfig"),
];

const applications: readonly Omit<Removal, "policy">[] = [
  ...governed.map((from) => ({
    title: `a ${from.kind} under which an application is removed`,
    from,
    parameters: app,
    refused: `${from.kind} it is removed after what needs it; Kustomization ${tenantNamespace}/app still exists`,
  })),
  {
    title: "what the team made",
    from: object("v1", "ServiceAccount", appliedFrom(tenantNamespace)),
    parameters: app,
  },
  {
    title: "what nobody needs: the Kustomization is the platform's own",
    from: object("v1", "ServiceAccount"),
    parameters: kustomization("app", {}, tenantNamespace),
  },
  {
    title: "a ServiceAccount outside the tenants' namespaces",
    from: object("v1", "ServiceAccount", { namespace: "flux-system" }),
    parameters: app,
  },
];

const spoke = (deletionProtection: boolean, spec: object = {}, status?: object): Manifest => ({
  apiVersion: "fleet.internal/v1alpha1",
  kind: "Spoke",
  metadata: { name: "blue", namespace: "spokes" },
  spec: { deletionProtection, ...spec },
  ...(status && { status }),
});
const letGo = { deletionPolicy: "Orphan" };
/** A Spoke whose deletion was asked for before. */
const asked = (object: Manifest): Manifest => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: { "usage.crossplane.io/deletion-attempt-with-policy": "Background" },
  },
});
const dryRun = "a Spoke can't be deleted as a dry run";

const spokes: readonly Omit<Removal, "policy">[] = [
  { title: "a Spoke", from: spoke(false), dryRun: false },
  { title: "a Spoke, by a client that says nothing of a dry run", from: spoke(false) },
  { title: "a protected Spoke", from: spoke(true), refused: "Spoke blue is protected" },
  { title: "a Spoke, as a dry run", from: spoke(false), dryRun: true, refused: dryRun },
  { title: "a Spoke that says what becomes of the cluster", from: spoke(false, { deletionPolicy: "Delete" }, {}) },
  { title: "a Spoke that is let go", from: spoke(false, letGo, letGo) },
  { title: "a protected Spoke that is let go", from: spoke(true, letGo, letGo) },
  { title: "a Spoke that is not let go yet", from: spoke(true, letGo, {}), refused: "Spoke blue is not let go yet" },
  { title: "a Spoke without a status that is to be let go", from: spoke(false, letGo), refused: "is not let go yet" },
  {
    title: "a protected Spoke that is no longer to be let go",
    from: spoke(true, { deletionPolicy: "Delete" }, letGo),
    refused: "Spoke blue is protected",
  },
  {
    title: "a Spoke that is no longer to be let go, before the hub has taken that up",
    from: spoke(false, { deletionPolicy: "Delete" }, letGo),
    refused: "Spoke blue was to be let go, and is not any more",
  },
  {
    title: "a protected Spoke that goes and leaves everything, though that was taken back meanwhile",
    from: asked(spoke(true, { deletionPolicy: "Delete" }, letGo)),
  },
  {
    title: "a protected Spoke whose deletion was refused before",
    from: asked(spoke(true, {}, {})),
    refused: "Spoke blue is protected",
  },
  {
    title: "a Spoke that is to be let go, and whose deletion was refused before",
    from: asked(spoke(true, letGo, {})),
    refused: "Spoke blue is not let go yet",
  },
];

/** The Kustomizations that apply Spokes, with a Spoke as the parameter. */
const syncs: readonly Omit<Removal, "policy">[] = [
  {
    title: "what applies a protected Spoke",
    from: kustomization("spoke-blue", {}, "flux-system"),
    parameters: spoke(true),
    refused: "Spoke blue is protected",
  },
  {
    title: "what applies a protected Spoke that is let go",
    from: kustomization("spoke-blue", {}, "flux-system"),
    parameters: spoke(true, letGo, letGo),
  },
  {
    title: "what applies a protected Spoke that is not let go yet",
    from: kustomization("spoke-blue", {}, "flux-system"),
    parameters: spoke(true, letGo, {}),
    refused: "Spoke blue is protected",
  },
  {
    title: "what applies a Spoke that is not protected",
    from: kustomization("spoke-blue", {}, "flux-system"),
    parameters: spoke(false),
  },
  {
    title: "what applies another Spoke than a protected one",
    from: kustomization("spoke-blue-two", {}, "flux-system"),
    parameters: spoke(true),
  },
  {
    title: "a step of a protected Spoke's chain",
    from: kustomization("spoke-blue", {}),
    parameters: spoke(true),
  },
];

const artifact = (name: string): Manifest => ({
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "ExternalArtifact",
  metadata: { name, namespace: "flux-system" },
});

/** The Kustomizations that apply Spokes, with an artifact as the parameter. */
const folders: readonly Omit<Removal, "policy">[] = [
  {
    title: "what applies a Spoke whose folder is there",
    from: kustomization("spoke-blue", {}, "flux-system"),
    parameters: artifact("spoke-blue"),
    refused: "Kustomization spoke-blue is removed after its folder",
  },
  {
    title: "what applies a Spoke, beside the folder of another",
    from: kustomization("spoke-blue", {}, "flux-system"),
    parameters: artifact("spoke-blue-two"),
  },
  {
    title: "a step of the hub whose folder is there",
    from: kustomization("platform-api", {}, "flux-system"),
    parameters: artifact("platform-api"),
  },
  {
    title: "a Kustomization of that name elsewhere",
    from: kustomization("spoke-blue", {}),
    parameters: artifact("spoke-blue"),
  },
];

const subnetGroup: Manifest = {
  apiVersion: "rds.aws.m.upbound.io/v1beta1",
  kind: "SubnetGroup",
  metadata: { name: "databases", namespace: "crossplane-system" },
};

/** The Kustomizations of the add-on rds_instances, with the group of the subnets as the parameter. */
const databases: readonly Omit<Removal, "policy">[] = [
  {
    title: "the provider for databases while the group of their subnets is there",
    from: kustomization("rds-instances", {}, "flux-system"),
    parameters: subnetGroup,
    refused:
      "Kustomization rds-instances is removed after the group of the subnets that databases are in; SubnetGroup databases still exists",
  },
  {
    title: "what made the group of the subnets",
    from: kustomization("rds-subnets", {}, "flux-system"),
    parameters: subnetGroup,
  },
  {
    title: "an application of that name",
    from: kustomization("rds-instances", {}, tenantNamespace),
    parameters: subnetGroup,
  },
];

const volume = (driver: string, persistentVolumeReclaimPolicy: string, phase?: string): Manifest => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "pvc-1" },
  spec: { persistentVolumeReclaimPolicy, csi: { driver, volumeHandle: "vol-1" } },
  ...(phase !== undefined && { status: { phase } }),
});
const ebs = "ebs.csi.aws.com";
const { spec: ofOther } = volume(ebs, "Delete", "Released");

/** The tools of a spoke, with a volume as the parameter. */
const volumes: readonly Omit<Removal, "policy">[] = [
  {
    title: "the tools while the driver deletes a volume",
    from: kustomization("tools", {}, "flux-system"),
    parameters: volume(ebs, "Delete", "Released"),
    refused:
      "Kustomization tools is removed after the volumes that the EBS CSI driver deletes; PersistentVolume pvc-1 still exists",
  },
  ...(
    [
      ["a volume of another driver", volume("efs.csi.aws.com", "Delete", "Released")],
      ["a volume that stays in AWS", volume(ebs, "Retain", "Released")],
      ["a volume that is in use", volume(ebs, "Delete", "Bound")],
      ["a volume whose deletion is given up", volume(ebs, "Delete", "Failed")],
      ["a volume without a status", volume(ebs, "Delete")],
      ["a volume without a driver", { ...volume(ebs, "Delete", "Released"), spec: { ...ofOther, csi: undefined } }],
    ] as const
  ).map(([what, parameters]) => ({
    ...{ title: `the tools beside ${what}`, from: kustomization("tools", {}, "flux-system"), parameters },
  })),
  {
    title: "the applications while the driver deletes a volume",
    from: kustomization("workloads", {}, "flux-system"),
    parameters: volume(ebs, "Delete", "Released"),
  },
  {
    title: "an application called tools while the driver deletes a volume",
    from: kustomization("tools", {}, tenantNamespace),
    parameters: volume(ebs, "Delete", "Released"),
  },
];

/** What Argo CD delivers on a spoke, to a namespace there. */
const delivered = (namespace?: string): Manifest => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Application",
  metadata: { name: "app", namespace: "argocd" },
  spec: { destination: { server: "https://kubernetes.default.svc", ...(namespace !== undefined && { namespace }) } },
});
const tracked = { annotations: { "argocd.argoproj.io/tracking-id": `app:/ServiceAccount:${tenantNamespace}/it` } };

const ofArgocd: readonly Omit<Removal, "policy">[] = [
  {
    title: "Argo CD while it delivers something",
    from: kustomization("argocd", {}, "flux-system"),
    parameters: delivered(tenantNamespace),
    refused: "Kustomization argocd is removed after what Argo CD delivers; Application app still exists",
  },
  {
    title: "what Argo CD knows and may do, while it delivers something",
    from: kustomization("argocd-cluster", {}, "flux-system"),
    parameters: delivered(tenantNamespace),
    refused: "Kustomization argocd-cluster is removed after what Argo CD delivers; Application app still exists",
  },
  {
    title: "what Argo CD delivers",
    from: kustomization("argocd-applications", {}, "flux-system"),
    parameters: delivered(tenantNamespace),
  },
  {
    title: "another step beside an Application",
    from: kustomization("prometheus", {}, "flux-system"),
    parameters: delivered(tenantNamespace),
  },
  {
    title: "an application that is called argocd, in a namespace of its own",
    from: kustomization("argocd", {}, tenantNamespace),
    parameters: delivered(tenantNamespace),
  },
];

const byArgocd: readonly Omit<Removal, "policy">[] = [
  ...governed.map((from) => ({
    title: `a ${from.kind} of a namespace to which Argo CD delivers`,
    from: from.kind === "Namespace" ? { ...from, metadata: { ...from.metadata, name: tenantNamespace } } : from,
    parameters: delivered(tenantNamespace),
    refused: "is removed after what needs it; Application argocd/app still exists",
  })),
  ...governed.map((from) => ({
    title: `a ${from.kind} beside an Application that goes elsewhere`,
    from,
    parameters: delivered("search-app"),
  })),
  {
    title: "a RoleBinding beside an Application of no namespace",
    from: object(rbac, "RoleBinding"),
    parameters: delivered(),
  },
  {
    title: "a ServiceAccount that Argo CD itself made",
    from: object("v1", "ServiceAccount", tracked),
    parameters: delivered(tenantNamespace),
  },
  {
    title: "a ServiceAccount that Flux made, beside one of Argo CD",
    from: object("v1", "ServiceAccount", { annotations: { "example.com/owner": "it" } }),
    parameters: delivered(tenantNamespace),
    refused: "ServiceAccount it is removed after what needs it; Application argocd/app still exists",
  },
];

export const removals: readonly Removal[] = [
  ...steps.map((each) => ({ ...each, policy: "deletion-order.fleet.internal" })),
  ...applications.map((each) => ({ ...each, policy: "tenant-deletion-order.fleet.internal" })),
  ...spokes.map((each) => ({ ...each, policy: "spoke-deletion.fleet.internal" })),
  ...syncs.map((each) => ({ ...each, policy: "spoke-kustomization-deletion.fleet.internal" })),
  ...folders.map((each) => ({ ...each, policy: "spoke-kustomization-folder.fleet.internal" })),
  ...ofArgocd.map((each) => ({ ...each, policy: "argocd-deletion-order.fleet.internal" })),
  ...byArgocd.map((each) => ({ ...each, policy: "argocd-tenant-deletion-order.fleet.internal" })),
  ...databases.map((each) => ({ ...each, policy: "rds-instances-deletion-order.fleet.internal" })),
  ...volumes.map((each) => ({ ...each, policy: "volume-deletion-order.fleet.internal" })),
];
