import { describe, expect, test } from "vitest";
import {
  apiServerNames,
  apiServerSpec,
  authenticationConfiguration,
  type ControlPlaneFiles,
  controllerManagerSpec,
  encryptionConfiguration,
  schedulerSpec,
  tokenWebhookConfiguration,
} from "../../../clusters/control-plane.ts";
import { etcdSpec } from "../../../clusters/etcd.ts";
import { networkPolicySpec } from "../../../clusters/network-policy.ts";
import {
  baseRuntimeSpec,
  cniConfig,
  containerdConfig,
  FUNCTION_HOST,
  kubeletConfig,
  nodeFiles,
  nodeLabels,
  proxyConfig,
  registryHosts,
} from "../../../clusters/node-config.ts";
import { strayFiles } from "../../../clusters/node-removal.ts";
import { checkOptions } from "../../../clusters/options.ts";
import { podIdentityAgentSpec } from "../../../clusters/pod-identity-agent.ts";
import { clusterAt, instanceAt, nodeAt } from "../../../instance/addresses.ts";

const instance = instanceAt("/work/.local", 0);
const cluster = clusterAt(instance, "hub", 0);
const node = nodeAt(instance, cluster, 0);
const issuer = "https://oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF";
const options = {
  name: "hub",
  number: 0,
  kubernetesVersion: "1.34",
  issuer,
  tokenWebhookUrl: "http://127.100.0.1:9443/authenticate/hub",
};
const pair = (name: string) => ({ key: `/pki/${name}.key`, certificate: `/pki/${name}.crt` });
const authority = (name: string) => ({
  files: pair(name),
  certificate: "PEM",
  issue: () => Promise.reject(new Error()),
});
const files: ControlPlaneFiles = {
  authority: authority("ca"),
  frontProxy: authority("front-proxy-ca"),
  serviceAccount: { key: "/pki/sa.key", publicKey: "/pki/sa.pub" },
  server: pair("server"),
  kubeletClient: pair("kubelet-client"),
  frontProxyClient: pair("front-proxy-client"),
  controllerManager: { ...pair("kcm"), kubeconfig: "/kcm.kubeconfig" },
  scheduler: { ...pair("scheduler"), kubeconfig: "/scheduler.kubeconfig" },
  authentication: "/authentication.json",
  tokenWebhook: "/token-webhook.json",
  encryption: undefined,
};

describe("control plane", () => {
  const { argv, ready } = apiServerSpec(instance, cluster, options, files, "/bin/kube-apiserver");

  test("the API server listens behind the cluster's endpoint, on the same port", () => {
    expect(argv).toContain("--bind-address=100.64.253.1");
    expect(argv).toContain("--advertise-address=100.64.254.1");
    expect(argv).toContain("--secure-port=443");
    expect(ready).toEqual({ http: { url: "https://100.64.253.1/readyz", caFile: "/pki/ca.crt" } });
    expect(apiServerNames(cluster)).toEqual(
      expect.arrayContaining([
        "100.64.253.1",
        "100.64.254.1",
        "100.64.1.1",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
      ]),
    );
  });

  test("the issuer of EKS comes first, and a token for STS does not open the API server", () => {
    const issuers = argv.filter((arg) => arg.startsWith("--service-account-issuer="));
    expect(issuers).toEqual([
      `--service-account-issuer=${issuer}`,
      "--service-account-issuer=https://kubernetes.default.svc",
    ]);
    expect(argv).toContain(`--api-audiences=${issuer},https://kubernetes.default.svc`);
    expect(argv.join(" ")).not.toContain("sts.amazonaws.com");
  });

  test("all components speak the version asked for", () => {
    const specs = [
      argv,
      controllerManagerSpec(cluster, options, files, "kcm").argv,
      schedulerSpec(cluster, options, files, "scheduler").argv,
    ];
    for (const args of specs) expect(args).toContain("--emulated-version=kube=1.34");
  });

  test("clusters share etcd but no keys in it, and etcd takes only clients of its own authority", () => {
    const other = clusterAt(instance, "spoke", 1);
    const otherArgs = apiServerSpec(instance, other, { ...options, name: "spoke", number: 1 }, files, "x").argv;
    expect(argv).toContain("--etcd-prefix=/clusters/hub");
    expect(otherArgs).toContain("--etcd-prefix=/clusters/spoke");
    const etcd = etcdSpec(instance, "etcd", "/pki/etcd-ca.crt", pair("etcd")).argv;
    expect(etcd).toContain("--client-cert-auth=true");
    expect(etcd).toContain("--listen-client-urls=https://127.100.0.1:2379");
  });

  test("anonymous callers see health and nothing else", () => {
    expect(authenticationConfiguration()).toMatchObject({
      anonymous: { enabled: true, conditions: [{ path: "/livez" }, { path: "/readyz" }, { path: "/healthz" }] },
    });
  });

  test("Secrets are encrypted when asked, and those from before stay readable", () => {
    expect(argv.some((arg) => arg.startsWith("--encryption-provider-config"))).toBe(false);
    const encrypted = apiServerSpec(instance, cluster, options, { ...files, encryption: "/encryption.json" }, "x").argv;
    expect(encrypted).toContain("--encryption-provider-config=/encryption.json");
    expect(encryptionConfiguration("a2V5")).toMatchObject({
      resources: [
        { resources: ["secrets"], providers: [{ secretbox: { keys: [{ secret: "a2V5" }] } }, { identity: {} }] },
      ],
    });
  });

  test("the token webhook is the one given", () => {
    expect(tokenWebhookConfiguration(options.tokenWebhookUrl)).toMatchObject({
      clusters: [{ cluster: { server: "http://127.100.0.1:9443/authenticate/hub" } }],
    });
  });

  test("options that can't work are refused all at once, each with what is allowed", () => {
    expect(() => checkOptions(options)).not.toThrow();
    const wrong = { ...options, kubernetesVersion: "1.20", issuer: "http://x/", tokenWebhookUrl: "unix:/x" };
    expect(() => checkOptions(wrong)).toThrow(
      /hub can't be started: kubernetesVersion: got 1.20, allowed are 1.33, 1.34, 1.35, 1.36; issuer: got http:.*; tokenWebhookUrl: got unix:/,
    );
  });
});

