import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fleetNames } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import { sealingScope, spokeNames } from "../../lib/spoke.ts";
import { type FleetFacts, scopesOf, sealingKeyFor } from "../fleet/facts.ts";
import { workloadsTemplate as template } from "../fleet/folders.ts";
import { checkoutProblems, type Files, instantiate, writeFolder } from "../folder.ts";
import { sealCredential } from "../sealing/deploy-key.ts";
import { dayOf } from "../sealing/deploy-key-notes.ts";
import { sealReceiverToken } from "../sealing/receiver.ts";
import { type SealingKey, seal } from "../sealing/seal.ts";
import { refuse, together } from "../usage.ts";
import { ackAddonProblems, withAck } from "./ack.ts";
import { autoUpdateProblems, imageAddonProblems, withAutoUpdate } from "./auto-update.ts";
import { withAwsKinds } from "./aws-kinds.ts";
import { bucketProblems } from "./buckets.ts";
import { clusterProblems, spokeFacts } from "./clusters.ts";
import { commitStatusProblems, commitStatusSecret, withCommitStatus } from "./commit-status.ts";
import { type AppAccess, accessProblems, appCredential } from "./credential.ts";
import { databaseProblems } from "./databases.ts";
import { quotaProblems, withQuota } from "./quota.ts";
import { withReceiver } from "./receiver.ts";
import { type AppRequest, appProblems, roleProblems, scopeProblems } from "./rules.ts";

/** The folder of an application on a spoke. */
export interface Onboarded {
  readonly fleet: string;
  readonly folder: string;
  /** By their path in the folder. */
  readonly files: Files;
  /** Public half of the deploy key, in OpenSSH's form, to register at the team's repository; undefined over HTTPS. */
  readonly publicKey?: string | undefined;
  /** The same of the one that may write, for new images. */
  readonly writeKey?: string | undefined;
}

const folderProblem = (folder: string): Problem => ({
  key: "<app>",
  what: "already has a folder on this cluster",
  got: folder,
  allowed: "an application that this cluster does not have yet",
  remedy: "change its files, or remove the folder in a commit of its own first",
});

const folderIn = (checkout: string, { cluster, app }: AppRequest): string => join(checkout, "clusters", cluster, app);

/** Each problem once: what is wrong with the application is wrong on each of its clusters. */
const once = (problems: readonly Problem[]): Problem[] =>
  problems.filter((each, index) => problems.findIndex((other) => isDeepStrictEqual(other, each)) === index);

/** The problems of a request that show without asking the fleet. */
function problemsOf(checkout: string, request: AppRequest, access: AppAccess): Problem[] {
  const folder = folderIn(checkout, request);
  const notHere = checkoutProblems(checkout, "gitops-workloads", template);
  const problems = appProblems(request);
  const hasUrl = !problems.some(({ key }) => key === "--repository-url");
  const named = !problems.some(({ key }) => ["<app>", "--cluster"].includes(key));
  return [
    ...notHere,
    ...problems,
    ...(notHere.length > 0 ? [] : quotaProblems(checkout, request.quota)),
    ...(hasUrl ? accessProblems(new URL(request.repositoryUrl), access, request.commitStatus !== undefined) : []),
    ...commitStatusProblems(request, access.commitStatusToken, hasUrl),
    ...autoUpdateProblems(request, access, hasUrl),
    ...(named && existsSync(folder) ? [folderProblem(folder)] : []),
  ];
}

/** Every problem of requests that shows without asking the fleet. */
export const requestProblems = (checkout: string, requests: readonly AppRequest[], access: AppAccess): Problem[] =>
  once(requests.flatMap((request) => problemsOf(checkout, request, access)));

/** The name of the EKS cluster. */
const clusterOf = ({ cluster }: AppRequest, { name }: FleetFacts): string =>
  spokeNames(fleetNames(name).spokePrefix, cluster).cluster;

/** What the cluster's Spoke says, if that is known. */
const factsOf = ({ cluster }: AppRequest, { name }: FleetFacts, system: string | undefined) =>
  system === undefined ? undefined : spokeFacts(system, cluster, name);

