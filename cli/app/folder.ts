import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import type { GitProvider } from "../../lib/bridge.ts";
import { spokeFolder } from "../../lib/layout.ts";
import { fleetNames } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { sealingScope, sealings, spokeNames } from "../../lib/spoke.ts";
import { type FleetFacts, scopesOf, sealingKeyFor } from "../fleet/facts.ts";
import { spokesIn, workloadsTemplate as template } from "../fleet/folders.ts";
import { checkoutProblems, type Files, instantiate, writeFolder } from "../folder.ts";
import { sealReceiverToken } from "../sealing/receiver.ts";
import { seal } from "../sealing/seal.ts";
import { refuse, together } from "../usage.ts";
import { awsKindTemplateProblems, withAwsKinds } from "./aws-kinds.ts";
import {
  commitStatusProblems,
  commitStatusSecret,
  commitStatusTemplateProblems,
  withCommitStatus,
} from "./commit-status.ts";
import { type AppAccess, accessProblems, appCredential } from "./credential.ts";
import { receiverTemplateProblems, withReceiver } from "./receiver.ts";
import { type AppRequest, appProblems, roleProblems, scopeProblems } from "./rules.ts";

/** The folder of an application on a spoke. */
export interface Onboarded {
  readonly fleet: string;
  readonly folder: string;
  /** By their path in the folder. */
  readonly files: Files;
  /** Public half of the deploy key, in OpenSSH's form, to register at the team's repository; undefined over HTTPS. */
  readonly publicKey?: string | undefined;
}

/** The problems of what the request says of its cluster, by the checkout of gitops-system. */
function clusterProblems(request: AppRequest, fleet: string, system: string): Problem[] {
  const { cluster } = request;
  const spokes = spokesIn(system, fleet);
  if (spokes.includes(cluster)) return spokeProblems(request, fleet, system);
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

/** Secrets that are sealed for another scope than the Spoke's are never opened there. */
function spokeProblems({ cluster, environment, sealing }: AppRequest, fleet: string, system: string): Problem[] {
  const path = [spokeFolder(fleet, cluster), join("spokes", cluster)]
    .map((folder) => join(system, folder, "spoke.yaml"))
    .find((file) => existsSync(file));
  const spec = parseDocument(path === undefined ? "" : readFileSync(path, "utf8")).toJS()?.spec ?? {};
  const asked = { environment, sealing };
  const stands = { environment: spec.environment, sealing: spec.sealing ?? sealings[0] };
  return (["environment", "sealing"] as const)
    .filter((field) => asked[field] !== undefined && stands[field] !== undefined && asked[field] !== stands[field])
    .map((field) => ({
      key: `--${field}`,
      what: `is not that of the spoke ${cluster}, so nothing that is sealed for it could be opened there`,
      got: shown(asked[field]),
      allowed: `${shown(stands[field])}, as ${path} says`,
      remedy: `give --${field} ${stands[field]}, or another --cluster`,
    }));
}

/** Every problem that shows without asking the fleet. */
function requestProblems(checkout: string, folder: string, request: AppRequest, access: AppAccess): Problem[] {
  const notHere = checkoutProblems(checkout, "gitops-workloads", template);
  const problems = appProblems(request);
  const hasUrl = !problems.some(({ key }) => key === "--repository-url");
  const named = !problems.some(({ key }) => ["<app>", "--cluster"].includes(key));
  return [
    ...notHere,
    ...problems,
    ...(notHere.length > 0
      ? []
      : [...receiverTemplateProblems(checkout, request), ...commitStatusTemplateProblems(checkout, request)]),
    ...(hasUrl ? accessProblems(new URL(request.repositoryUrl), access, request.commitStatus !== undefined) : []),
    ...commitStatusProblems(request, access.commitStatusToken, hasUrl),
    ...(named && existsSync(folder) ? [folderProblem(folder)] : []),
  ];
}

const folderProblem = (folder: string): Problem => ({
  key: "<app>",
  what: "already has a folder on this cluster",
  got: folder,
  allowed: "an application that this cluster does not have yet",
  remedy: "change its files, or remove the folder in a commit of its own first",
});

/**
 * The folder of an application on a spoke for a checkout of gitops-workloads, with a credential of its own for the team's repository:
 * over SSH a new deploy key.
 * @param system checkout of gitops-system in which the cluster must be a spoke; without one this is not checked
 * @param told problems of the command line
 * @throws UsageError that lists every problem.
 */
export async function plannedApp(
  checkout: string,
  request: AppRequest,
  connect: () => Promise<FleetFacts>,
  access: AppAccess = {},
  system?: string,
  told: readonly Problem[] = [],
): Promise<Onboarded> {
  const { app, cluster, tenant, repositoryUrl, revision, path } = request;
  const folder = join(checkout, "clusters", cluster, app);
  refuse("onboard", together(told, requestProblems(checkout, folder, request, access)));
  const fleet = await connect();
  refuse("onboard", [
    ...(system === undefined ? [] : clusterProblems(request, fleet.name, system)),
    ...roleProblems(spokeNames(fleetNames(fleet.name).spokePrefix, cluster).cluster, app),
    ...scopeProblems(request, scopesOf(fleet)),
  ]);
  const key = sealingKeyFor(fleet, sealingScope({ ...request, name: cluster }));
  const owner = `${app}@${cluster}`;
  const { data, provider, publicKey } = await appCredential({ repositoryUrl, owner }, access, fleet);
  const files = await instantiate(checkout, template, { app, tenant, repositoryUrl, provider, revision, path });
  refuse("onboard", [
    ...templateProblems(provider, files["sync.yaml"] ?? ""),
    ...awsKindTemplateProblems(request.awsKinds, files["namespace.yaml"]),
  ]);
  const credential = await seal(fleet.kubeseal, key, { namespace: app, name: `${app}-git`, data });
  const token = () => sealReceiverToken(fleet.kubeseal, key, app);
  const own = withAwsKinds({ ...files, "credential.yaml": credential }, request.awsKinds);
  const statusToken = () => seal(fleet.kubeseal, key, commitStatusSecret(request, access, data["ca.crt"]));
  const called = await withReceiver(own, checkout, request, token);
  return {
    ...{ fleet: fleet.name, folder, publicKey },
    files: await withCommitStatus(called, checkout, request, statusToken),
  };
}

/** Makes the folder of an application on a spoke in a checkout of gitops-workloads, whole or not at all. */
export async function onboardApp(...request: Parameters<typeof plannedApp>): Promise<Onboarded> {
  const app = await plannedApp(...request);
  await writeFolder(app.folder, app.files);
  return app;
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