describe("nodes", () => {
  const nodeOptions = {
    number: 0,
    nodeName: "ip-100-64-0-2.ec2.internal",
    labels: { "eks.amazonaws.com/nodegroup": "default" },
    taints: [{ key: "dedicated", value: "gitops", effect: "NoSchedule" as const }],
    instanceType: "m6i.large",
    zone: "us-east-1a",
    instanceId: "i-0123456789abcdef0",
  };

  test("a node is named and labelled as one of EKS", () => {
    expect(nodeLabels(nodeOptions)).toEqual({
      "eks.amazonaws.com/nodegroup": "default",
      "topology.kubernetes.io/zone": "us-east-1a",
      "topology.kubernetes.io/region": "us-east-1",
      "node.kubernetes.io/instance-type": "m6i.large",
    });
    expect(kubeletConfig(cluster, node, nodeOptions, pair("kubelet"), "/pki/ca.crt")).toMatchObject({
      providerID: "aws:///us-east-1a/i-0123456789abcdef0",
      registerWithTaints: nodeOptions.taints,
      clusterDNS: ["100.64.1.10"],
      cgroupRoot: "/fleet-0/hub-0",
      authentication: { anonymous: { enabled: false } },
    });
  });

  test("every container gets the instance's CA as its only root, beside what containerd mounts", () => {
    const spec = JSON.parse(
      baseRuntimeSpec('{"ociVersion":"1","mounts":[{"destination":"/proc"}]}', instance),
    ) as object;
    expect(spec).toEqual({
      ociVersion: "1",
      mounts: [
        { destination: "/proc" },
        {
          destination: "/etc/ssl/certs/ca-certificates.crt",
          type: "bind",
          source: "/work/.local/ca/ca.crt",
          options: ["bind", "ro", "nosuid", "nodev"],
        },
      ],
    });
  });

  test("pods keep their own address wherever they go, and nodes of a cluster differ in theirs", () => {
    const second = nodeAt(instance, cluster, 1);
    expect(cniConfig(node)).toMatchObject({
      plugins: [{ type: "ptp", ipMasq: false, ipam: { ranges: [[{ subnet: "100.64.4.0/24" }]] } }],
    });
    expect(cniConfig(second)).toMatchObject({ plugins: [{ ipam: { ranges: [[{ subnet: "100.64.5.0/24" }]] } }] });
    expect(proxyConfig(cluster, node, "n")).toMatchObject({ mode: "nftables", clusterCIDR: "100.64.4.0/22" });
  });

  test("what killed shims and libcni leave outside the node's folders is known by name", () => {
    expect(strayFiles(node, "abc")).toEqual([
      // sha256 of /run/eks-gitops-fleet/0/c0n0/containerd.sock/k8s.io/abc
      "/run/containerd/s/6ce3802d792ccc57303a0791e010789ed5ae9b09252d1bbd5a521506a047d086",
      "/var/lib/cni/results/fleet-0-hub-0-abc-eth0",
      "/var/lib/cni/results/cni-loopback-abc-lo",
    ]);
  });

  test("containerd keeps all that it mounts and starts under the node's own folders", () => {
    const config = containerdConfig(node, "/usr/lib/cni", "registry.k8s.io/pause:3.10");
    for (const line of [
      'root = "/run/eks-gitops-fleet/0/c0n0/disk/containerd"',
      'state = "/run/eks-gitops-fleet/0/c0n0/containerd"',
      'Root = "/run/eks-gitops-fleet/0/c0n0/runc"',
      "netns_mounts_under_state_dir = true",
      'sandbox_image = "registry.k8s.io/pause:3.10"',
    ])
      expect(config).toContain(line);
  });

  test("what containerd and kubelet store and serve has short ASCII paths, whatever the paths of the instance and the name of the cluster", () => {
    const deep = instanceAt(`/home/ä b/${"d".repeat(300)}`, 62);
    const named = clusterAt(deep, `${"c".repeat(100)}.123456789012`, 30);
    const last = nodeAt(deep, named, 3);
    const files = nodeFiles(last);
    const config = containerdConfig(last, "/usr/lib/cni", "pause");
    const [, root = ""] = /^root = "(.*)"$/m.exec(config) ?? [];
    const { podLogsDir } = kubeletConfig(named, last, nodeOptions, pair("kubelet"), "/ca.crt") as {
      podLogsDir: string;
    };
    const sockets = [files.containerdSocket, files.policySocket, files.agentSocket, deep.paths.supervisorSocket];
    for (const path of [...sockets, deep.paths.metadataSocket, files.kubeletRoot, root, podLogsDir])
      expect(path).toMatch(/^\/run\/eks-gitops-fleet\/62[/\w.-]{0,40}$/);
  });

  test("containerd pulls the function's image, which other pods run by its upstream name, from the instance's registry", () => {
    expect(nodeFiles(node).functionHosts).toBe(
      `/work/.local/clusters/hub/nodes/0/registries/${FUNCTION_HOST}/hosts.toml`,
    );
    const registry = `https://${instance.gatewayAddress}:5000`;
    expect(registryHosts(instance, FUNCTION_HOST)).toBe(
      [
        `server = "${registry}/v2/${FUNCTION_HOST}"`,
        "override_path = true",
        `[host."${registry}/v2/${FUNCTION_HOST}"]`,
        '  capabilities = ["pull", "resolve"]',
        `  ca = "${instance.paths.caCertificate}"`,
        "  override_path = true",
        "",
      ].join("\n"),
    );
    expect(registryHosts(instance)).not.toContain("/v2");
  });
});

