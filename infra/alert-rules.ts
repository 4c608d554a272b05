import { readFileSync } from "node:fs";
import { type KubernetesRelease, kubernetesReleases, supportWarningDays } from "../components/versions.ts";
import { type CapacityType, type CountedQuota, countedQuotas, quotas } from "../lib/quotas.ts";

/** The rules of the fleet's workspace of metrics: those of every fleet, and those whose limits the stack or the project has. */

/** Alerts for every fleet: a rules file of Prometheus. */
const rulesFile = new URL("alert-rules.yaml", import.meta.url);

/** What the rules say besides. */
export interface Limits {
  /** Kubernetes minors whose end of support is told. */
  readonly releases: readonly KubernetesRelease[];
  /** Quotas of the fleet's accounts that are not AWS's defaults. */
  readonly serviceQuotas: Readonly<Partial<Record<CountedQuota, number>>>;
  /** When the certificate that seals ends (RFC 3339), by sealing scope. */
  readonly sealingKeyEnds: Readonly<Record<string, string>>;
}

interface Warning {
  readonly alert: string;
  readonly expr: string;
  readonly summary: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const warning = ({ alert, expr, summary, labels }: Warning) => ({
  ...{ alert, expr, for: "1h", labels: { severity: "warning", ...labels } },
  annotations: { runbook: `docs/guides/metrics.md#${alert.toLowerCase()}`, summary },
});

const daysBefore = (date: string, days: number): number => Date.parse(date) / 1000 - days * 86_400;

/** Tells of all that runs a Kubernetes minor whose standard support ends within {@link supportWarningDays}, or has ended. */
const supportRules = ({ minor, supportEnds }: KubernetesRelease) => {
  const isNear = `and on () (vector(time()) > ${daysBefore(supportEnds, supportWarningDays)})`;
  return [
    warning({
      alert: "KubernetesSupportEnds",
      expr:
        "max by (name, spoke_environment, spoke_tenant, kubernetes_version) " +
        `(fleet_spoke_info{job="kube-state-metrics", kubernetes_version="${minor}"}) ${isNear}`,
      summary:
        `Spoke {{ $labels.name }} of {{ $labels.spoke_tenant }} ({{ $labels.spoke_environment }}) runs Kubernetes ${minor}, ` +
        `which EKS supports until ${supportEnds}`,
    }),
    warning({
      alert: "HubSupportEnds",
      expr:
        "max by (cluster) " +
        `(kube_node_info{job="kube-state-metrics", cluster="hub", kubelet_version=~"v${minor.replace(".", "[.]")}[.].+"}) ${isNear}`,
      summary: `Nodes of the hub run Kubernetes ${minor}, which EKS supports until ${supportEnds}`,
    }),
  ];
};

const counted = Object.keys(countedQuotas) as CountedQuota[];

/** The part of a quota from which on the alert is told. */
const nearQuota = 0.8;

/** Resources of a kind that Crossplane manages, by account and region. */
const ofSpokes = (kind: string) => ({
  count:
    "count by (provider_config, region) (count by (provider_config, region, id) " +
    `(crossplane_quota_info{job="kube-state-metrics", cluster="hub", customresource_kind="${kind}"}))`,
  have: "Spokes have",
  where: "{{ $labels.region }}, account of ProviderConfig {{ $labels.provider_config }}",
});

/**
 * vCPUs of the fleet's nodes, by region. kube-state-metrics writes labels in snake case. EKS labels nodes of managed groups, Karpenter and EKS
 * Auto Mode label theirs (EKS User Guide, "Managed node group capacity types"; Karpenter, "Scheduling"). No label has the account.
 */
const ofNodes = (capacityType: CapacityType) => {
  const matcher = capacityType === "SPOT" ? "=" : "!=";
  const labelled = (label: string, value: string) =>
    `kube_node_labels{job="kube-state-metrics", label_${label}${matcher}"${value}"}`;
  const [managed, karpenter] = [
    labelled("eks_amazonaws_com_capacity_type", "SPOT"),
    labelled("karpenter_sh_capacity_type", "spot"),
  ];
  const nodes = `${managed} ${capacityType === "SPOT" ? "or" : "and"} ${karpenter}`;
  return {
    count:
      "sum by (region) (label_replace(" +
      'kube_node_status_capacity{job="kube-state-metrics", resource="cpu"} ' +
      `* on (cluster, node) group_left (label_topology_kubernetes_io_region) (${nodes}), ` +
      '"region", "$1", "label_topology_kubernetes_io_region", "(.+)"))',
    have: "Nodes of the fleet have",
    where: "{{ $labels.region }}",
  };
};

/**
 * Tells of a region in which the fleet uses nearly as much of a quota as AWS allows. The fleet can't use more than the quota: then the quota was
 * raised, and the stack doesn't say so.
 */
function quotaRules(name: CountedQuota, { serviceQuotas }: Limits) {
  const { name: title } = quotas[name];
  const quota = countedQuotas[name];
  const most = serviceQuotas[name] ?? ("initial" in quota ? quota.initial : undefined);
  if (most === undefined) return [];
  const { count, have, where } = "kind" in quota ? ofSpokes(quota.kind) : ofNodes(quota.capacityType);
  return [
    warning({
      alert: "QuotaNear",
      expr: `${count} >= ${Math.ceil(most * nearQuota)} <= ${most}`,
      labels: { quota: title },
      summary: `${have} {{ $value }} of at most ${most} (${title}) in ${where}`,
    }),
  ];
}

/** Days before the end of a sealing key from which on it is told: kubeseal seals with no certificate that has ended. */
const sealingWarningDays = 90;

const sealingRule = ([scope, end]: readonly [string, string]) =>
  warning({
    alert: "SealingKeyEnds",
    expr: `vector(time()) > ${daysBefore(end, sealingWarningDays)}`,
    labels: { scope },
    summary: `Nothing can be sealed any more for ${scope} after ${end}`,
  });

/** The rules of the fleet's workspace, as a rules file of Prometheus. */
export function alertRules(given: Partial<Limits> = {}): string {
  const limits: Limits = { releases: kubernetesReleases, serviceQuotas: {}, sealingKeyEnds: {}, ...given };
  const groups = [
    { name: "kubernetes", rules: limits.releases.flatMap(supportRules) },
    { name: "quotas", rules: counted.flatMap((name) => quotaRules(name, limits)) },
    { name: "sealing-keys", rules: Object.entries(limits.sealingKeyEnds).map(sealingRule) },
  ];
  // JSON is YAML: more groups in the file's list, without a parser that every start of the program would load.
  const lines = groups.filter(({ rules }) => rules.length > 0).map((group) => `  - ${JSON.stringify(group)}\n`);
  return `${readFileSync(rulesFile, "utf8").trimEnd()}\n${lines.join("")}`;
}
