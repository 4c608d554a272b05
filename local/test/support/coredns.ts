import type { KubernetesObject } from "@kubernetes/client-node";

const NAME = { name: "coredns", namespace: "kube-system" };
const LABELS = { "k8s-app": "kube-dns" };

/** CoreDNS as the add-on brings it, in its plainest form, with extra names. */
export function corednsObjects(
  image: string,
  address: string,
  hosts: Readonly<Record<string, string>>,
): KubernetesObject[] {
  const entries = Object.entries(hosts).map(([name, ip]) => `    ${ip} ${name}`);
  const corefile = [
    ".:53 {",
    "  errors",
    "  health",
    "  ready",
    "  hosts {",
    ...entries,
    "    fallthrough",
    "  }",
    "  kubernetes cluster.local in-addr.arpa",
    "  cache 30",
    "}",
  ];
  const rules = [
    { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
  ];
  const rbac = "rbac.authorization.k8s.io";
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: NAME },
    { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: "system:coredns" }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "system:coredns" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "system:coredns" },
      subjects: [{ kind: "ServiceAccount", ...NAME }],
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata: NAME, data: { Corefile: corefile.join("\n") } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kube-dns", namespace: "kube-system" },
      spec: {
        clusterIP: address,
        selector: LABELS,
        ports: [
          { name: "dns", port: 53, protocol: "UDP" },
          { name: "dns-tcp", port: 53, protocol: "TCP" },
          { name: "health", port: 8080, protocol: "TCP" },
        ],
      },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: NAME,
      spec: {
        replicas: 1,
        selector: { matchLabels: LABELS },
        template: {
          metadata: { labels: LABELS },
          spec: {
            serviceAccountName: "coredns",
            dnsPolicy: "Default",
            containers: [
              {
                name: "coredns",
                image,
                args: ["-conf", "/etc/coredns/Corefile"],
                readinessProbe: { httpGet: { path: "/ready", port: 8181 } },
                volumeMounts: [{ name: "config", mountPath: "/etc/coredns" }],
              },
            ],
            volumes: [{ name: "config", configMap: { name: "coredns" } }],
          },
        },
      },
    },
  ] as KubernetesObject[];
}
