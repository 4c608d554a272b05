import { join } from "node:path";
import type { ClusterAddresses, Instance, NodeAddresses } from "../instance/addresses.ts";
import { FUNCTION_REPOSITORY } from "../product.ts";
import { REGISTRY } from "../registry/names.ts";
import type { KeyFiles } from "./pki.ts";

const EVICTION_SIGNALS = [
  "memory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
];

/** The host under which manifests name the image of the composition function, which other pods run, too. */
export const FUNCTION_HOST = FUNCTION_REPOSITORY.split("/")[0] as string;

/** A taint, as kubelet registers it. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

/** What a node is made from. */
export interface NodeOptions {
  /** 0 to 3, unique in the cluster. */
  readonly number: number;
  /** Name of the Node object, like `ip-10-0-1-23.ec2.internal`. */
  readonly nodeName: string;
  /** Besides those for zone and instance type, which are set from the fields below. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly instanceType: string;
  /** Further fields of KubeletConfiguration. Those that all nodes here have in common can't be among them. */
  readonly kubelet?: Readonly<Record<string, unknown>>;
  /** Availability zone, like `us-east-1a`. */
  readonly zone: string;
  /** `i-…`: part of the node's providerID. */
  readonly instanceId: string;
}

/** Paths that a node's processes share. */
export function nodeFiles(node: NodeAddresses) {
  return {
    containerdConfig: join(node.dir, "containerd.toml"),
    containerdRoot: join(node.dir, "containerd"),
    containerdSocket: join(node.run, "containerd.sock"),
    baseRuntimeSpec: join(node.dir, "base-runtime-spec.json"),
    cni: join(node.dir, "cni"),
    registries: join(node.dir, "registries"),
    registryHosts: join(node.dir, "registries", REGISTRY, "hosts.toml"),
    functionHosts: join(node.dir, "registries", FUNCTION_HOST, "hosts.toml"),
    kubeletRoot: join(node.run, "kubelet"),
    kubeletConfig: join(node.dir, "kubelet.json"),
    kubeletKubeconfig: join(node.dir, "kubelet.kubeconfig"),
    proxyConfig: join(node.dir, "kube-proxy.json"),
    proxyKubeconfig: join(node.dir, "kube-proxy.kubeconfig"),
    policyKubeconfig: join(node.dir, "network-policy.kubeconfig"),
    policySocket: join(node.run, "network-policy.sock"),
    agentSocket: join(node.run, "pod-identity-agent.sock"),
    importedImages: join(node.dir, "images.json"),
  };
}

/** PATH of a node's processes: the toolchain's commands come before the machine's. */
export function programPath(system: string): string {
  return [system, "/usr/sbin", "/usr/bin", "/sbin", "/bin"].join(":");
}

