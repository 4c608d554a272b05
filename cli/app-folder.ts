import { existsSync } from "node:fs";
import { join } from "node:path";
import { fleetNames } from "../lib/names.ts";
import { sealingScope, spokeNames } from "../lib/spoke.ts";
import { type AppRequest, appMistakes, hostMistakes, roleMistakes, scopeMistakes } from "./app-rules.ts";
import { newDeployKey } from "./deploy-key.ts";
import { instantiate, requireCheckout, writeFolder } from "./folder.ts";
import { seal } from "./seal.ts";
import { certificateFor, type Fleet, scopesOf } from "./sources.ts";
import { refuse } from "./usage.ts";

export interface Onboarded {
  /** The folder that was made. */
  readonly folder: string;
  /** Public half of the deploy key, in OpenSSH's form, to register at the team's repository. */
  readonly publicKey: string;
}

const template = join("templates", "app");

/**
 * Makes the folder of an application on a spoke in a checkout of gitops-workloads, with a deploy key of its own for the team's
 * repository. What is wrong with the request is told before anything is written.
 * @param knownHosts lines of known_hosts for the team's Git host; default: those of gitops-workloads.
 * @throws UsageError that lists every mistake.
 */
export async function onboardApp(
  checkout: string,
  request: AppRequest,
  connect: () => Promise<Fleet>,
  knownHosts?: string,
): Promise<Onboarded> {
  const { app, cluster, tenant, repositoryUrl, revision, path } = request;
  requireCheckout(checkout, "gitops-workloads", template);
  refuse("onboard", appMistakes(request));
  const folder = join(checkout, "clusters", cluster, app);
  if (existsSync(folder)) {
    refuse("onboard", [
      {
        key: "<app>",
        problem: "has a folder on this cluster already",
        got: folder,
        allowed: "an application that is not there yet",
        remedy: "change its files, or remove the folder in a commit of its own first",
      },
    ]);
  }
  const fleet = await connect();
  refuse("onboard", roleMistakes(spokeNames(fleetNames(fleet.name).spokePrefix, cluster).cluster, app));
  refuse("onboard", scopeMistakes(request, scopesOf(fleet)));
  const certificate = certificateFor(fleet, sealingScope({ ...request, name: cluster }));
  const hosts = knownHosts ?? (await fleet.credential("gitops-workloads"))["known_hosts"] ?? "";
  refuse("onboard", hostMistakes(repositoryUrl, hosts));

  const { identity, publicKey } = newDeployKey(`${app}@${cluster}`);
  const data = { identity, "identity.pub": publicKey, known_hosts: hosts };
  const files = await instantiate(checkout, template, { app, tenant, repositoryUrl, revision, path });
  const credential = await seal(fleet.kubeseal, certificate, { namespace: app, name: `${app}-git`, data });
  await writeFolder(folder, { ...files, "credential.yaml": credential });
  return { folder, publicKey };
}
