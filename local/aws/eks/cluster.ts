import * as sdk from "@aws-sdk/client-eks";
import { sameSet } from "../compare.ts";
import type { Aws } from "../connection.ts";
import { computed, fixed, type Item, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { api, eksStates, eksTags, updated } from "./common.ts";

const logTypes: readonly sdk.LogType[] = ["api", "audit", "authenticator", "controllerManager", "scheduler"];

/** EKS takes the whole logging configuration: what is not enabled is disabled. */
function logging(enabled: readonly string[] = []): { clusterLogging: sdk.LogSetup[] } {
  const off = logTypes.filter((type) => !enabled.includes(type));
  const all = [
    { types: enabled as sdk.LogType[], enabled: true },
    { types: off, enabled: false },
  ];
  return { clusterLogging: all.filter(({ types }) => types.length > 0) };
}

const enabledLogs = ({ logging: found }: Item): string[] =>
  (found as sdk.Cluster["logging"])?.clusterLogging?.find(({ enabled }) => enabled)?.types ?? [];

async function configure(aws: Aws, name: string, config: Omit<sdk.UpdateClusterConfigRequest, "name">): Promise<void> {
  await updated(aws, { cluster: name }, await api(aws).send(new sdk.UpdateClusterConfigCommand({ name, ...config })));
}

/** What can be changed together. */
const parts = ({ subnetIds, securityGroupIds, ...endpoint }: sdk.VpcConfigRequest = {}) => ({
  endpoint,
  subnets: { subnetIds, securityGroupIds },
});

export const cluster = define({
  token: "aws:eks/cluster:Cluster",
  crossplane: { kind: "eks/Cluster", named: "name", asynchronous: true },
  idOf: ({ name }) => name as string | undefined,
  case: "camel",
  tags: eksTags("arn"),
  states: eksStates("EKS cluster", ["CREATING", "PENDING", "UPDATING"]),
  autoName: { property: "name", maxLength: 100 },
  failed: ["FAILED"],
  fields: {
    name: { fixed, crd: null },
    roleArn: { fixed },
    version: { computed },
    vpcConfig: {
      api: "resourcesVpcConfig",
      required: true,
      type: {
        block: {
          subnetIds: { type: "set" },
          securityGroupIds: { type: "set" },
          endpointPrivateAccess: { type: "boolean", default: false },
          endpointPublicAccess: { type: "boolean", default: true },
          publicAccessCidrs: { type: "set" },
          clusterSecurityGroupId: out(),
          vpcId: out(),
        },
      },
    },
    accessConfig: {
      computed,
      type: {
        block: { authenticationMode: {}, bootstrapClusterCreatorAdminPermissions: { type: "boolean", fixed: true } },
      },
    },
    bootstrapSelfManagedAddons: { fixed, type: "boolean", default: true, unread: true },
    deletionProtection: { computed, type: "boolean", get: ({ deletionProtection }) => deletionProtection ?? false },
    enabledClusterLogTypes: { type: "set", api: null, get: enabledLogs },
    encryptionConfig: {
      get: ({ encryptionConfig }) => {
        const found = (encryptionConfig as sdk.Cluster["encryptionConfig"])?.[0];
        return found && { provider: { keyArn: found.provider?.keyArn }, resources: found.resources };
      },
      put: (config: object) => [config],
      type: {
        block: { provider: { fixed, type: { block: { keyArn: {} } } }, resources: { fixed, type: "set" } },
      },
    },
    computeConfig: {
      computed,
      type: { block: { enabled: { type: "boolean" }, nodePools: { type: "set" }, nodeRoleArn: {} } },
    },
    storageConfig: {
      computed,
      type: { block: { blockStorage: { type: { block: { enabled: { type: "boolean" } } } } } },
    },
    kubernetesNetworkConfig: {
      computed,
      type: {
        block: {
          elasticLoadBalancing: { computed, type: { block: { enabled: { type: "boolean" } } } },
          ipFamily: { computed, fixed },
          serviceIpv4Cidr: { computed, fixed },
        },
      },
    },
    upgradePolicy: { computed, type: { block: { supportType: {} } } },
    arn: out(),
    certificateAuthority: out(undefined, { type: { single: { data: {} } } }),
    createdAt: out(),
    endpoint: out(),
    identities: out(({ identity }) => [{ oidcs: [{ issuer: (identity as sdk.Cluster["identity"])?.oidc?.issuer }] }], {
      crd: "identity",
      type: { blocks: { oidcs: { crd: "oidc", type: { blocks: { issuer: {} } } } } },
    }),
    platformVersion: out(undefined, { updated: true }),
    status: out(undefined, { updated: true }),
  },
  create: (aws, request, { enabledClusterLogTypes: enabled }) =>
    api(aws).send(new sdk.CreateClusterCommand({ ...request, logging: logging(enabled) } as never)),
  find: async (aws, name) => (await api(aws).send(new sdk.DescribeClusterCommand({ name }))).cluster,
  // EKS runs one update at a time and takes one kind of change a call.
  settings: [
    {
      fields: ["version"],
      call: async (aws, name, { version }) =>
        updated(aws, { cluster: name }, await api(aws).send(new sdk.UpdateClusterVersionCommand({ name, version }))),
    },
    {
      fields: ["encryptionConfig"],
      async call(aws, name, { encryptionConfig }) {
        const request = { clusterName: name, encryptionConfig: encryptionConfig && [encryptionConfig] };
        await updated(aws, { cluster: name }, await api(aws).send(new sdk.AssociateEncryptionConfigCommand(request)));
      },
    },
    {
      fields: ["accessConfig"],
      call: (aws, name, { accessConfig }) =>
        configure(aws, name, { accessConfig: { authenticationMode: accessConfig?.authenticationMode as never } }),
    },
    {
      fields: ["vpcConfig"],
      async call(aws, name, { vpcConfig = {} }, { old }) {
        const [now, before] = [parts(vpcConfig), parts(old.vpcConfig)];
        if (!sameSet(now.subnets, before.subnets)) await configure(aws, name, { resourcesVpcConfig: now.subnets });
        if (!sameSet(now.endpoint, before.endpoint)) await configure(aws, name, { resourcesVpcConfig: now.endpoint });
      },
    },
    {
      // EKS takes the three together.
      fields: ["computeConfig", "storageConfig", "kubernetesNetworkConfig"],
      async call(aws, name, { computeConfig, storageConfig, kubernetesNetworkConfig = {} }) {
        const { elasticLoadBalancing } = kubernetesNetworkConfig;
        const config = { computeConfig, storageConfig, kubernetesNetworkConfig: { elasticLoadBalancing } };
        await configure(aws, name, config as never);
      },
    },
    {
      fields: ["enabledClusterLogTypes"],
      call: (aws, name, { enabledClusterLogTypes }) =>
        configure(aws, name, { logging: logging(enabledClusterLogTypes) }),
    },
    {
      fields: ["upgradePolicy"],
      call: (aws, name, { upgradePolicy }) => configure(aws, name, { upgradePolicy: upgradePolicy as never }),
    },
    {
      fields: ["deletionProtection"],
      call: (aws, name, { deletionProtection }) => configure(aws, name, { deletionProtection }),
    },
  ],
  delete: (aws, name) => api(aws).send(new sdk.DeleteClusterCommand({ name })),
});