/** The problems of a request that the fleet shows. */
function fleetProblems(request: AppRequest, fleet: FleetFacts, system: string | undefined): Problem[] {
  const facts = factsOf(request, fleet, system);
  return [
    ...(system === undefined ? [] : clusterProblems(request, fleet.name, system)),
    ...roleProblems(clusterOf(request, fleet), request.app),
    ...bucketProblems(request, clusterOf(request, fleet), facts),
    ...databaseProblems(request, fleetNames(fleet.name).spokePrefix, facts),
    ...ackAddonProblems(request, facts),
    ...imageAddonProblems(request, facts),
    ...scopeProblems(request, scopesOf(fleet)),
  ];
}

/** The Secret with which Flux reads an application's repository (templates/app/sync.yaml). */
export const gitSecretOf = (app: string): string => `${app}-git`;

/** The files of an application on one spoke, with a credential of its own. */
async function plannedOn(
  checkout: string,
  request: AppRequest,
  key: SealingKey,
  access: AppAccess,
  fleet: FleetFacts,
): Promise<Onboarded> {
  const { app, cluster, tenant, repositoryUrl, revision, path } = request;
  const owner = `${app}@${cluster}`;
  const { data, provider, publicKey } = await appCredential({ repositoryUrl, owner }, access, fleet);
  const files = await instantiate(checkout, template, { app, tenant, repositoryUrl, provider, revision, path });
  const note = { made: dayOf(new Date()) };
  const credential = await sealCredential(fleet.kubeseal, key, { namespace: app, name: gitSecretOf(app), data }, note);
  const token = () => sealReceiverToken(fleet.kubeseal, key, app);
  const own = withQuota(withAwsKinds({ ...files, "credential.yaml": credential }, request.awsKinds), request.quota);
  const statusToken = () => seal(fleet.kubeseal, key, commitStatusSecret(request, access, data["ca.crt"]));
  const byAck = await withAck(own, checkout, request);
  const called = await withReceiver(byAck, checkout, request, token);
  const told = await withCommitStatus(called, checkout, request, statusToken);
  const updated = await withAutoUpdate(told, checkout, request, { access, fleet, key });
  return { fleet: fleet.name, folder: folderIn(checkout, request), publicKey, ...updated };
}

/** The sealing keys of the requests. @throws Error that names every scope without one */
function keysFor(requests: readonly AppRequest[], fleet: FleetFacts): SealingKey[] {
  const found = requests.map((request): SealingKey | Error => {
    try {
      return sealingKeyFor(fleet, sealingScope({ ...request, name: request.cluster }));
    } catch (error) {
      return error as Error;
    }
  });
  const errors = found.filter((each): each is Error => each instanceof Error);
  if (errors.length > 0) throw new Error([...new Set(errors.map(({ message }) => message))].join("\n"));
  return found as SealingKey[];
}

/**
 * The folders of an application on spokes, one request for each, for a checkout of gitops-workloads. Each has a credential of its own for
 * the team's repository: over SSH a new deploy key.
 * @param system checkout of gitops-system in which the clusters must be spokes; without one this is not checked
 * @param told problems of the command line
 * @throws UsageError that lists every problem of every request.
 */
export async function plannedApps(
  checkout: string,
  requests: readonly AppRequest[],
  connect: () => Promise<FleetFacts>,
  access: AppAccess = {},
  system?: string,
  told: readonly Problem[] = [],
): Promise<readonly Onboarded[]> {
  refuse("onboard", together(told, requestProblems(checkout, requests, access)));
  const fleet = await connect();
  refuse("onboard", once(requests.flatMap((request) => fleetProblems(request, fleet, system))));
  const keys = keysFor(requests, fleet);
  const planned: Onboarded[] = [];
  for (const [index, request] of requests.entries())
    planned.push(await plannedOn(checkout, request, keys[index] as SealingKey, access, fleet));
  return planned;
}

/** Makes the folder of an application on a spoke in a checkout of gitops-workloads, whole or not at all. */
export async function onboardApp(
  checkout: string,
  request: AppRequest,
  connect: () => Promise<FleetFacts>,
  access: AppAccess = {},
  system?: string,
): Promise<Onboarded> {
  const [app] = (await plannedApps(checkout, [request], connect, access, system)) as [Onboarded];
  await writeFolder(app.folder, app.files);
  return app;
}
