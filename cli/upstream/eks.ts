import type { EKSClient } from "@aws-sdk/client-eks";
import { compareVersions } from "../../functions/spoke/versions.ts";
import { type Client, need, Unanswered, Wrong } from "./http.ts";
import type { AddonReference, KubernetesReference, OfferReference } from "./references.ts";

/** EKS's release calendar, which anybody can read: AWS's own API needs credentials. */
const calendar = "https://endoflife.date/api/amazon-eks.json";

/** A minor of EKS with its first day and the last day of its standard support, as YYYY-MM-DD (endoflife.date, "API"). */
export interface Release {
  readonly cycle: string;
  readonly releaseDate: string;
  readonly eol: string;
}

/** Days in which the project has to offer a new minor. */
const adoptionDays = 30;

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

/** @throws Wrong when EKS has supported a minor for more than 30 days that the project lacks; older ones than it offers don't count */
export function checkOffer(releases: readonly Release[], { versions }: OfferReference, today: string): void {
  const due = new Date(Date.parse(today) - adoptionDays * 86_400_000).toISOString().slice(0, 10);
  const late = releases.filter(
    ({ cycle, releaseDate, eol }) =>
      versions.every((version) => version !== cycle) &&
      versions.some((version) => compareVersions(version, cycle) < 0) &&
      releaseDate < due &&
      eol >= today,
  );
  if (late.length === 0) return;
  const since = late.map(({ cycle, releaseDate }) => `${cycle} (since ${releaseDate})`).join(", ");
  throw new Wrong(
    `EKS supports Kubernetes ${since}, the project only ${versions.join(", ")} (${calendar}): add it here and to the Composition`,
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
