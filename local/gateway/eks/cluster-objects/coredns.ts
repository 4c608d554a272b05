import type { KubernetesObject } from "@kubernetes/client-node";
import { imageReferences } from "../../../toolchain/index.ts";
import { NAMESPACE } from "../addon-catalog.ts";
import { binding, clusterRole } from "./rbac.ts";

/** What CoreDNS needs to know of its cluster. */
export interface CoreDnsSettings {
  /** Address of the Service kube-dns, which the kubelet writes into pods. */
  readonly dnsAddress: string;
  /** Address that stands for all of AWS and the local hosts. */
  readonly gatewayAddress: string;
  /** configurationValues of the add-on. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether every node has it. Default: as many pods as `values` say. */
  readonly onEachNode?: boolean;
}

const LABELS = { "k8s-app": "kube-dns", "eks.amazonaws.com/component": "coredns" };

/**
 * The names that pods resolve: the cluster's own, and with the gateway's address everything of AWS and of the local hosts.
 * Nothing is forwarded: any other name does not exist, so no pod reaches out by name. IPv6 questions get an empty answer.
 */
export function corefile(gatewayAddress: string): string {
  return `cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {
    errors
    health {
        lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
    }
    cache 30
    reload
    loadbalance
}
amazonaws.com:53 api.aws:53 fleet.internal:53 {
    errors
    template IN A {
        answer "{{ .Name }} 60 IN A ${gatewayAddress}"
    }
    template ANY ANY {
        rcode NOERROR
    }
}
.:53 {
    errors
    template ANY ANY {
        rcode NXDOMAIN
    }
}
`;
}

/** The objects of the add-on coredns. */
export function coreDnsObjects(settings: CoreDnsSettings): KubernetesObject[] {
  const { values, onEachNode = false } = settings;
  const metadata = { name: "coredns", namespace: NAMESPACE, labels: LABELS };
  const roleMetadata = { name: "system:coredns", labels: LABELS };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    clusterRole(roleMetadata, [
      { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
    ]),
    binding(roleMetadata, roleMetadata.name, { kind: "ServiceAccount", name: "coredns", namespace: NAMESPACE }),
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { Corefile: corefile(settings.gatewayAddress) } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kube-dns", namespace: NAMESPACE, labels: LABELS },
      spec: {
        clusterIP: settings.dnsAddress,
        selector: { "k8s-app": "kube-dns" },
        ports: [
          { name: "dns", port: 53, protocol: "UDP", targetPort: 53 },
          { name: "dns-tcp", port: 53, protocol: "TCP", targetPort: 53 },
        ],
      },
    },
    workload(metadata, values, onEachNode),
  ] as KubernetesObject[];
}

function workload(metadata: object, values: Readonly<Record<string, unknown>>, onEachNode: boolean): object {
  return {
    apiVersion: "apps/v1",
    kind: onEachNode ? "DaemonSet" : "Deployment",
    metadata,
    spec: {
      // One is enough on one machine; the add-on's replicaCount raises it.
      ...(onEachNode ? {} : { replicas: values["replicaCount"] ?? 1 }),
      selector: { matchLabels: { "k8s-app": "kube-dns" } },
      template: {
        metadata: {
          labels: { ...LABELS, ...(values["podLabels"] as object | undefined) },
          annotations: values["podAnnotations"] ?? {},
        },
        spec: {
          serviceAccountName: "coredns",
          priorityClassName: "system-cluster-critical",
          // Port 53 without root.
          securityContext: {
            runAsNonRoot: true,
            sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }],
          },
          // The node's resolver, not CoreDNS itself.
          dnsPolicy: "Default",
          nodeSelector: values["nodeSelector"] ?? {},
          ...(values["affinity"] === undefined ? {} : { affinity: values["affinity"] }),
          tolerations: values["tolerations"] ?? [{ key: "CriticalAddonsOnly", operator: "Exists" }],
          containers: [
            {
              name: "coredns",
              image: imageReferences.coredns,
              imagePullPolicy: "IfNotPresent",
              args: ["-conf", "/etc/coredns/Corefile"],
              resources: values["resources"] ?? {
                requests: { cpu: "10m", memory: "32Mi" },
                limits: { memory: "170Mi" },
              },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
              ports: [
                { containerPort: 53, name: "dns", protocol: "UDP" },
                { containerPort: 53, name: "dns-tcp", protocol: "TCP" },
              ],
              livenessProbe: { httpGet: { path: "/health", port: 8080 }, initialDelaySeconds: 30, timeoutSeconds: 5 },
              readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 2 },
              volumeMounts: [{ name: "config", mountPath: "/etc/coredns", readOnly: true }],
            },
          ],
          volumes: [{ name: "config", configMap: { name: "coredns", items: [{ key: "Corefile", path: "Corefile" }] } }],
        },
      },
    },
  };
}
