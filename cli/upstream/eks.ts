import type { EKSClient } from "@aws-sdk/client-eks";
import { type Client, need, Unanswered, Wrong } from "./http.ts";
import type { AddonReference, KubernetesReference } from "./references.ts";

/** EKS's release calendar, which anybody can read: AWS's own API needs credentials. */
const calendar = "https://endoflife.date/api/amazon-eks.json";

/** A minor of EKS with the last day of its standard support, as YYYY-MM-DD. */
export interface Release {
  readonly cycle: string;
  readonly eol: string;
}

export async function readCalendar(client: Client): Promise<readonly Release[]> {
  const releases: unknown = await (await need(client, calendar)).json();
  if (Array.isArray(releases) && releases.length > 0) return releases as Release[];
  throw new Unanswered(`${calendar} lists no release`);
}

/** @throws Wrong when EKS doesn't have the minor, or no longer in standard support, or supports it to another day */
export function checkKubernetes(releases: readonly Release[], reference: KubernetesReference, today: string): void {
  const { version, supportEnds } = reference;
  const release = releases.find(({ cycle }) => cycle === version);
  if (release === undefined)
    throw new Wrong(`EKS has no Kubernetes ${version}; it has ${releases.map(({ cycle }) => cycle).join(", ")}`);
  if (release.eol < today)
    throw new Wrong(`Kubernetes ${version} left EKS's standard support on ${release.eol} (${calendar})`);
  if (supportEnds !== undefined && release.eol !== supportEnds)
    throw new Wrong(
      `EKS supports Kubernetes ${version} to ${release.eol} (${calendar}), the project says ${supportEnds}`,
    );
}

/** @throws Wrong when EKS doesn't have that version for the minor; Unanswered */
export async function checkAddon(eks: EKSClient, { name, version, kubernetesVersion }: AddonReference): Promise<void> {
  const { DescribeAddonVersionsCommand } = await import("@aws-sdk/client-eks");
  const answer = await eks
    .send(new DescribeAddonVersionsCommand({ addonName: name, kubernetesVersion }))
    .catch((error: Error) => {
      throw new Unanswered(`eks:DescribeAddonVersions: ${error.message}`, { cause: error });
    });
  const offered = (answer.addons ?? []).flatMap(({ addonVersions = [] }) =>
    addonVersions.flatMap(({ addonVersion }) => addonVersion ?? []),
  );
  if (!offered.includes(version))
    throw new Wrong(
      `EKS has no ${version} of ${name} for Kubernetes ${kubernetesVersion}; it has ${offered.slice(0, 5).join(", ") || "none"}`,
    );
}