test("what enforces NetworkPolicies runs in the node's network, with iptables and ipset of the toolchain first, and is ready when its rules are written", () => {
  const tools = { bin: (name: string) => `/cache/${name}`, system: "/cache/system" };
  expect(networkPolicySpec(cluster, node, "ip-10-0-1-5.ec2.internal", tools)).toEqual({
    id: "hub.0.network-policy",
    argv: [
      "/cache/network-policy",
      "--kubeconfig=/work/.local/clusters/hub/nodes/0/network-policy.kubeconfig",
      "--node=ip-10-0-1-5.ec2.internal",
      "--service-cidr=100.64.1.0/24",
      "--ready-socket=/run/eks-gitops-fleet/0/c0n0/network-policy.sock",
    ],
    env: { PATH: "/cache/system:/usr/sbin:/usr/bin:/sbin:/bin" },
    netns: "fleet-0-hub-0",
    cgroup: "/fleet-0/hub-0/system",
    ready: { unix: "/run/eks-gitops-fleet/0/c0n0/network-policy.sock" },
  });
});

test("the EKS Pod Identity Agent runs in the node's network, knows its cluster and node, and holds no credentials in its arguments", () => {
  const spec = podIdentityAgentSpec(instance, cluster, node, "us-east-1");
  const socket = "/run/eks-gitops-fleet/0/c0n0/pod-identity-agent.sock";
  expect(spec).toEqual({
    id: "hub.0.pod-identity-agent",
    argv: [
      process.execPath,
      expect.stringMatching(/local\/pod-identity-agent\/main\.ts$/),
      ...["hub", "0", "us-east-1", "http://100.64.255.1:4566", "/run/eks-gitops-fleet/0/metadata.sock", socket],
    ],
    netns: "fleet-0-hub-0",
    cgroup: "/fleet-0/hub-0/system",
    ready: { unix: socket },
  });
});
