import {
  type ClusterMetadata,
  type Contract,
  clusterFacts,
  identityFacts,
  podAnnotations,
  roleAnnotations,
  type WorkloadIdentity,
} from "./bridge-facts.ts";
import { type Form, is } from "./bridge-forms.ts";
import { clusterTags } from "./company-tags.ts";
import type { Tags } from "./labels.ts";
import type { Puller } from "./names.ts";
import { isEcr } from "./registries.ts";

/** A key that says in another way what facts say; nobody reads it back. */
interface Derived<Key extends string = string> extends Contract<Key> {
  readonly from: (metadata: ClusterMetadata) => string;
}

const derive = <const Key extends string>(
  key: Key,
  meaning: string,
  form: Form,
  from: Derived["from"],
): Derived<Key> => ({ key, meaning, form, from });

/** In place of no address: a NetworkPolicy whose `from` is empty admits everybody. */
const NOBODY = "255.255.255.255/32";

/** The identities of the add-ons that a cluster enables, as Flux substitutes them. */
function addonIdentities({ addons, identities }: ClusterMetadata): string {
  const rows = addons.flatMap((addon) => {
    const identity = identities[addon];
    if (identity === undefined) return [];
    return Object.entries(identityFacts).map(([name, { key }]) => [
      `${addon}${key}`,
      identity[name as keyof WorkloadIdentity],
    ]);
  });
  return JSON.stringify(Object.fromEntries(rows));
}

/** Annotations of a puller's service account, and of its pods, which restart for another role; none without a role. */
const pullerAnnotations =
  (puller: Puller) =>
  ({ identities, identitySource }: ClusterMetadata): string => {
    const roleArn = identities[puller]?.roleArn;
    return JSON.stringify(roleArn === undefined ? {} : roleAnnotations(roleArn, identitySource));
  };

/** The tags of everything in AWS that belongs to a cluster. */
const tagsOf = ({ tags, fleet, name: cluster, environment, aws: { clusterName: eksCluster } }: ClusterMetadata): Tags =>
  clusterTags({ tags, fleet, cluster, eksCluster, environment });

const listed = (tags: Tags): string => JSON.stringify(Object.entries(tags).map(([key, value]) => ({ key, value })));

/** {@link tagsOf} the cluster of the examples. */
const exampleTags = clusterTags({
  tags: { "cost-center": "4711" },
  fleet: "fleet",
  cluster: "payments",
  eksCluster: "fleet-spoke-payments",
  environment: "dev",
});

const beginning = (example: string): Form => ({
  is: "beginning of a JSON object",
  pattern: "^\\{(.*,)?$",
  example,
  json: true,
});

const nodeVolume = (volumeKey: string): string =>
  volumeKey === "" ? "{" : `{"kmsKeyID":${JSON.stringify(volumeKey)},`;

const exampleVolumeKey = clusterFacts.volumeKey.form.example;

export const derivedKeys = [
  derive("quote", "a double quote, for values that look like numbers (1)", is.quote, () => is.quote.example),
  derive(
    "charts_registry_type",
    "`type` of a HelmRepository whose URL is `charts_registry`: `oci` for a mirror at oci://",
    is.repositoryType,
    ({ chartsRegistry }) => (chartsRegistry.startsWith("oci://") ? "oci" : "default"),
  ),
  derive(
    "charts_oci_registry_type",
    "`type` of a HelmRepository whose upstream is at oci://, and its URL `$" +
      "{charts_registry:=oci://<upstream>}`: `default` for a mirror at https://",
    { ...is.repositoryType, example: "oci" },
    ({ chartsRegistry }) => (/^(oci:\/\/|$)/.test(chartsRegistry) ? "oci" : "default"),
  ),
  derive(
    "charts_provider",
    "`provider` of a HelmRepository: `aws` where `charts_registry` is in Amazon ECR, which source-controller logs in to with its role",
    is.chartsProvider,
    ({ chartsRegistry }) => (isEcr(chartsRegistry) ? "aws" : "generic"),
  ),
  derive(
    "source_controller_annotations",
    "annotations of source-controller's service account and pods: its role where `charts_registry` is in Amazon ECR",
    is.map,
    pullerAnnotations("source_controller"),
  ),
  derive(
    "crossplane_annotations",
    "annotations of the service account and the pods of Crossplane itself: its role where the packages are in Amazon ECR",
    is.map,
    pullerAnnotations("crossplane_packages"),
  ),
  derive(
    "metrics_region",
    "region of `metrics_workspace_arn`, for which its requests are signed; the cluster's own without a workspace",
    is.region,
    ({ aws, metricsWorkspaceArn }) => metricsWorkspaceArn.split(":")[3] ?? aws.region,
  ),
  derive(
    "secrets_region",
    "region of the fleet's secrets in Secrets Manager, the hub's: that of `secrets_kms_key_arn`",
    is.region,
    ({ aws, secretsKeyArn }) => secretsKeyArn.split(":")[3] ?? aws.region,
  ),
  derive(
    "pull_secrets",
    "`pull_secret_names` as a manifest has them in `imagePullSecrets` and `packagePullSecrets`",
    is.list,
    ({ pullSecrets }) => JSON.stringify(pullSecrets.map((name) => ({ name }))),
  ),
  derive(
    "load_balancer_peers",
    "`load_balancer_cidrs` as a manifest has them in `from` of a NetworkPolicy; without any it admits an address that nobody has, and so nobody",
    { ...is.list, example: '[{"ipBlock":{"cidr":"10.64.48.0/22"}}]' },
    ({ aws }) =>
      JSON.stringify(
        (aws.loadBalancerCidrs.length > 0 ? aws.loadBalancerCidrs : [NOBODY]).map((cidr) => ({ ipBlock: { cidr } })),
      ),
  ),
  derive(
    "aws_tags",
    "tags of everything in AWS that belongs to the cluster, `company_tags` and the fleet's: `tags: $" + "{aws_tags}`",
    { ...is.map, example: JSON.stringify(exampleTags) },
    (metadata) => JSON.stringify(tagsOf(metadata)),
  ),
  derive(
    "aws_tag_list",
    "`aws_tags` as a list of `key` and `value`, as ACK has them",
    { ...is.list, example: listed(exampleTags) },
    (metadata) => listed(tagsOf(metadata)),
  ),
  derive(
    "company_tags_and",
    "beginning of a JSON object with `company_tags`, for a manifest that sets other tags of its own after it, without a blank: " +
      "`tags: $" +
      '{company_tags_and}"fleet.internal/fleet":"$' +
      '{fleet}"}`',
    beginning('{"cost-center":"4711",'),
    ({ tags }) => `${JSON.stringify(tags).slice(0, -1)}${Object.keys(tags).length === 0 ? "" : ","}`,
  ),
  derive(
    "node_volume_and",
    "beginning of a JSON object with `volume_kms_key_arn`, for `ebs` of Karpenter's EC2NodeClass, without a blank: " +
      "`ebs: $" +
      '{node_volume_and}"volumeType":"gp3"}`',
    beginning(nodeVolume(exampleVolumeKey)),
    ({ volumeKey }) => nodeVolume(volumeKey),
  ),
  derive(
    "pod_annotations",
    "annotations of pods that act in AWS: they start anew when these change, which they have to for another `aws_identity_source`",
    is.map,
    ({ identitySource }) => JSON.stringify(podAnnotations(identitySource)),
  ),
  derive(
    "addon_identities",
    "role, namespace and service account of each enabled add-on that has a role, as the data of a ConfigMap",
    is.map,
    addonIdentities,
  ),
] as const;
