import * as aws from "@pulumi/aws";
import type { types } from "@pulumi/eks";
import * as pulumi from "@pulumi/pulumi";

type Tags = pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;

/** JSON with sorted keys, so that the same values always give the same text. */
export function stableJson(values: unknown): string {
  return JSON.stringify(values, (_key, value: unknown) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** The newest version of an add-on for a Kubernetes version. */
function newest(addonName: string, kubernetesVersion: pulumi.Input<string>, parent: pulumi.Resource) {
  return aws.eks.getAddonVersionOutput({ addonName, kubernetesVersion, mostRecent: true }, { parent }).version;
}

interface AddonArgs {
  readonly addonName: "kube-proxy" | "coredns";
  readonly cluster: aws.eks.Cluster;
  readonly options: types.input.KubeProxyAddonOptionsArgs | undefined;
  readonly tags: Tags;
}

/** kube-proxy or coredns. Deleting it leaves its objects in the cluster (`preserve`), as the real component does. */
export function createAddon(component: string, args: AddonArgs, parent: pulumi.Resource): aws.eks.Addon {
  const { addonName, cluster, options = {}, tags } = args;
  const { configurationValues: values } = options;
  return new aws.eks.Addon(
    `${component}-${addonName}`,
    {
      clusterName: cluster.name,
      addonName,
      preserve: true,
      ...(tags && { tags }),
      resolveConflictsOnCreate: options.resolveConflictsOnCreate ?? "OVERWRITE",
      resolveConflictsOnUpdate: options.resolveConflictsOnUpdate ?? "OVERWRITE",
      addonVersion: options.version ?? newest(addonName, cluster.version, parent),
      ...(values !== undefined && { configurationValues: pulumi.output(values).apply(stableJson) }),
    },
    { parent },
  );
}

type CniOptions = types.input.VpcCniOptionsArgs;

/** Environment of the aws-node container: variable, argument, default (from the component's documentation). */
const cniEnvironment: [variable: string, option: keyof CniOptions, fallback?: string][] = [
  ["AWS_VPC_CNI_NODE_PORT_SUPPORT", "nodePortSupport"],
  ["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "customNetworkConfig"],
  ["WARM_ENI_TARGET", "warmEniTarget", "1"],
  ["WARM_IP_TARGET", "warmIpTarget"],
  ["WARM_PREFIX_TARGET", "warmPrefixTarget"],
  ["ENABLE_PREFIX_DELEGATION", "enablePrefixDelegation"],
  ["AWS_VPC_K8S_CNI_LOGLEVEL", "logLevel", "DEBUG"],
  ["AWS_VPC_K8S_CNI_LOG_FILE", "logFile", "/host/var/log/aws-routed-eni/ipamd.log"],
  ["AWS_VPC_K8S_CNI_VETHPREFIX", "vethPrefix", "eni"],
  ["AWS_VPC_ENI_MTU", "eniMtu", "9001"],
  ["ENI_CONFIG_LABEL_DEF", "eniConfigLabelDef"],
  ["AWS_VPC_K8S_PLUGIN_LOG_LEVEL", "logLevel", "DEBUG"],
  ["AWS_VPC_K8S_PLUGIN_LOG_FILE", "logFile", "/var/log/aws-routed-eni/plugin.log"],
  ["ENABLE_POD_ENI", "enablePodEni", "false"],
  ["AWS_VPC_K8S_CNI_CONFIGURE_RPFILTER", "cniConfigureRpfilter"],
  ["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "cniCustomNetworkCfg", "false"],
  ["AWS_VPC_K8S_CNI_EXTERNALSNAT", "externalSnat", "false"],
];

type Values = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Environment of the containers for plain options. A later entry for the same variable wins. */
function cniVariables(options: Values): { env: Record<string, string>; init: Record<string, string> } {
  const env: Record<string, string> = {};
  for (const [variable, option, fallback] of cniEnvironment) {
    const value = options[option] ?? fallback;
    if (value !== undefined) env[variable] = text(value);
  }
  return { env, init: { DISABLE_TCP_EARLY_DEMUX: text(options["disableTcpEarlyDemux"] ?? false) } };
}

/** The add-on's configuration: the user's values win over the variables. */
export function cniConfiguration(options: Values): Values {
  const { env, init } = cniVariables(options);
  const values = (options["configurationValues"] ?? {}) as Values & { env?: object; init?: { env?: object } };
  const policy = options["enableNetworkPolicy"];
  return {
    ...(policy !== undefined && { enableNetworkPolicy: text(policy) }),
    ...values,
    env: { ...env, ...values.env },
    init: { ...values.init, env: { ...init, ...values.init?.env } },
  };
}

export interface VpcCniArgs {
  readonly cluster: aws.eks.Cluster;
  readonly options: CniOptions | undefined;
  readonly tags: Tags;
}

/** The VPC CNI, a component of its own as in the real package. */
export class VpcCniAddon extends pulumi.ComponentResource {
  readonly addon: aws.eks.Addon;

  constructor(name: string, { cluster, options = {}, tags }: VpcCniArgs, opts: pulumi.ComponentResourceOptions) {
    super("eks:index:VpcCniAddon", name, {}, opts);
    this.addon = new aws.eks.Addon(
      name,
      {
        clusterName: cluster.name,
        addonVersion: options.addonVersion ?? newest("vpc-cni", cluster.version, this),
        addonName: "vpc-cni",
        resolveConflictsOnCreate: options.resolveConflictsOnCreate ?? "OVERWRITE",
        resolveConflictsOnUpdate: options.resolveConflictsOnUpdate ?? "OVERWRITE",
        preserve: true,
        configurationValues: pulumi.output(options).apply((plain) => stableJson(cniConfiguration(plain as Values))),
        ...(options.serviceAccountRoleArn && { serviceAccountRoleArn: options.serviceAccountRoleArn }),
        ...(tags && { tags }),
      },
      { parent: this },
    );
    this.registerOutputs({ addon: this.addon });
  }
}
