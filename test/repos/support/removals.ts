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

type Case = Omit<Removal, "policy">;

const goes = (title: string, from: Manifest, parameters?: Manifest): Case => ({
  ...{ title, from },
  ...(parameters && { parameters }),
});
const stays = (title: string, refused: string, from: Manifest, parameters?: Manifest): Case => ({
  ...goes(title, from, parameters),
  refused,
});

const kustomization = (name: string, spec: object, namespace = "spokes"): Manifest => ({
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name, namespace },
  spec,
});
/** A step of a cluster's own Flux. */
const step = (name: string, namespace = "flux-system") => kustomization(name, {}, namespace);
const needs = (...dependsOn: object[]) => kustomization("blue-workloads", { dependsOn });
const tools = kustomization("blue-tools", {});
const inTheWay =
  "Kustomization blue-tools is removed after what depends on it; Kustomization blue-workloads still exists";

const steps: readonly Case[] = [
  stays("a step on which another depends", inTheWay, tools, needs({ name: "blue-tools" })),
  stays(
    "a step that is one of several on which another depends",
    inTheWay,
    tools,
    needs({ name: "blue-sync" }, { name: "blue-tools", namespace: "spokes" }),
  ),
  goes("a step on which nothing depends", tools, kustomization("blue-workloads", {})),
  goes("a step when another depends on others", tools, needs({ name: "blue-sync" })),
  goes(
    "a step whose name has one in another namespace",
    tools,
    needs({ name: "blue-tools", namespace: "flux-system" }),
  ),
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

const applications: readonly Case[] = [
  ...governed.map((from) =>
    stays(
      `a ${from.kind} under which an application is removed`,
      `${from.kind} it is removed after what needs it; Kustomization ${tenantNamespace}/app still exists`,
      from,
      app,
    ),
  ),
  goes("what the team made", object("v1", "ServiceAccount", appliedFrom(tenantNamespace)), app),
  goes(
    "what nobody needs: the Kustomization is the platform's own",
    object("v1", "ServiceAccount"),
    step("app", tenantNamespace),
  ),
  goes(
    "a ServiceAccount outside the tenants' namespaces",
    object("v1", "ServiceAccount", { namespace: "flux-system" }),
    app,
  ),
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
  metadata: { ...object.metadata, annotations: { "usage.crossplane.io/deletion-attempt-with-policy": "Background" } },
});
const dryRun = "a Spoke can't be deleted as a dry run";

const spokes: readonly Case[] = [
  { title: "a Spoke", from: spoke(false), dryRun: false },
  goes("a Spoke, by a client that says nothing of a dry run", spoke(false)),
  stays("a protected Spoke", "Spoke blue is protected", spoke(true)),
  { title: "a Spoke, as a dry run", from: spoke(false), dryRun: true, refused: dryRun },
  goes("a Spoke that says what becomes of the cluster", spoke(false, { deletionPolicy: "Delete" }, {})),
  goes("a Spoke that is let go", spoke(false, letGo, letGo)),
  goes("a protected Spoke that is let go", spoke(true, letGo, letGo)),
  stays("a Spoke that is not let go yet", "Spoke blue is not let go yet", spoke(true, letGo, {})),
  stays("a Spoke without a status that is to be let go", "is not let go yet", spoke(false, letGo)),
  stays(
    "a protected Spoke that is no longer to be let go",
    "Spoke blue is protected",
    spoke(true, { deletionPolicy: "Delete" }, letGo),
  ),
  stays(
    "a Spoke that is no longer to be let go, before the hub has taken that up",
    "Spoke blue was to be let go, and is not any more",
    spoke(false, { deletionPolicy: "Delete" }, letGo),
  ),
  goes(
    "a protected Spoke that goes and leaves everything, though that was taken back meanwhile",
    asked(spoke(true, { deletionPolicy: "Delete" }, letGo)),
  ),
  stays("a protected Spoke whose deletion was refused before", "Spoke blue is protected", asked(spoke(true, {}, {}))),
  stays(
    "a Spoke that is to be let go, and whose deletion was refused before",
    "Spoke blue is not let go yet",
    asked(spoke(true, letGo, {})),
  ),
];

/** The Kustomizations that apply Spokes, with a Spoke as the parameter. */
const syncs: readonly Case[] = [
  stays("what applies a protected Spoke", "Spoke blue is protected", step("spoke-blue"), spoke(true)),
  goes("what applies a protected Spoke that is let go", step("spoke-blue"), spoke(true, letGo, letGo)),
  stays(
    "what applies a protected Spoke that is not let go yet",
    "Spoke blue is protected",
    step("spoke-blue"),
    spoke(true, letGo, {}),
  ),
  goes("what applies a Spoke that is not protected", step("spoke-blue"), spoke(false)),
  goes("what applies another Spoke than a protected one", step("spoke-blue-two"), spoke(true)),
  goes("a step of a protected Spoke's chain", kustomization("spoke-blue", {}), spoke(true)),
];

