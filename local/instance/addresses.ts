import { join, resolve } from "node:path";

/** Instances that fit side by side on one machine: each takes one /16 of the shared range 100.64.0.0/10 (RFC 6598). */
export const MAX_INSTANCES = 63;
/** Clusters of one instance: each takes eight /24 of the instance's /16, below the /24s of API servers and gateway. */
export const MAX_CLUSTERS = 31;
/** Nodes of one cluster: each takes one of the last four /24 of the cluster's block for its pods. */
export const MAX_NODES = 4;

/** Where the claims of all instances on this machine are; emptied by a reboot, like everything that they claim. */
export const RUN_ROOT = "/run/eks-gitops-fleet";

/** Environment variable that marks every process of an instance, with `<index>:<process id>` as its value. */
export const PROCESS_MARK = "FLEET_SUPERVISED";

/** One embedded cloud on this machine. Everything about it derives from its folder and its index. */
export type Instance = Readonly<ReturnType<typeof instanceAt>>;

/** One cluster of an instance: addresses and names by its number, files by its name. */
export type ClusterAddresses = Readonly<ReturnType<typeof clusterAt>>;

/** One node: a network namespace, linked to the host by a /30. */
export type NodeAddresses = Readonly<ReturnType<typeof nodeAt>>;

/** Addresses, names and paths of the instance with this index in this folder. Nothing is claimed or made. */
export function instanceAt(dir: string, index: number) {
  expectWithin("instance index", index, MAX_INSTANCES);
  const root = resolve(dir);
  const run = join(RUN_ROOT, String(index));
  const gatewayAddress = `100.${64 + index}.255.1`;
  return {
    /** 0 to 62, claimed in `/run/eks-gitops-fleet/<index>.json`. */
    index,
    /** Absolute path of the folder that holds its state. */
    dir: root,
    /** Every address of the instance is in it but `loopbackAddress`. Its pods reach nothing outside of it, and not `internalCidr`. */
    cidr: `100.${64 + index}.0.0/16`,
    /** Where API servers listen behind their endpoints: nodes don't reach it. */
    internalCidr: `100.${64 + index}.253.0/24`,
    /**
     * On `lo` where a load balancer uses one: an interface that faces the internet listens at its own of `publicCidr`, and reaches targets from the
     * one of `sourceCidr` with the same end, which nodes see as its address in the VPC.
     */
    balancers: { publicCidr: `100.${64 + index}.252.0/24`, sourceCidr: `100.${64 + index}.251.0/24` },
    /** On `lo`, reachable from pods: AWS names (443), AWS API (4566), Git (2222, 8443), registry (5000). */
    gatewayAddress,
    /** On `lo`, reachable from this machine only: ministack, pushes to the registry (5000), etcd, the gateway's webhooks, Prometheus servers (9600 to 9624). */
    loopbackAddress: `127.100.${index}.1`,
    /** URL of the AWS API for tools on this machine (`AWS_ENDPOINT_URL`). */
    awsEndpoint: `http://${gatewayAddress}:4566`,
    /** Files and folders, all absolute; those under `run` vanish with a reboot. */
    paths: {
      kubeconfig: join(root, "kubeconfig"),
      /** Bare repositories, `<name>.git`. */
      git: join(root, "git"),
      logs: join(root, "logs"),
      /** What the supervisor noticed (exits, restarts), one line each. */
      events: join(root, "logs", "events.log"),
      /** Pulumi's file backend. */
      pulumi: join(root, "pulumi"),
      awsConfig: join(root, "aws", "config"),
      awsCredentials: join(root, "aws", "credentials"),
      /** The CA for AWS names, the only root that containers trust. */
      caCertificate: join(root, "ca", "ca.crt"),
      caKey: join(root, "ca", "ca.key"),
      bin: join(root, "bin"),
      /** Shell file to source: PATH, PULUMI_*, AWS_*, KUBECONFIG. */
      env: join(root, "env"),
      /** The supervisor's record of every process that it started. */
      record: join(root, "record.json"),
      /** State of the EKS API (the gateway's). */
      eks: join(root, "eks"),
      /** State of Managed Prometheus (the gateway's), and what its workspaces store. */
      aps: join(root, "aps"),
      workspaces: join(root, "aps", "workspaces"),
      /** State of Managed Grafana (the gateway's). */
      grafana: join(root, "grafana"),
      /** The add-ons that its clusters can run (npm start -- --addons). */
      addons: join(root, "addons.json"),
      /** Per cluster: PKI, configuration, containerd's store. */
      clusters: join(root, "clusters"),
      etcd: join(root, "etcd"),
      run,
      claim: `${run}.json`,
      supervisorSocket: join(run, "supervisor.sock"),
      /** The gateway's, for the instance's own processes: what EC2's metadata service tells a node. */
      metadataSocket: join(run, "metadata.sock"),
    },
    /** Names of what the kernel holds for this instance. */
    kernel: {
      cgroup: `/fleet-${index}`,
      linkPrefix: `fl${index}c`,
      nftTable: `fleet_${index}`,
      /** Who reaches which API server. */
      endpointTable: `fleet_${index}_endpoints`,
    },
  };
}

