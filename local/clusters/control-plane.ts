import { join } from "node:path";
import type { ClusterAddresses, Instance } from "../instance/addresses.ts";
import type { ProcessSpec } from "../supervisor/client.ts";
import { etcdFiles, etcdUrl } from "./etcd.ts";
import { kubeconfigOf } from "./kubeconfig.ts";
import type { ControlPlaneOptions } from "./options.ts";
import type { Authority, KeyFiles } from "./pki.ts";

/** Keys and configuration files of a control plane. */
export interface ControlPlaneFiles {
  readonly authority: Authority;
  readonly frontProxy: Authority;
  readonly serviceAccount: { readonly key: string; readonly publicKey: string };
  readonly server: KeyFiles;
  readonly kubeletClient: KeyFiles;
  readonly frontProxyClient: KeyFiles;
  readonly controllerManager: KeyFiles & { readonly kubeconfig: string };
  readonly scheduler: KeyFiles & { readonly kubeconfig: string };
  readonly authentication: string;
  readonly tokenWebhook: string;
  readonly encryption: string | undefined;
}

/** Id (and log name) of a process of a cluster. */
export function processId(cluster: string, program: string): string {
  return `${cluster}.${program}`;
}

/** The API server. */
export function apiServerSpec(
  instance: Instance,
  cluster: ClusterAddresses,
  options: ControlPlaneOptions,
  files: ControlPlaneFiles,
  program: string,
): ProcessSpec {
  const etcd = etcdFiles(instance);
  return {
    id: processId(cluster.name, "kube-apiserver"),
    argv: [
      program,
      `--emulated-version=kube=${options.kubernetesVersion}`,
      `--bind-address=${cluster.internalAddress}`,
      `--advertise-address=${cluster.apiAddress}`,
      "--secure-port=443",
      `--tls-cert-file=${files.server.certificate}`,
      `--tls-private-key-file=${files.server.key}`,
      `--client-ca-file=${files.authority.files.certificate}`,
      `--etcd-servers=${etcdUrl(instance)}`,
      `--etcd-prefix=${cluster.etcdPrefix}`,
      `--etcd-cafile=${etcd.ca}`,
      `--etcd-certfile=${etcd.client.certificate}`,
      `--etcd-keyfile=${etcd.client.key}`,
      `--service-cluster-ip-range=${cluster.serviceCidr}`,
      // Tokens name the first issuer; the second is the one that in-cluster clients know.
      `--service-account-issuer=${options.issuer}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-jwks-uri=${options.issuer}/keys`,
      `--service-account-key-file=${files.serviceAccount.publicKey}`,
      `--service-account-signing-key-file=${files.serviceAccount.key}`,
      "--service-account-max-token-expiration=24h",
      // Not sts.amazonaws.com: a token for AWS must not open the API server, as on EKS.
      `--api-audiences=${options.issuer},https://kubernetes.default.svc`,
      `--authentication-config=${files.authentication}`,
      `--authentication-token-webhook-config-file=${files.tokenWebhook}`,
      "--authentication-token-webhook-version=v1",
      // Short, so that a removed access entry is soon refused.
      "--authentication-token-webhook-cache-ttl=10s",
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      "--allow-privileged=true",
      `--kubelet-client-certificate=${files.kubeletClient.certificate}`,
      `--kubelet-client-key=${files.kubeletClient.key}`,
      `--kubelet-certificate-authority=${files.authority.files.certificate}`,
      "--kubelet-preferred-address-types=InternalIP",
      `--proxy-client-cert-file=${files.frontProxyClient.certificate}`,
      `--proxy-client-key-file=${files.frontProxyClient.key}`,
      `--requestheader-client-ca-file=${files.frontProxy.files.certificate}`,
      "--requestheader-allowed-names=front-proxy-client",
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-username-headers=X-Remote-User",
      ...(files.encryption === undefined ? [] : [`--encryption-provider-config=${files.encryption}`]),
      "--profiling=false",
      "--v=1",
    ],
    ready: { http: { url: `${internalEndpoint(cluster)}/readyz`, caFile: files.authority.files.certificate } },
    readySeconds: 120,
  };
}