const artifact = (name: string): Manifest => ({
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "ExternalArtifact",
  metadata: { name, namespace: "flux-system" },
});

/** The Kustomizations that apply Spokes, with an artifact as the parameter. */
const folders: readonly Case[] = [
  stays(
    "what applies a Spoke whose folder is there",
    "Kustomization spoke-blue is removed after its folder",
    step("spoke-blue"),
    artifact("spoke-blue"),
  ),
  goes("what applies a Spoke, beside the folder of another", step("spoke-blue"), artifact("spoke-blue-two")),
  goes("a step of the hub whose folder is there", step("platform-api"), artifact("platform-api")),
  goes("a Kustomization of that name elsewhere", kustomization("spoke-blue", {}), artifact("spoke-blue")),
];

const subnetGroup: Manifest = {
  apiVersion: "rds.aws.m.upbound.io/v1beta1",
  kind: "SubnetGroup",
  metadata: { name: "databases", namespace: "crossplane-system" },
};

/** The Kustomizations of the add-on rds_instances, with the group of the subnets as the parameter. */
const databases: readonly Case[] = [
  stays(
    "the provider for databases while the group of their subnets is there",
    "Kustomization rds-instances is removed after the group of the subnets that databases are in; SubnetGroup databases still exists",
    step("rds-instances"),
    subnetGroup,
  ),
  goes("what made the group of the subnets", step("rds-subnets"), subnetGroup),
  goes("an application of that name", step("rds-instances", tenantNamespace), subnetGroup),
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
const volumes: readonly Case[] = [
  stays(
    "the tools while the driver deletes a volume",
    "Kustomization tools is removed after the volumes that the EBS CSI driver deletes; PersistentVolume pvc-1 still exists",
    step("tools"),
    volume(ebs, "Delete", "Released"),
  ),
  ...(
    [
      ["a volume of another driver", volume("efs.csi.aws.com", "Delete", "Released")],
      ["a volume that stays in AWS", volume(ebs, "Retain", "Released")],
      ["a volume that is in use", volume(ebs, "Delete", "Bound")],
      ["a volume whose deletion is given up", volume(ebs, "Delete", "Failed")],
      ["a volume without a status", volume(ebs, "Delete")],
      ["a volume without a driver", { ...volume(ebs, "Delete", "Released"), spec: { ...ofOther, csi: undefined } }],
    ] as const
  ).map(([what, parameters]) => goes(`the tools beside ${what}`, step("tools"), parameters)),
  goes("the applications while the driver deletes a volume", step("workloads"), volume(ebs, "Delete", "Released")),
  goes(
    "an application called tools while the driver deletes a volume",
    step("tools", tenantNamespace),
    volume(ebs, "Delete", "Released"),
  ),
];

/** What Argo CD delivers on a spoke, to a namespace there. */
const delivered = (namespace?: string): Manifest => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Application",
  metadata: { name: "app", namespace: "argocd" },
  spec: { destination: { server: "https://kubernetes.default.svc", ...(namespace !== undefined && { namespace }) } },
});
const tracked = { annotations: { "argocd.argoproj.io/tracking-id": `app:/ServiceAccount:${tenantNamespace}/it` } };

const ofArgocd: readonly Case[] = [
  stays(
    "Argo CD while it delivers something",
    "Kustomization argocd is removed after what Argo CD delivers; Application app still exists",
    step("argocd"),
    delivered(tenantNamespace),
  ),
  stays(
    "what Argo CD knows and may do, while it delivers something",
    "Kustomization argocd-cluster is removed after what Argo CD delivers; Application app still exists",
    step("argocd-cluster"),
    delivered(tenantNamespace),
  ),
  goes("what Argo CD delivers", step("argocd-applications"), delivered(tenantNamespace)),
  goes("another step beside an Application", step("prometheus"), delivered(tenantNamespace)),
  goes(
    "an application that is called argocd, in a namespace of its own",
    step("argocd", tenantNamespace),
    delivered(tenantNamespace),
  ),
];

const byArgocd: readonly Case[] = [
  ...governed.map((from) =>
    stays(
      `a ${from.kind} of a namespace to which Argo CD delivers`,
      "is removed after what needs it; Application argocd/app still exists",
      from.kind === "Namespace" ? { ...from, metadata: { ...from.metadata, name: tenantNamespace } } : from,
      delivered(tenantNamespace),
    ),
  ),
  ...governed.map((from) =>
    goes(`a ${from.kind} beside an Application that goes elsewhere`, from, delivered("search-app")),
  ),
  goes("a RoleBinding beside an Application of no namespace", object(rbac, "RoleBinding"), delivered()),
  goes(
    "a ServiceAccount that Argo CD itself made",
    object("v1", "ServiceAccount", tracked),
    delivered(tenantNamespace),
  ),
  stays(
    "a ServiceAccount that Flux made, beside one of Argo CD",
    "ServiceAccount it is removed after what needs it; Application argocd/app still exists",
    object("v1", "ServiceAccount", { annotations: { "example.com/owner": "it" } }),
    delivered(tenantNamespace),
  ),
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