/** containerd's configuration (TOML; a JSON string is a TOML string). */
export function containerdConfig(node: NodeAddresses, cni: string, pauseImage: string): string {
  const files = nodeFiles(node);
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = ${JSON.stringify(join(node.disk, "containerd"))}
state = ${JSON.stringify(join(node.run, "containerd"))}
disabled_plugins = [${["aufs", "btrfs", "devmapper", "native", "zfs"].map((name) => `"io.containerd.snapshotter.v1.${name}"`).join(", ")}]
[grpc]
  address = ${JSON.stringify(files.containerdSocket)}
[plugins."io.containerd.internal.v1.opt"]
  path = ${JSON.stringify(join(node.disk, "opt"))}
[${cri}]
  sandbox_image = ${JSON.stringify(pauseImage)}
  stream_server_address = "127.0.0.1"
  disable_apparmor = true
  # A machine without CAP_SYS_RESOURCE can't lower a score: runc would fail there.
  restrict_oom_score_adj = true
  # As containerd 2 does: programs that aren't root may listen on port 53.
  enable_unprivileged_ports = true
  # Under this node's folder, so that its mounts are told from those of other nodes.
  netns_mounts_under_state_dir = true
  [${cri}.containerd]
    snapshotter = "overlayfs"
    [${cri}.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      base_runtime_spec = ${JSON.stringify(files.baseRuntimeSpec)}
      [${cri}.containerd.runtimes.runc.options]
        SystemdCgroup = false
        Root = ${JSON.stringify(join(node.run, "runc"))}
  [${cri}.registry]
    config_path = ${JSON.stringify(files.registries)}
  [${cri}.cni]
    bin_dir = ${JSON.stringify(cni)}
    conf_dir = ${JSON.stringify(files.cni)}
`;
}

/**
 * Where containerd finds the instance's registry, whose name only pods can resolve.
 * @param upstream a host whose images the registry has, under its name
 */
export function registryHosts(instance: Instance, upstream?: string): string {
  const root = `https://${instance.gatewayAddress}:${REGISTRY.split(":")[1]}`;
  const url = upstream === undefined ? root : `${root}/v2/${upstream}`;
  // The path is the registry's then, and containerd adds no /v2 to it.
  const path = upstream === undefined ? "" : "override_path = true\n";
  return `server = "${url}"
${path}[host."${url}"]
  capabilities = ["pull", "resolve"]
  ca = ${JSON.stringify(instance.paths.caCertificate)}
${path && `  ${path}`}`;
}

/** containerd's own runtime spec (`ctr oci spec`) plus the instance's CA as the only root of every container. */
export function baseRuntimeSpec(defaultSpec: string, instance: Instance): string {
  const spec = JSON.parse(defaultSpec) as { mounts: object[] };
  const ca = {
    destination: "/etc/ssl/certs/ca-certificates.crt",
    type: "bind",
    source: instance.paths.caCertificate,
    options: ["bind", "ro", "nosuid", "nodev"],
  };
  return JSON.stringify({ ...spec, mounts: [...spec.mounts, ca] });
}

/**
 * The pod network: a link per pod, routed and never translated, so that every pod is seen under its own address and
 * nothing depends on bridge netfilter.
 */
export function cniConfig(node: NodeAddresses): object {
  return {
    cniVersion: "1.0.0",
    name: node.namespace,
    plugins: [
      {
        type: "ptp",
        ipMasq: false,
        ipam: {
          type: "host-local",
          dataDir: join(node.run, "ipam"),
          ranges: [[{ subnet: node.podCidr }]],
          routes: [{ dst: "0.0.0.0/0" }],
        },
      },
    ],
  };
}

/** kubelet's configuration. */
export function kubeletConfig(
  cluster: ClusterAddresses,
  node: NodeAddresses,
  options: NodeOptions,
  serving: KeyFiles,
  authority: string,
): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    clusterDNS: [cluster.dnsAddress],
    ...options.kubelet,
    containerRuntimeEndpoint: `unix://${nodeFiles(node).containerdSocket}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: node.cgroup,
    failCgroupV1: false,
    failSwapOn: false,
    address: node.address,
    healthzBindAddress: "127.0.0.1",
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: authority } },
    authorization: { mode: "Webhook" },
    tlsCertFile: serving.certificate,
    tlsPrivateKeyFile: serving.key,
    clusterDomain: "cluster.local",
    // Pods with dnsPolicy Default get no name server: there is nothing outside the instance that they could ask.
    resolvConf: "",
    providerID: `aws:///${options.zone}/${options.instanceId}`,
    registerWithTaints: options.taints ?? [],
    // No eviction: memory and disk are the whole machine's, and not only this node's to judge.
    evictionHard: Object.fromEntries(EVICTION_SIGNALS.map((name) => [name, "0%"])),
    // Images are imported, not pulled: one that is removed can't come back.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    localStorageCapacityIsolation: false,
    enforceNodeAllocatable: ["pods"],
    // ASCII alone is allowed (Kubernetes, pkg/kubelet/apis/config/validation).
    podLogsDir: join(node.disk, "pod-logs"),
    volumePluginDir: join(nodeFiles(node).kubeletRoot, "volume-plugins"),
    serializeImagePulls: false,
  };
}

/** Labels that a node registers with. */
export function nodeLabels({ labels = {}, zone, instanceType }: NodeOptions): Record<string, string> {
  return {
    ...labels,
    "topology.kubernetes.io/zone": zone,
    "topology.kubernetes.io/region": zone.replace(/[a-z]$/, ""),
    "node.kubernetes.io/instance-type": instanceType,
  };
}

/** kube-proxy's configuration. */
export function proxyConfig(cluster: ClusterAddresses, node: NodeAddresses, nodeName: string): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clientConnection: { kubeconfig: nodeFiles(node).proxyKubeconfig },
    hostnameOverride: nodeName,
    clusterCIDR: cluster.podCidr,
    // The limits of connection tracking are the machine's, not the namespace's.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
    healthzBindAddress: `${node.address}:10256`,
    metricsBindAddress: "127.0.0.1:10249",
  };
}
