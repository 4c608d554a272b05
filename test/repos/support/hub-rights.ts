import { Document, isScalar, visit } from "yaml";
import { hubGroups } from "../../../lib/spoke.ts";
import type { Manifest } from "./kustomize.ts";

/** The rights that kustomize-controller of the hub needs on a spoke: what the chain applies there, by name. */

const rbac = "rbac.authorization.k8s.io";
const roleName = "hub-kustomize-controller.fleet.internal";

/** A server-side apply that makes an object is a patch, then a create under the object's name (apiserver, handlers/patch.go). */
const verbs = ["get", "create", "patch"];

/** Resources of the kinds that the chain applies to a spoke, or that a policy of it has as parameters. */
const resources: Readonly<Record<string, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  ConfigMap: "configmaps",
  ExternalSecret: "externalsecrets",
  GitRepository: "gitrepositories",
  Kustomization: "kustomizations",
  Namespace: "namespaces",
  NetworkPolicy: "networkpolicies",
  PersistentVolume: "persistentvolumes",
  Receiver: "receivers",
  Role: "roles",
  RoleBinding: "rolebindings",
  SealedSecret: "sealedsecrets",
  Secret: "secrets",
  SecretStore: "secretstores",
  ServiceAccount: "serviceaccounts",
  StorageClass: "storageclasses",
  ValidatingAdmissionPolicy: "validatingadmissionpolicies",
  ValidatingAdmissionPolicyBinding: "validatingadmissionpolicybindings",
};

/**
 * Kinds whose names the platform team chooses: a generation of sealing keys, a spoke's own secrets. Under any name they lead no
 * further than under a known one: a SecretStore's role and the sealing key decide what is in them. They also go again, and nobody sees
 * that this is refused before the chain's next reconciliation, up to 10 minutes later. Whoever may patch one can make it useless anyway.
 */
const anyName = ["ExternalSecret", "SealedSecret"];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

type Identified = Pick<Manifest, "apiVersion" | "kind" | "metadata">;

const groupOf = (apiVersion: string): string => (apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "");
const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();

function resourceOf(kind: string): string {
  const resource = resources[kind];
  if (resource === undefined)
    throw new Error(`the chain applies a ${kind} to a spoke: add its resource to ${import.meta.filename}`);
  return resource;
}

/** Whether Flux deletes the object and creates it again when a field changes that Kubernetes doesn't change. */
const isMadeAgain = ({ metadata }: Identified): boolean =>
  metadata.annotations?.["kustomize.toolkit.fluxcd.io/force"] === "Enabled";

function rules(objects: readonly Identified[]): Rule[] {
  const kinds = sorted(objects.map(({ apiVersion, kind }) => `${groupOf(apiVersion)}/${kind}`));
  return kinds.map((id) => {
    const [apiGroup = "", kind = ""] = id.split("/");
    const names = objects.filter((object) => `${groupOf(object.apiVersion)}/${object.kind}` === id);
    return {
      apiGroups: [apiGroup],
      resources: [resourceOf(kind)],
      ...(anyName.includes(kind) ? {} : { resourceNames: sorted(names.map(({ metadata }) => metadata.name)) }),
      verbs: anyName.includes(kind) || names.some(isMadeAgain) ? [...verbs, "delete"] : verbs,
    };
  });
}

/**
 * Who writes a policy's binding must be allowed to read its parameters (Kubernetes, validatingadmissionpolicybinding/authz.go), and is
 * asked at every write. Parameters by name are objects of the chain; these are whole kinds.
 */
function parameterRules(objects: readonly Manifest[]): Rule[] {
  const policies = new Map(
    objects.flatMap(({ kind, metadata, spec }) =>
      kind === "ValidatingAdmissionPolicy" ? [[metadata.name, spec.paramKind] as const] : [],
    ),
  );
  const kinds = objects.flatMap(({ kind, spec }) =>
    kind === "ValidatingAdmissionPolicyBinding" && spec.paramRef?.selector ? [policies.get(spec.policyName)] : [],
  );
  return sorted(kinds.map(({ apiVersion, kind }) => `${groupOf(apiVersion)}/${kind}`)).map((id) => {
    const [apiGroup = "", kind = ""] = id.split("/");
    return { apiGroups: [apiGroup], resources: [resourceOf(kind)], verbs: ["list"] };
  });
}

const role = (kind: "Role" | "ClusterRole", namespace?: string): Identified => ({
  apiVersion: `${rbac}/v1`,
  kind,
  metadata: { name: roleName, ...(namespace === undefined ? {} : { namespace }) },
});

const binding = (of: Identified) => ({
  apiVersion: of.apiVersion,
  kind: `${of.kind}Binding`,
  metadata: of.metadata,
  roleRef: { apiGroup: rbac, kind: of.kind, name: roleName },
  subjects: [{ apiGroup: rbac, kind: "Group", name: hubGroups.kustomize_controller }],
});

/** As YAML, with lists of names in one line where they fit. */
function written(object: object): string {
  const document = new Document(object, { aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_key, list) => {
      list.flow = list.items.every((item) => isScalar(item)) && list.items.join(", ").length < 90;
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** A role of a cluster and roles of the namespaces that the objects are in. */
const rolesFor = (objects: readonly Manifest[]): Identified[] => [role("ClusterRole"), ...namespacedRolesFor(objects)];
/** Roles of the namespaces that the objects are in alone: for what some clusters have besides. */
export const namespacedRolesFor = (objects: readonly Manifest[]): Identified[] =>
  sorted(objects.flatMap(({ metadata }) => metadata.namespace ?? [])).map((namespace) => role("Role", namespace));

/** The file with the rights, given what the chain applies to a spoke beside it. */
export function rightsFile(objects: readonly Manifest[], header: string, roles = rolesFor(objects)): string {
  const all = [...objects, ...roles.flatMap((each) => [each, binding(each)])];
  const documents = roles.flatMap((each) => {
    const own = all.filter(({ metadata }) => metadata.namespace === each.metadata.namespace);
    const parameters = each.kind === "ClusterRole" ? parameterRules(objects) : [];
    return [{ ...each, rules: [...rules(own), ...parameters] }, binding(each)];
  });
  return header + documents.map(written).join("---\n");
}
