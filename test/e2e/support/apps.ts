import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ask } from "../../../local/cli/ask.ts";
import { eventually, execute, instance } from "./fleet.ts";
import { checkout } from "./repository.ts";
import { fleet, getOnSpoke, on, onSpoke, workloads } from "./spokes.ts";

/** The application of the demo; its namespace, service account and Flux objects have the same name. */
export const APP = "payment-app";
const REPOSITORY = "payment-app-manifests";
/** Seconds that Flux on a spoke may take from a push to the application as it is pushed, on a machine that is busy. */
export const ROLLOUT_SECONDS = 240;

/** A checkout of the application team's repository. */
export const manifests = () => checkout(REPOSITORY);

/** Where the application's folder is in gitops-workloads. */
export const appFolder = (cluster: string) => join("clusters", cluster, APP);

/** Makes sure that the application runs on a spoke, onboarded as people do it: by command, key and push. */
export async function sharedApp(cluster: string, environment: string): Promise<void> {
  const repository = await workloads();
  if (!existsSync(join(repository.folder, appFolder(cluster)))) {
    const { code, stdout, stderr } = await fleet([
      ...["onboard", APP, "--cluster", cluster, "--environment", environment, "--tenant", "payments"],
      ...["--repository-url", `ssh://git@git.fleet.internal:2222/${REPOSITORY}.git`],
      ...["--repository", repository.folder],
    ]);
    expect(code, stdout + stderr).toBe(0);
    const [publicKey = ""] = /ssh-ed25519 \S+ .+/.exec(stdout) ?? [];
    const registered = await execute(join(instance.paths.bin, "deploy-key"), [REPOSITORY, publicKey]);
    expect(registered.code, registered.stderr).toBe(0);
    await repository.push(`Onboard ${APP} on ${cluster}`);
    await fetchNow(cluster, "gitops-workloads", "flux-system");
  }
  await eventually(ROLLOUT_SECONDS, async () => expect(await applied(cluster)).toMatchObject({ ready: "True" }));
}

/** Has Flux on a spoke fetch a repository at once and not at its next look, as a webhook of the Git host does. */
export async function fetchNow(cluster: string, repository = APP, namespace = APP): Promise<void> {
  const now = `reconcile.fluxcd.io/requestedAt=${Date.now()}`;
  await onSpoke(cluster, ["annotate", "gitrepository", repository, "--namespace", namespace, "--overwrite", now]);
}

/** How far Flux on a spoke is with the application's repository. */
export async function applied(cluster: string) {
  const { metadata, status = {} } = await getOnSpoke(cluster, ["kustomization", APP, "--namespace", APP]);
  const ready = (status.conditions ?? []).find(({ type }: { type: string }) => type === "Ready");
  return {
    ready: status.observedGeneration === metadata.generation ? ready?.status : "Unknown",
    message: ready?.message as string | undefined,
    attempted: commitOf(status.lastAttemptedRevision),
    commit: commitOf(status.lastAppliedRevision),
  };
}

const commitOf = (revision = "") => revision.split(":").at(-1) ?? "";

/** Waits until a commit of the application's repository is in force and healthy. */
export const untilApplied = (cluster: string, commit: string) =>
  eventually(ROLLOUT_SECONDS, async () =>
    expect(await applied(cluster)).toMatchObject({ ready: "True", commit, attempted: commit }),
  );

/** What the application answers to GET /api/info. */
export async function info(cluster: string): Promise<{ readonly message: string; readonly hostname: string }> {
  const kubectl = [join(instance.paths.bin, "kubectl"), ...on(cluster)] as [string, ...string[]];
  return JSON.parse(await ask(kubectl, { namespace: APP, service: APP, port: "http", path: "/api/info" }));
}

/** Waits until the application answers with a message: its old pods go on for a moment after a rollout. */
export const untilServed = (cluster: string, message: string) =>
  eventually(ROLLOUT_SECONDS, async () => expect((await info(cluster)).message).toBe(message));
