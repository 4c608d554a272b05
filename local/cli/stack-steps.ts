import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster } from "@aws-sdk/client-eks";
import { functionDigest } from "../crossplane/packages/index.ts";
import { CHARTS_HOST } from "../gateway/charts.ts";
import { REGION } from "../gateway/ministack.ts";
import { BRANCH, bareRepository, type DeployKey, GIT_HOST, GIT_SSH_PORT, registerDeployKeys } from "../git/index.ts";
import { withVariables } from "../instance/command.ts";
import { type Instance, run, writeAtomic } from "../instance/index.ts";
import { type ClusterAccess, fleetNames, notApplied, type Surroundings } from "../product.ts";
import { productPaths, STACKS } from "../product-paths.ts";
import { installPulumi, prepareStack, pulumiPaths } from "../pulumi/cli/index.ts";
import { clientEnvironment } from "../registry/index.ts";
import { cacheRoot } from "../toolchain/cache.ts";
import { rootAws } from "./aws.ts";
import { choicesOf } from "./choices.ts";
import type { LocalFleet } from "./fleet.ts";
import { annotateAll, type Kubectl, kubectlFor, objects, unready, untilReady } from "./flux.ts";
import { gitConfig } from "./git-method.ts";
import { settleReleases } from "./interrupted-releases.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { mirrorConfig } from "./mirrors.ts";
import {
  changeStack,
  fleetNameOf,
  outputsOf,
  shellEnvironment,
  sshOf,
  surroundingsOf,
  writeOverrides,
} from "./pulumi.ts";
import { writeScript, writeShellFiles } from "./shell.ts";
import type { Report, Step } from "./steps.ts";
import { webhookStep } from "./webhook-step.ts";

const LOCAL = join(import.meta.dirname, "..");

const FLUX_SECONDS = 300;
const PODS_SECONDS = 300;
/** What Flux applies, and from where. */
export const FLUX_KINDS = [
  "gitrepositories.source.toolkit.fluxcd.io",
  "kustomizations.kustomize.toolkit.fluxcd.io",
  "receivers.notification.toolkit.fluxcd.io",
];
/** What the hub's Flux cuts its repository into. */
const CUT_KINDS = ["artifactgenerators.source.extensions.fluxcd.io", "externalartifacts.source.toolkit.fluxcd.io"];

/** Pulumi with its plugins and stack, and the commands and the env file for a person's shell. */
const toolsStep: Step<LocalFleet> = {
  name: "prepare Pulumi and the commands",
  run: async (fleet, report) => {
    const instance = fleet.instance();
    const toolchain = fleet.toolchain();
    const plugins = await installPulumi(pulumiPaths(instance.dir).home, toolchain.bin, instance.paths.caCertificate);
    report(`plugins ${plugins.map(({ name, version, kind }) => `${name} ${version} (${kind})`).join(", ")}`);
    const { git, charts } = await choicesOf(instance);
    await writeOverrides(instance, fleet.stack, {
      git: await gitConfig(instance, git),
      gitHost: GIT_HOST,
      mirrors: await mirrorConfig(instance, charts, await functionDigest(cacheRoot(), report)),
      chartsHost: CHARTS_HOST,
    });
    await writeSsh(instance);
    await writeSurroundings(instance);
    await writeShellFiles(
      instance,
      shellEnvironment(instance, (name) => toolchain.bin(name)),
      {
        pulumi: [process.execPath, join(LOCAL, "pulumi", "cli", "main.ts")],
        helm: withVariables(clientEnvironment(instance), toolchain.bin("helm")),
        fleet: [process.execPath, productPaths.fleet],
        account: [process.execPath, join(LOCAL, "cli", "account.ts")],
        "deploy-key": [process.execPath, join(LOCAL, "git", "deploy-key.ts")],
        webhooks: [process.execPath, join(LOCAL, "cli", "webhooks.ts")],
        ...Object.fromEntries(["aws", "kubectl", "kubeseal"].map((name) => [name, [toolchain.bin(name)]])),
      },
    );
    await prepareStack(instance.dir, fleet.stack);
  },
};

