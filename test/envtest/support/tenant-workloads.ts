import { allows, type Cases, type Requested, refuses, removals, tenantNamespace } from "./admission-request.ts";

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
  allows("a Service")(service({})),
  refuses(
    "a Service that takes the traffic of an address",
    "spec.externalIPs of Service trial would take the traffic of these addresses from the whole cluster",
  )(service({ externalIPs: ["203.0.113.1"] })),
  allows("a Service for a name outside")(service({ type: "ExternalName", externalName: "db.example.com" })),
  ...["api.billing.svc", "api.billing.svc.cluster.local.", "api.fleet.local"].map((externalName) =>
    refuses(
      `a Service for ${externalName}`,
      `spec.externalName of Service trial must be a name outside of the cluster; got ${externalName}`,
    )(service({ type: "ExternalName", externalName })),
  ),
  ...removals(service({}), service({ externalIPs: ["203.0.113.1"] }), "spec.externalIPs of Service trial"),
  ...kinds.flatMap((kind): Cases => {
    const { kind: name } = kind();
    return [
      allows(`a ${name}`)(kind()),
      allows(`a ${name} of a class of its own`)(kind({ priorityClassName: "payments" })),
      refuses(
        `a ${name} of the system's class`,
        `priorityClassName of ${name} trial must not be one of the system (system-...); got system-cluster-critical`,
      )(kind(critical)),
    ];
  }),
  allows("a Deployment of the system's class in a namespace of the platform")({
    ...made("apps/v1", "Deployment", selected(critical)),
    metadata: { name: "trial", namespace: "flux-system" },
  }),
  allows("a Pod")(made("v1", "Pod", pod())),
  refuses(
    "a Pod of the system's class",
    "priorityClassName of Pod trial must not be one of the system (system-...); got system-node-critical",
  )(made("v1", "Pod", pod({ priorityClassName: "system-node-critical" }))),
];
