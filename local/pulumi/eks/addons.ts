import * as aws from "@pulumi/aws";
import type { types } from "@pulumi/eks";
import * as pulumi from "@pulumi/pulumi";

interface AddonArgs<Options> {
  readonly cluster: aws.eks.Cluster;
  readonly options: Options | undefined;
  readonly tags: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
}

/** What both add-ons have in common. Deleting one leaves its objects in the cluster (`preserve`). */
const common = (addonName: string, { cluster, tags }: AddonArgs<unknown>) => ({
  clusterName: cluster.name,
  addonName,
  preserve: true,
  resolveConflictsOnCreate: "OVERWRITE",
  resolveConflictsOnUpdate: "OVERWRITE",
  ...(tags && { tags }),
});

export function kubeProxy(
  component: string,
  args: AddonArgs<types.input.KubeProxyAddonOptionsArgs>,
  parent: pulumi.Resource,
): aws.eks.Addon {
  const addonVersion = args.options?.version;
  return new aws.eks.Addon(`${component}-kube-proxy`, { ...common("kube-proxy", args), addonVersion }, { parent });
}

/** Environment of the VPC CNI's containers (defaults in the component's documentation), sorted as the component writes it. */
const cniDefaults = {
  env: {
    AWS_VPC_ENI_MTU: "9001",
    AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG: "false",
    AWS_VPC_K8S_CNI_EXTERNALSNAT: "false",
    AWS_VPC_K8S_CNI_LOGLEVEL: "DEBUG",
    AWS_VPC_K8S_CNI_LOG_FILE: "/host/var/log/aws-routed-eni/ipamd.log",
    AWS_VPC_K8S_CNI_VETHPREFIX: "eni",
    AWS_VPC_K8S_PLUGIN_LOG_FILE: "/var/log/aws-routed-eni/plugin.log",
    AWS_VPC_K8S_PLUGIN_LOG_LEVEL: "DEBUG",
    ENABLE_POD_ENI: "false",
    WARM_ENI_TARGET: "1",
  },
  init: { env: { DISABLE_TCP_EARLY_DEMUX: "false" } },
};

/** The VPC CNI, a component of its own as in the real package. */
export class VpcCniAddon extends pulumi.ComponentResource {
  readonly addon: aws.eks.Addon;

  constructor(name: string, args: AddonArgs<types.input.VpcCniOptionsArgs>, opts: pulumi.ComponentResourceOptions) {
    super("eks:index:VpcCniAddon", name, {}, opts);
    const { addonVersion, enableNetworkPolicy, configurationValues: given } = args.options ?? {};
    // Merged and sorted as the component does (pulumi-eks, nodejs/eks/addons/cni-addon.ts, mergeConfigurationValues).
    const configurationValues = pulumi.all([enableNetworkPolicy, given]).apply(([isOn, { env } = {}]) =>
      JSON.stringify({
        // EKS's schema wants the switch as a string.
        ...(isOn === undefined ? {} : { enableNetworkPolicy: String(isOn) }),
        ...cniDefaults,
        env: Object.fromEntries(
          Object.entries({ ...cniDefaults.env, ...env }).sort(([one], [other]) => (one < other ? -1 : 1)),
        ),
      }),
    );
    this.addon = new aws.eks.Addon(
      name,
      { ...common("vpc-cni", args), addonVersion, configurationValues },
      { parent: this },
    );
    this.registerOutputs({ addon: this.addon });
  }
}
