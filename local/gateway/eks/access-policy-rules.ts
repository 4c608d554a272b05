import type { V1PolicyRule } from "@kubernetes/client-node";

const READ = ["get", "list", "watch"];
const CHANGE = ["create", "delete", "deletecollection", "patch", "update"];

/** One rule for each API group; resources stand with spaces between them. */
const rules = (verbs: string[], resources: Readonly<Record<string, string>>): V1PolicyRule[] =>
  Object.entries(resources).map(([group, names]) => ({ apiGroups: [group], resources: names.split(" "), verbs }));

const VIEW = rules(READ, {
  "":
    "bindings configmaps endpoints events limitranges namespaces namespaces/status persistentvolumeclaims " +
    "persistentvolumeclaims/status pods pods/log pods/status replicationcontrollers replicationcontrollers/scale " +
    "replicationcontrollers/status resourcequotas resourcequotas/status serviceaccounts services services/status",
  apps:
    "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets " +
    "replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
  autoscaling: "horizontalpodautoscalers horizontalpodautoscalers/status",
  batch: "cronjobs cronjobs/status jobs jobs/status",
  "discovery.k8s.io": "endpointslices",
  extensions:
    "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status " +
    "networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale",
  "networking.k8s.io": "ingresses ingresses/status networkpolicies",
  policy: "poddisruptionbudgets poddisruptionbudgets/status",
});

const EDIT = [
  ...VIEW,
  ...rules([...READ, ...CHANGE], {
    "": "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
  }),
  ...rules(CHANGE, {
    "":
      "configmaps events persistentvolumeclaims pods replicationcontrollers replicationcontrollers/scale " +
      "serviceaccounts services",
    apps:
      "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets " +
      "statefulsets/scale",
    autoscaling: "horizontalpodautoscalers",
    batch: "cronjobs jobs",
    extensions:
      "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets " +
      "replicasets/scale replicationcontrollers/scale",
    "networking.k8s.io": "ingresses networkpolicies",
    policy: "poddisruptionbudgets",
  }),
  ...rules(["impersonate"], { "": "serviceaccounts" }),
];

const ADMIN = [
  ...EDIT,
  ...rules(["create"], { "authorization.k8s.io": "localsubjectaccessreviews" }),
  ...rules([...READ, ...CHANGE], { "rbac.authorization.k8s.io": "rolebindings roles" }),
];

const CLUSTER_ADMIN: V1PolicyRule[] = [...rules(["*"], { "*": "*" }), { nonResourceURLs: ["*"], verbs: ["*"] }];

/**
 * The access policies that the gateway serves, with all that each allows. They name Kubernetes' own kinds one by one, so those of
 * CRDs are in the two with `*` alone (EKS User Guide, "Review access policy permissions", as of 18 December 2024).
 */
export const ACCESS_POLICIES = {
  AmazonEKSClusterAdminPolicy: CLUSTER_ADMIN,
  AmazonEKSAdminPolicy: ADMIN,
  AmazonEKSAdminViewPolicy: rules(READ, { "*": "*" }),
  AmazonEKSEditPolicy: EDIT,
  AmazonEKSViewPolicy: VIEW,
};

export type AccessPolicyName = keyof typeof ACCESS_POLICIES;