/** The controller manager. */
export function controllerManagerSpec(
  cluster: ClusterAddresses,
  options: ControlPlaneOptions,
  files: ControlPlaneFiles,
  program: string,
): ProcessSpec {
  const { files: authority } = files.authority;
  return {
    id: processId(cluster.name, "kube-controller-manager"),
    argv: [
      program,
      ...delegate(cluster, options, files.controllerManager, 10257),
      `--cluster-name=${cluster.name}`,
      "--use-service-account-credentials=true",
      `--service-account-private-key-file=${files.serviceAccount.key}`,
      `--root-ca-file=${authority.certificate}`,
      `--cluster-signing-cert-file=${authority.certificate}`,
      `--cluster-signing-key-file=${authority.key}`,
      // Each node has its fixed range of pod addresses, as with the VPC CNI.
      "--allocate-node-cidrs=false",
      // By default it makes a folder in the machine's /usr/libexec.
      `--flex-volume-plugin-dir=${join(cluster.dir, "volume-plugins")}`,
    ],
    ready: health(cluster, files, 10257),
  };
}

/** The scheduler. */
export function schedulerSpec(
  cluster: ClusterAddresses,
  options: ControlPlaneOptions,
  files: ControlPlaneFiles,
  program: string,
): ProcessSpec {
  return {
    id: processId(cluster.name, "kube-scheduler"),
    argv: [program, ...delegate(cluster, options, files.scheduler, 10259)],
    ready: health(cluster, files, 10259),
  };
}

/** Names and addresses under which the API server of a cluster is reached. */
export function apiServerNames(cluster: ClusterAddresses): string[] {
  const service = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
  ];
  return [...service, cluster.kubernetesServiceAddress, cluster.apiAddress, cluster.internalAddress];
}

/** Where the control plane reaches its API server: past the endpoint's access settings, as EKS does. */
export function internalEndpoint({ internalAddress }: ClusterAddresses): string {
  return `https://${internalAddress}`;
}

/** Only health is for anonymous callers, as on EKS since 1.32. */
export function authenticationConfiguration(): object {
  const conditions = ["/livez", "/readyz", "/healthz"].map((path) => ({ path }));
  return {
    apiVersion: "apiserver.config.k8s.io/v1beta1",
    kind: "AuthenticationConfiguration",
    anonymous: { enabled: true, conditions },
  };
}

/** Envelope encryption of Secrets with a local key. Secrets from before it stay readable. */
export function encryptionConfiguration(key: string): object {
  return {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [
      {
        resources: ["secrets"],
        providers: [{ secretbox: { keys: [{ name: "local", secret: key }] } }, { identity: {} }],
      },
    ],
  };
}

/** The webhook that authenticates tokens of `aws eks get-token`, as a kubeconfig. */
export const tokenWebhookConfiguration = (server: string): object =>
  kubeconfigOf([{ name: "webhook", cluster: { server } }]);

/** Where the kubeconfig of a component is. */
export function kubeconfigPath(cluster: ClusterAddresses, user: string): string {
  return join(cluster.dir, `${user}.kubeconfig`);
}

function delegate(
  cluster: ClusterAddresses,
  options: ControlPlaneOptions,
  files: KeyFiles & { readonly kubeconfig: string },
  port: number,
): string[] {
  return [
    `--emulated-version=kube=${options.kubernetesVersion}`,
    `--kubeconfig=${files.kubeconfig}`,
    `--authentication-kubeconfig=${files.kubeconfig}`,
    `--authorization-kubeconfig=${files.kubeconfig}`,
    `--bind-address=${cluster.loopbackAddress}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${files.certificate}`,
    `--tls-private-key-file=${files.key}`,
    "--leader-elect=false",
    "--profiling=false",
    "--v=1",
  ];
}

function health(cluster: ClusterAddresses, files: ControlPlaneFiles, port: number): NonNullable<ProcessSpec["ready"]> {
  const caFile = files.authority.files.certificate;
  return { http: { url: `https://${cluster.loopbackAddress}:${port}/healthz`, caFile } };
}