/** Addresses, names and paths of cluster `number` (0 to 30) of an instance. */
export function clusterAt(instance: Instance, name: string, number: number) {
  expectClusterName(name);
  expectWithin(`number of cluster ${name}`, number, MAX_CLUSTERS);
  const net = `100.${64 + instance.index}`;
  const apiAddress = `${net}.254.${number + 1}`;
  return {
    name,
    number,
    /** On `lo`; the endpoint is `https://<apiAddress>` (port 443), for the networks that its access settings admit. */
    apiAddress,
    /** On `lo`, in the instance's `internalCidr`: for the control plane and this machine's own work. */
    internalAddress: `${net}.253.${number + 1}`,
    endpoint: `https://${apiAddress}`,
    /** For what the control plane serves to this machine only: health and metrics of controller manager and scheduler. */
    loopbackAddress: `127.100.${instance.index}.${number + 10}`,
    serviceCidr: `${net}.${8 * number + 1}.0/24`,
    /** Address of the Service `kubernetes`. */
    kubernetesServiceAddress: `${net}.${8 * number + 1}.1`,
    /** Address of the Service `kube-dns`. */
    dnsAddress: `${net}.${8 * number + 1}.10`,
    /** Its nodes and their pods: where their packets come from. */
    nodesCidr: `${net}.${8 * number}.0/21`,
    /** The /22 that holds the /24 of every node's pods. */
    podCidr: `${net}.${8 * number + 4}.0/22`,
    dir: join(instance.paths.clusters, name),
    /** Prefix of all its keys in the instance's etcd. */
    etcdPrefix: `/clusters/${name}`,
  };
}

/** Addresses, names and paths of node `number` (0 to 3) of a cluster. */
export function nodeAt(instance: Instance, cluster: ClusterAddresses, number: number) {
  expectWithin(`number of a node of cluster ${cluster.name}`, number, MAX_NODES);
  const net = `100.${64 + instance.index}`;
  const run = join(instance.paths.run, `c${cluster.number}n${number}`);
  return {
    number,
    namespace: `fleet-${instance.index}-${cluster.name}-${number}`,
    cgroup: `${instance.kernel.cgroup}/${cluster.name}-${number}`,
    /** The host's end of the link. */
    link: `${instance.kernel.linkPrefix}${cluster.number}n${number}`,
    hostAddress: `${net}.${8 * cluster.number}.${4 * number + 1}`,
    address: `${net}.${8 * cluster.number}.${4 * number + 2}`,
    podCidr: `${net}.${8 * cluster.number + 4 + number}.0/24`,
    dir: join(cluster.dir, "nodes", String(number)),
    /** Sockets, kubelet's root, containerd's state: short, because a socket's path has at most 107 characters. */
    run,
    /** A link to `dir`, for containerd and kubelet: they reject or misread some paths that a directory can have. */
    disk: join(run, "disk"),
  };
}

function expectWithin(what: string, got: number, limit: number): void {
  if (!Number.isInteger(got) || got < 0 || got >= limit)
    throw new RangeError(`${what}: got ${got}, allowed are whole numbers from 0 to ${limit - 1}`);
}

// The pattern of EKS cluster names (CreateCluster, API reference), with the account (cluster-id.ts): it also keeps names safe as path segments.
function expectClusterName(name: string): void {
  if (!/^[0-9A-Za-z][0-9A-Za-z_-]{0,99}(\.\d{12})?$/.test(name))
    throw new RangeError(
      `cluster name: got ${JSON.stringify(name)}, allowed are 1 to 100 letters, digits, "-" and "_", beginning with a letter or digit`,
    );
}
