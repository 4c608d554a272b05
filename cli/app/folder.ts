import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GitProvider } from "../../lib/bridge.ts";
import { fleetNames } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import { sealingScope, spokeNames } from "../../lib/spoke.ts";
import { certificateFor, type FleetFacts, scopesOf } from "../fleet/facts.ts";
import { spokesIn } from "../fleet/folders.ts";
import { instantiate, requireCheckout, writeFolder } from "../folder.ts";
import { sealReceiverToken } from "../sealing/receiver.ts";
import { seal } from "../sealing/seal.ts";
import { refuse } from "../usage.ts";
import { withAwsKinds } from "./aws-kinds.ts";
import { type AppAccess, accessProblems, appCredential } from "./credential.ts";
import { receiverTemplateProblems, withReceiver } from "./receiver.ts";
import { type AppRequest, appProblems, roleProblems, scopeProblems } from "./rules.ts";

export interface Onboarded {
  /** The new folder. */
  readonly folder: string;
  /** Public half of the deploy key, in OpenSSH's form, to register at the team's repository; undefined over HTTPS. */
  readonly publicKey?: string | undefined;
}

/** The problem of a cluster that is not a spoke in the checkout of gitops-system: Flux would never read its folder. */
function clusterProblems(cluster: string, fleet: string, system: string): Problem[] {
  const spokes = spokesIn(system, fleet);
  if (spokes.includes(cluster)) return [];
  return [
    {
      key: "--cluster",
      what: `is not a spoke of ${fleet} in ${system}`,
      got: cluster,
      allowed: spokes.join(", ") || "(the fleet has no spokes)",
      remedy: "correct the name, pull that checkout if the spoke is new, or make the spoke first: fleet new-cluster",
    },
  ];
}

const template = join("templates", "app");

/**
 * Makes the folder of an application on a spoke in a checkout of gitops-workloads, with a credential of its own for the team's
 * repository: over SSH a new deploy key. All problems of the request are reported before anything is written.
 * @param system checkout of gitops-system in which the cluster must be a spoke; without one this is not checked
 * @throws UsageError that lists every problem.
 */
export async function onboardApp(
  checkout: string,
  request: AppRequest,
  connect: () => Promise<FleetFacts>,
  access: AppAccess = {},
  system?: string,
): Promise<Onboarded> {
  const { app, cluster, tenant, repositoryUrl, revision, path } = request;
  requireCheckout(checkout, "gitops-workloads", template);
  refuse("onboard", [...appProblems(request), ...receiverTemplateProblems(checkout, request)]);
  refuse("onboard", accessProblems(new URL(repositoryUrl), access));
  const folder = join(checkout, "clusters", cluster, app);
  if (existsSync(folder)) {
    refuse("onboard", [
      {
        key: "<app>",
        what: "already has a folder on this cluster",
        got: folder,
        allowed: "an application that this cluster does not have yet",
        remedy: "change its files, or remove the folder in a commit of its own first",
      },
    ]);
  }
  const fleet = await connect();
  if (system !== undefined) refuse("onboard", clusterProblems(cluster, fleet.name, system));
  refuse("onboard", roleProblems(spokeNames(fleetNames(fleet.name).spokePrefix, cluster).cluster, app));
  refuse("onboard", scopeProblems(request, scopesOf(fleet)));
  const certificate = certificateFor(fleet, sealingScope({ ...request, name: cluster }));
  const owner = `${app}@${cluster}`;
  const { data, provider, publicKey } = await appCredential({ repositoryUrl, owner }, access, fleet);
  const files = await instantiate(checkout, template, { app, tenant, repositoryUrl, provider, revision, path });
  refuse("onboard", templateProblems(provider, files["sync.yaml"] ?? ""));
  const credential = await seal(fleet.kubeseal, certificate, { namespace: app, name: `${app}-git`, data });
  const token = () => sealReceiverToken(fleet.kubeseal, certificate, app);
  const own = withAwsKinds({ ...files, "credential.yaml": credential }, request.awsKinds);
  await writeFolder(folder, await withReceiver(own, checkout, request, token));
  return { folder, publicKey };
}

/** The problem of a template from before GitHub Apps, with which Flux would refuse the credential of one. */
function templateProblems(provider: GitProvider, sync: string): Problem[] {
  if (provider === "generic" || sync.includes(`provider: ${provider}`)) return [];
  return [
    {
      key: "--github-app-id",
      what: `needs provider: ${provider} in the application's GitRepository, which the template does not have`,
      got: join(template, "sync.yaml"),
      allowed: "a template with provider: __provider__ beside secretRef",
      remedy: "copy this release's template into gitops-workloads",
    },
  ];
}
