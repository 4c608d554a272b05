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

interface AddonArgs<Options> {
  readonly cluster: aws.eks.Cluster;
  readonly options: Options | undefined;
  readonly tags: Tags;
}

/** What all add-ons of the component have in common. Deleting one leaves its objects in the cluster (`preserve`). */
function common(
  addonName: string,
  { cluster, options, tags }: AddonArgs<types.input.KubeProxyAddonOptionsArgs | CniOptions>,
) {
  return {
    clusterName: cluster.name,
    addonName,
    preserve: true,
    resolveConflictsOnCreate: options?.resolveConflictsOnCreate ?? "OVERWRITE",
    resolveConflictsOnUpdate: options?.resolveConflictsOnUpdate ?? "OVERWRITE",
    ...(tags && { tags }),
  };
}

/** kube-proxy or coredns. */
export function createAddon(
  component: string,
  args: AddonArgs<types.input.KubeProxyAddonOptionsArgs> & { readonly addonName: "kube-proxy" | "coredns" },
  parent: pulumi.Resource,
): aws.eks.Addon {
  const { addonName, cluster, options = {} } = args;
  const { configurationValues: values } = options;
  return new aws.eks.Addon(
    `${component}-${addonName}`,
    {
      ...common(addonName, args),
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

/** The add-on's configuration: the user's values win over the variables. */
export function cniConfiguration(options: Values): Values {
  const env = Object.fromEntries(
    cniEnvironment.flatMap(([variable, option, fallback]) => {
      const value = options[option] ?? fallback;
      return value === undefined ? [] : [[variable, text(value)]];
    }),
  );
  const values = (options["configurationValues"] ?? {}) as Values & { env?: object; init?: { env?: object } };
  const init = { DISABLE_TCP_EARLY_DEMUX: text(options["disableTcpEarlyDemux"] ?? false) };
  const policy = options["enableNetworkPolicy"];
  return {
    ...(policy !== undefined && { enableNetworkPolicy: text(policy) }),
    ...values,
    env: { ...env, ...values.env },
    init: { ...values.init, env: { ...init, ...values.init?.env } },
  };
}

/** The VPC CNI, a component of its own as in the real package. */
export class VpcCniAddon extends pulumi.ComponentResource {
  readonly addon: aws.eks.Addon;

  constructor(name: string, args: AddonArgs<CniOptions>, opts: pulumi.ComponentResourceOptions) {
    super("eks:index:VpcCniAddon", name, {}, opts);
    const { cluster, options = {} } = args;
    this.addon = new aws.eks.Addon(
      name,
      {
        ...common("vpc-cni", args),
        addonVersion: options.addonVersion ?? newest("vpc-cni", cluster.version, this),
        configurationValues: pulumi.output(options).apply((plain) => stableJson(cniConfiguration(plain as Values))),
        ...(options.serviceAccountRoleArn && { serviceAccountRoleArn: options.serviceAccountRoleArn }),
      },
      { parent: this },
    );
    this.registerOutputs({ addon: this.addon });
  }
}
