import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { APP, APP_REPOSITORY, appliedOn, infoBy } from "../../support/app.ts";
import { fetchNow as fetchOn } from "../../support/cluster.ts";
import { eventually, execute, instance } from "./fleet.ts";
import { checkout } from "./repository.ts";
import { clusterOn, fleet, on, registerWebhooks, workloads } from "./spokes.ts";

export { APP, APP_REPOSITORY } from "../../support/app.ts";
/** Seconds that Flux on a spoke may take from a push to the application as it is pushed, on a machine that is busy. */
export const ROLLOUT_SECONDS = 240;

/** A checkout of the application team's repository. */
export const manifests = () => checkout(APP_REPOSITORY);

/** Where the application's folder is in gitops-workloads. */
export const appFolder = (cluster: string) => join("clusters", cluster, APP);

/** Onboards the application on a spoke as people do it: by command, key and push. @param more flags of the command */
export async function onboard(cluster: string, environment: string, more: readonly string[]): Promise<void> {
  const repository = await workloads();
  const { code, stdout, stderr } = await fleet([
    ...["onboard", APP, "--cluster", cluster, "--environment", environment, "--tenant", "payments"],
    ...["--repository-url", `ssh://git@git.fleet.internal:2222/${APP_REPOSITORY}.git`],
    ...["--repository", repository.folder, ...more],
  ]);
  expect(code, stdout + stderr).toBe(0);
  const [publicKey = ""] = /ssh-ed25519 \S+ .+/.exec(stdout) ?? [];
  const registered = await execute(join(instance.paths.bin, "deploy-key"), [APP_REPOSITORY, publicKey]);
  expect(registered.code, registered.stderr).toBe(0);
  await repository.push(`Onboard ${APP} on ${cluster}`);
  await fetchNow(cluster, "gitops-workloads", "flux-system");
}

/** Waits until what Flux last tried of the application is in force and healthy. */
export const untilHealthy = (cluster: string, seconds = ROLLOUT_SECONDS) =>
  eventually(seconds, async () => expect(await applied(cluster)).toMatchObject({ ready: "True" }));

/** Makes sure that the application runs on a spoke that its Git host calls. */
export async function sharedApp(cluster: string, environment: string): Promise<void> {
  const isNew = !existsSync(join((await workloads()).folder, appFolder(cluster)));
  if (isNew) await onboard(cluster, environment, ["--git-receiver", "github"]);
  await untilHealthy(cluster);
  if (isNew) await registerWebhooks();
}

/** Has Flux on a spoke fetch a repository at once and not at its next look. */
export const fetchNow = (cluster: string, repository: string = APP, namespace: string = APP) =>
  fetchOn(clusterOn(cluster), repository, namespace);

/** How far Flux on a spoke is with the application's repository. */
export const applied = (cluster: string) => appliedOn(clusterOn(cluster));

/** Waits until a commit of the application's repository is in force and healthy. */
export const untilApplied = (cluster: string, commit: string) =>
  eventually(ROLLOUT_SECONDS, async () =>
    expect(await applied(cluster)).toMatchObject({ ready: "True", commit, attempted: commit }),
  );

/** What the application answers to GET /api/info. */
export const info = (cluster: string) => infoBy([join(instance.paths.bin, "kubectl"), ...on(cluster)]);

/** Waits until the application answers with a message: its old pods go on for a moment after a rollout. */
export const untilServed = (cluster: string, message: string) =>
  eventually(ROLLOUT_SECONDS, async () => expect((await info(cluster)).message).toBe(message));
