import {
  type ClusterMetadata,
  type Contract,
  identityFacts,
  podAnnotations,
  type WorkloadIdentity,
} from "./bridge-facts.ts";
import { type Form, is } from "./bridge-forms.ts";

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
    { ...is.repositoryType, example: "oci", absent: "" },
    ({ chartsRegistry }) => (/^(oci:\/\/|$)/.test(chartsRegistry) ? "oci" : "default"),
  ),
  derive(
    "metrics_region",
    "region of `metrics_workspace_arn`, for which its requests are signed; the cluster's own without a workspace",
    { ...is.region, absent: "" },
    ({ aws, metricsWorkspaceArn }) => metricsWorkspaceArn.split(":")[3] ?? aws.region,
  ),
  derive(
    "secrets_region",
    "region of the fleet's secrets in Secrets Manager, the hub's: that of `secrets_kms_key_arn`",
    { ...is.region, absent: "" },
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
    { ...is.list, example: '[{"ipBlock":{"cidr":"10.64.48.0/22"}}]', absent: `[{"ipBlock":{"cidr":"${NOBODY}"}}]` },
    ({ aws }) =>
      JSON.stringify(
        (aws.loadBalancerCidrs.length > 0 ? aws.loadBalancerCidrs : [NOBODY]).map((cidr) => ({ ipBlock: { cidr } })),
      ),
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