/** Writes {@link sshOf} and its configuration: host keys are checked by the server's own name. */
async function writeSsh(instance: Instance): Promise<void> {
  const config = `${sshOf(instance)}_config`;
  const alias = `[${GIT_HOST}]:${GIT_SSH_PORT}`;
  await writeAtomic(config, `Host ${GIT_HOST}\n  HostName ${instance.gatewayAddress}\n  HostKeyAlias ${alias}\n`);
  await writeScript(sshOf(instance), ["ssh", "-F", config]);
}

/** Writes {@link surroundingsOf}. The Git server has an authority of its own, which only its credentials name. */
async function writeSurroundings(instance: Instance): Promise<void> {
  const surroundings: Surroundings = {
    stacks: join(pulumiPaths(instance.dir).project, STACKS),
    authorities: await readFile(instance.paths.caCertificate, "utf8"),
    hosts: { [GIT_HOST]: instance.gatewayAddress },
  };
  await writeAtomic(surroundingsOf(instance), JSON.stringify(surroundings));
}

const upStep: Step<LocalFleet> = {
  name: "bring up the hub: pulumi up",
  run: (fleet, report, signal) => {
    const flags = ["up", "--skip-preview", "--suppress-outputs"];
    return changeStack(fleet.instance(), fleet.stack, flags, report, signal, () => recoverReleases(fleet, report));
  },
};

/** Settles what an interrupted update left of the hub's releases; nothing while there is no hub that can be reached. */
async function recoverReleases(fleet: LocalFleet, report: Report): Promise<void> {
  const instance = fleet.instance();
  const { hubCluster } = fleetNames(await fleetNameOf(fleet.stack));
  const clusters = reachable(await clustersOf(instance));
  if (!clusters.some(({ name }) => name === hubCluster)) return;
  await kubeconfigStep.run(fleet, report);
  const helm = ["--kubeconfig", instance.paths.kubeconfig, "--kube-context", hubCluster];
  await settleReleases(instance, fleet.stack, [fleet.toolchain().bin("helm"), ...helm], report);
}

/** The public halves of the deploy keys, from the stack's output `deployPublicKeys`, as read-only keys of their repositories. */
export function deployKeys(outputs: Readonly<Record<string, unknown>>): DeployKey[] {
  const keys = outputs["deployPublicKeys"];
  if (typeof keys !== "object" || keys === null)
    throw new Error(`the stack has no output deployPublicKeys with a key per repository, got ${JSON.stringify(keys)}`);
  return Object.entries(keys as Record<string, string>).map(([repository, publicKey]) => ({
    repository,
    publicKey: `${publicKey.trim()} hub`,
    access: "read",
  }));
}

const keysStep: Step<LocalFleet> = {
  name: "register the deploy keys at the Git server",
  run: async (fleet, report) => {
    const keys = deployKeys(await outputsOf(fleet.instance(), fleet.stack));
    await registerDeployKeys(fleet.instance(), keys);
    for (const { repository, access } of keys) report(`${repository}: ${access}`);
  },
};

/** What DescribeCluster says of every cluster of the instance. */
export async function clustersOf(instance: Instance): Promise<Cluster[]> {
  const { eks } = await rootAws(instance);
  const { clusters = [] } = await eks.listClusters({});
  const described = await Promise.all(clusters.map((name) => eks.describeCluster({ name })));
  return described.flatMap(({ cluster }) => cluster ?? []);
}

/** The clusters that can be reached: a cluster has an endpoint and a CA once it is active. */
export const reachable = (clusters: readonly Cluster[]): ClusterAccess[] =>
  clusters.flatMap(({ name, endpoint, certificateAuthority }) =>
    name === undefined || endpoint === undefined || certificateAuthority?.data === undefined
      ? []
      : [{ name, region: REGION, endpoint, certificateAuthority: certificateAuthority.data }],
  );

