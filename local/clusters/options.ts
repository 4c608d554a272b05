import { join } from "node:path";
import { type ClusterAddresses, clusterAt, type Instance } from "../instance/addresses.ts";
import { readJson, writeAtomic } from "../instance/files.ts";

/** Kubernetes minors that the control plane can be (one binary, `--emulated-version`), oldest first. */
export const KUBERNETES_VERSIONS = ["1.33", "1.34", "1.35", "1.36"] as const;

/** What a control plane is made from. */
export interface ControlPlaneOptions {
  readonly name: string;
  /** 0 to 30, unique in the instance and the same for the cluster's life: its addresses follow from it. */
  readonly number: number;
  /** One of KUBERNETES_VERSIONS. */
  readonly kubernetesVersion: string;
  /** `iss` of service account tokens: `https://oidc.eks.<region>.amazonaws.com/id/<id>`. */
  readonly issuer: string;
  /** URL that answers TokenReviews for `aws eks get-token`; it need not answer yet. */
  readonly tokenWebhookUrl: string;
  /** Encrypts Secrets at rest. The key is local; `keyArn` (of the KMS key asked for) is only recorded. */
  readonly encryption?: { readonly keyArn: string };
}

/** Checks options; throws with all that is wrong. */
export function checkOptions(options: ControlPlaneOptions): void {
  const problems: string[] = [];
  if (!(KUBERNETES_VERSIONS as readonly string[]).includes(options.kubernetesVersion))
    problems.push(`kubernetesVersion: got ${options.kubernetesVersion}, allowed are ${KUBERNETES_VERSIONS.join(", ")}`);
  if (!/^https:\/\/[^/?#]+(\/[^?#]*[^/?#])?$/.test(options.issuer))
    problems.push(`issuer: got ${options.issuer}, must be an https URL without query and without a slash at its end`);
  if (!/^https?:\/\//.test(options.tokenWebhookUrl))
    problems.push(`tokenWebhookUrl: got ${options.tokenWebhookUrl}, must be an http or https URL`);
  if (problems.length > 0) throw new Error(`cluster ${options.name} can't be started: ${problems.join("; ")}`);
}

/** Remembers what a control plane was last started with. */
export async function saveOptions(cluster: ClusterAddresses, options: ControlPlaneOptions): Promise<void> {
  await writeAtomic(optionsFile(cluster.dir), `${JSON.stringify(options, null, 2)}\n`);
}

/** What the control plane of this name was last started with, or undefined when there is none. */
export async function loadOptions(instance: Instance, name: string): Promise<ControlPlaneOptions | undefined> {
  return await readJson<ControlPlaneOptions>(optionsFile(join(instance.paths.clusters, name)));
}

/** Addresses of a cluster that was started. Rejects when there is none of this name. */
export async function findCluster(instance: Instance, name: string): Promise<ClusterAddresses> {
  const options = await loadOptions(instance, name);
  if (options === undefined)
    throw new Error(`cluster ${name} does not exist in ${instance.dir}: start its control plane first`);
  return clusterAt(instance, name, options.number);
}

function optionsFile(dir: string): string {
  return join(dir, "cluster.json");
}
