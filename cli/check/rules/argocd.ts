import type { SpokeSpec } from "../../../functions/spoke/api.ts";
import { argocdOf, placesOf, problemAt } from "../../../functions/spoke/argocd.ts";
import { argocdIdentity } from "../../../lib/argocd.ts";
import { hubFolder } from "../../../lib/layout.ts";
import { namespaces } from "../../../lib/names.ts";
import { isObject, list } from "../../render/files.ts";
import type { Findings } from "../../render/findings.ts";
import { isSpoke, type Rendered, type RenderedFleet } from "../../render/fleet.ts";
import type { RecordedFacts } from "../../render/hub-facts.ts";
import { compositionOf } from "../../render/spoke-steps.ts";

/** What Git and the stack say of Argo CD fits together; of the stack only the recorded facts tell. */

export function checkArgocd(fleet: RenderedFleet, recorded: RecordedFacts | undefined, findings: Findings): void {
  const argocd = recorded?.hub && argocdOf(recorded.hub);
  if (argocd === undefined) return;
  if (argocd.elsewhere) checkHub(fleet, argocd.roleArn, findings);
  for (const spoke of fleet.hub.objects.filter(({ manifest }) => isSpoke(manifest)))
    checkRole(spoke, argocd.roleArn, fleet, findings);
}

/** Without a role on the hub the chart's controller would assume none, and its service account is another cluster's. */
function checkHub({ hub, name }: RenderedFleet, roleArn: string, findings: Findings): void {
  const found = hub.find("Kustomization", namespaces.flux, argocdIdentity);
  if (found === undefined) return;
  findings.add(
    "fleet",
    found.place(["metadata", "name"]),
    `platform/hub/argocd installs Argo CD on the hub of ${name}, whose stack names the role of one in another cluster (argocdRoleArn ${roleArn}): the hub has no role for its own`,
    `take ../../platform/hub/argocd out of ${hubFolder(name)}/kustomization.yaml, or turn Argo CD elsewhere off (docs/guides/argocd.md) and run fleet facts again`,
    hub.name,
  );
}

/** What the definition's schema refuses is another finding. */
function accessOf({ spec }: Rendered["manifest"]): Pick<SpokeSpec, "admins" | "teams"> {
  const teams = list(spec?.teams).map((team) => ({
    members: list(isObject(team) ? team["members"] : undefined).map((member) => (isObject(member) ? member : {})),
  }));
  return { admins: list(spec?.admins), teams } as unknown as Pick<SpokeSpec, "admins" | "teams">;
}

function checkRole({ manifest, place }: Rendered, roleArn: string, { hub }: RenderedFleet, findings: Findings): void {
  const composition = compositionOf(manifest, hub)?.manifest;
  if (!composition?.spec?.pipeline?.[0]?.input?.argocd) return;
  const { name } = manifest.metadata;
  for (const path of placesOf(accessOf(manifest), roleArn)) {
    const [problem, remedy] = problemAt(roleArn, path);
    findings.add("spoke", place(["spec", ...path]), `Spoke ${name}: ${problem}`, remedy, name);
  }
}
