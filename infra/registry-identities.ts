import type * as pulumi from "@pulumi/pulumi";
import { IrsaRole } from "../components/irsa-role.ts";
import { roleAnnotations } from "../lib/bridge-facts.ts";
import { pullerPolicies } from "../lib/iam/ecr.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames, type Puller, pullers } from "../lib/names.ts";
import { identitySource, ofEveryRole, type PodTrust } from "./hub.ts";
import type { Settings } from "./settings.ts";

const descriptions: Readonly<Record<Puller, string>> = {
  source_controller: "Flux pulls charts from Amazon ECR",
  crossplane_packages: "Crossplane pulls packages from Amazon ECR",
};

/** The roles of the hub's controllers that pull from Amazon ECR, by their names in the bridge; none where nothing is there. */
export function pullerRoles(
  settings: Settings,
  podTrust: PodTrust,
  tags: Tags,
): Readonly<Partial<Record<Puller, IrsaRole>>> {
  const roles = pullerPolicies(settings).map(([puller, policy]) => [
    puller,
    new IrsaRole(puller.replaceAll("_", "-"), {
      roleName: fleetNames(settings.fleet).pullerRole(puller),
      description: descriptions[puller],
      ...podTrust,
      subject: pullers[puller],
      policy,
      ...ofEveryRole(settings),
      tags,
    }),
  ]);
  return Object.fromEntries(roles);
}

/** Annotations of a puller's service account and pods; undefined where it has no role. */
export const pullerAnnotations = (
  settings: Settings,
  role: IrsaRole | undefined,
): pulumi.Output<Readonly<Record<string, string>>> | undefined =>
  role?.arn.apply((arn) => roleAnnotations(arn, identitySource(settings)));
