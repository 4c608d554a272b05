import { type Cases, type Requested, removals, tenantNamespace } from "./admission-request.ts";

/** What runs in a tenant's namespace, and what tools/base/policies/tenant-workloads.yaml says of it. */

const made = (apiVersion: string, kind: string, spec: object): Requested => ({
  apiVersion,
  kind,
  metadata: { name: "trial", namespace: tenantNamespace },
  spec,
});

const service = (spec: object) => made("v1", "Service", { ports: [{ port: 80 }], ...spec });
/** As the namespace's pod security standard wants it. */
const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
const pod = (spec: object = {}) => ({
  securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
  containers: [{ name: "it", image: "example.com/it:1", securityContext: restricted }],
  ...spec,
});
const labels = { app: "trial" };
const template = (spec?: object) => ({ metadata: { labels }, spec: pod(spec) });
const selected = (spec?: object) => ({ selector: { matchLabels: labels }, template: template(spec) });
const once = (spec?: object) => ({ template: template({ restartPolicy: "Never", ...spec }) });

/** Every kind that pods come from. */
const kinds: readonly ((spec?: object) => Requested)[] = [
  (spec) => made("apps/v1", "Deployment", selected(spec)),
  (spec) => made("apps/v1", "ReplicaSet", selected(spec)),
  (spec) => made("apps/v1", "DaemonSet", selected(spec)),
  (spec) => made("apps/v1", "StatefulSet", { ...selected(spec), serviceName: "trial" }),
  (spec) => made("v1", "ReplicationController", { selector: labels, template: template(spec) }),
  (spec) => made("batch/v1", "Job", once(spec)),
  (spec) => made("batch/v1", "CronJob", { schedule: "0 0 * * *", jobTemplate: { spec: once(spec) } }),
];

const critical = { priorityClassName: "system-cluster-critical" };

export const tenantWorkloads: Cases = [
  { title: "a Service", object: service({}) },
  {
    title: "a Service that takes the traffic of an address",
    object: service({ externalIPs: ["203.0.113.1"] }),
    refused: "spec.externalIPs of Service trial would take the traffic of these addresses from the whole cluster",
  },
  { title: "a Service for a name outside", object: service({ type: "ExternalName", externalName: "db.example.com" }) },
  ...["api.billing.svc", "api.billing.svc.cluster.local.", "api.fleet.local"].map((externalName) => ({
    title: `a Service for ${externalName}`,
    object: service({ type: "ExternalName", externalName }),
    refused: `spec.externalName of Service trial must be a name outside of the cluster; got ${externalName}`,
  })),
  ...removals(service({}), service({ externalIPs: ["203.0.113.1"] }), "spec.externalIPs of Service trial"),
  ...kinds.flatMap((kind): Cases => {
    const { kind: name } = kind();
    return [
      { title: `a ${name}`, object: kind() },
      {
        title: `a ${name} of a class of its own`,
        object: kind({ priorityClassName: "payments" }),
      },
      {
        title: `a ${name} of the system's class`,
        object: kind(critical),
        refused: `priorityClassName of ${name} trial must not be one of the system (system-...); got system-cluster-critical`,
      },
    ];
  }),
  {
    title: "a Deployment of the system's class in a namespace of the platform",
    object: {
      ...made("apps/v1", "Deployment", selected(critical)),
      metadata: { name: "trial", namespace: "flux-system" },
    },
  },
  { title: "a Pod", object: made("v1", "Pod", pod()) },
  {
    title: "a Pod of the system's class",
    object: made("v1", "Pod", pod({ priorityClassName: "system-node-critical" })),
    refused: "priorityClassName of Pod trial must not be one of the system (system-...); got system-node-critical",
  },
];