/** Writes the kubeconfig of all clusters that can be reached. */
export const kubeconfigStep: Step<LocalFleet> = {
  name: "write the kubeconfig",
  run: async (fleet, report) => {
    const { paths } = fleet.instance();
    const clusters = reachable(await clustersOf(fleet.instance()));
    await writeAtomic(paths.kubeconfig, kubeconfig(clusters, join(paths.bin, "aws")));
    report(`${paths.kubeconfig}: ${clusters.map(({ name }) => name).join(", ")}`);
  },
};

/** kubectl on the cluster that a stack made, by its output `clusterName`. */
export async function hubKubectl(instance: Instance, stack: string): Promise<Kubectl> {
  const context = (await outputsOf(instance, stack))["clusterName"];
  if (typeof context !== "string") throw new Error(`the stack ${stack} has no output clusterName`);
  return kubectlFor(join(instance.paths.bin, "kubectl"), context, process.env);
}

/** The revision that Flux has to reach: the head of the repository on the Git server, as Flux names it. */
export async function headRevision(instance: Instance, repository: string): Promise<string> {
  const bare = bareRepository(instance, repository);
  return `${BRANCH}@sha1:${(await run(["git", "--git-dir", bare, "rev-parse", BRANCH])).trim()}`;
}

/** Asks Flux to look for changes now and not at its next interval. */
export async function reconcileNow(kubectl: Kubectl): Promise<void> {
  const now = `reconcile.fluxcd.io/requestedAt=${new Date().toISOString()}`;
  for (const kind of FLUX_KINDS) await annotateAll(kubectl, kind, now);
}

/** Why each Flux object isn't Ready; undefined for those that are. */
export const fluxStates = async (kubectl: Kubectl) =>
  (await objects(kubectl, FLUX_KINDS)).map((object) => unready(object));

/** Why each Flux object of the hub isn't Ready at a revision of the repository; undefined for those that are. */
export async function hubStates(kubectl: Kubectl, revision: string): Promise<(string | undefined)[]> {
  const found = await objects(kubectl, [...FLUX_KINDS, ...CUT_KINDS]);
  return [...found.map((object) => unready(object, revision)), ...notApplied(found)];
}

/** Why each pod isn't Ready; undefined for those that are. */
export const podStates = async (kubectl: Kubectl) => (await objects(kubectl, ["pods"])).map((pod) => unready(pod));

const fluxStep: Step<LocalFleet> = {
  name: "wait until Flux has applied the repository",
  run: async (fleet, report, signal) => {
    const kubectl = await hubKubectl(fleet.instance(), fleet.stack);
    await reconcileNow(kubectl);
    let revision = "";
    await untilReady(
      async () => {
        // At each look: somebody may push meanwhile.
        revision = await headRevision(fleet.instance(), "gitops-system");
        return hubStates(kubectl, revision);
      },
      { seconds: FLUX_SECONDS, report, signal },
    );
    report(
      `every Kustomization is Ready at ${revision}, cloned from ${GIT_HOST} by ${(await choicesOf(fleet.instance())).git}`,
    );
  },
};

const podsStep: Step<LocalFleet> = {
  name: "wait until all pods are Ready",
  run: async (fleet, report, signal) => {
    const kubectl = await hubKubectl(fleet.instance(), fleet.stack);
    await untilReady(() => podStates(kubectl), { seconds: PODS_SECONDS, report, signal });
  },
};

/** Pulumi ready to be used on the stack; nothing is deployed. */
export const pulumiSteps: readonly Step<LocalFleet>[] = [toolsStep];

/** The hub, from `pulumi up` to everything Ready. */
export const hubSteps: readonly Step<LocalFleet>[] = [
  upStep,
  keysStep,
  kubeconfigStep,
  webhookStep,
  fluxStep,
  podsStep,
];
