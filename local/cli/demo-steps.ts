import { join } from "node:path";
import { appProcess, appProcessId, appUrl } from "../app/process.ts";
import { bareRepository, commitTo, hasPath, isMarked, mark } from "../git/index.ts";
import { ask, newSpoke, onboardApp, spokeFolder } from "../product.ts";
import { supervisorOf } from "../supervisor/client.ts";
import { appQuestion, demo, deployerArn, machineCidr } from "./demo.ts";
import { factsOf } from "./facts.ts";
import type { LocalFleet } from "./fleet.ts";
import { type Kubectl, kubectlFor, objects, problemOf, untilReady } from "./flux.ts";
import { appGit } from "./git-method.ts";
import { failureCheck } from "./given-up.ts";
import { fleetNameOf } from "./pulumi.ts";
import { chainLine, chainOf, isSpokeReady, spokeLine, spokesOf } from "./spokes.ts";
import { fluxStates, hubKubectl, kubeconfigStep, reconcileNow } from "./stack-steps.ts";
import type { Report, Step } from "./steps.ts";
import { webhookStep } from "./webhook-step.ts";

const SPOKE_SECONDS = 1200;
const APP_SECONDS = 600;

/** Adds something to a repository once: what a person has removed since stays removed. `what` names it for good, wherever it lies. */
async function once(
  bare: string,
  { what, path }: { readonly what: string; readonly path: string },
  add: () => Promise<unknown>,
  report: Report,
): Promise<void> {
  const note = `added/${what}`;
  if (hasPath(bare, path)) report(`${path} is there`);
  else if (isMarked(bare, note)) report(`${path} was removed after it was added: it is not added again`);
  else {
    await add();
    report(`${path} is pushed`);
  }
  mark(bare, note);
}

/** The folder of the demo's spoke in gitops-system. */
const spokePathOf = async ({ stack }: LocalFleet): Promise<string> => spokeFolder(await fleetNameOf(stack), demo.spoke);
const appPath = join("clusters", demo.spoke, demo.app);

/** Whether Git has the demo's spoke. */
const isSpokeWanted = async (fleet: LocalFleet): Promise<boolean> =>
  hasPath(bareRepository(fleet.instance(), "gitops-system"), await spokePathOf(fleet));

/** Whether Git has the demo's spoke and its application. */
const isAppWanted = async (fleet: LocalFleet): Promise<boolean> =>
  (await isSpokeWanted(fleet)) && hasPath(bareRepository(fleet.instance(), "gitops-workloads"), appPath);

const spokeStep: Step<LocalFleet> = {
  name: `add spoke ${demo.spoke}: fleet new-cluster, commit and push to gitops-system`,
  run: async (fleet, report) => {
    const { spoke: name, environment, kubernetesVersion, nodes } = demo;
    const bare = bareRepository(fleet.instance(), "gitops-system");
    const request = {
      name,
      environment,
      tenant: "platform",
      kubernetesVersion,
      nodes,
      gitReceiver: demo.gitReceiver,
      admins: [deployerArn],
      publicAccessCidrs: [machineCidr],
    };
    const change = (checkout: string) => newSpoke(checkout, request, () => factsOf(fleet));
    await once(
      bare,
      { what: join("spokes", name), path: await spokePathOf(fleet) },
      () => commitTo(bare, `Add spoke ${name}`, async (checkout) => void (await change(checkout))),
      report,
    );
    await reconcileNow(await hubKubectl(fleet.instance(), fleet.stack));
  },
};

const appStep: Step<LocalFleet> = {
  name: `onboard ${demo.app}: fleet onboard, give it access to its repository, commit and push to gitops-workloads`,
  run: async (fleet, report) => {
    const { app, appRepository, environment, spoke: cluster, tenant } = demo;
    const bare = bareRepository(fleet.instance(), "gitops-workloads");
    const { repositoryUrl, access, register } = await appGit(fleet.instance(), appRepository);
    const request = {
      app,
      cluster,
      environment,
      tenant,
      repositoryUrl,
      revision: "main",
      path: `./overlays/${environment}`,
      gitReceiver: demo.gitReceiver,
    };
    const change = async (checkout: string) => {
      const { publicKey } = await onboardApp(checkout, request, () => factsOf(fleet), access);
      // Before the push: after a kill in between, the next run makes another key in place of this one.
      await register(publicKey);
    };
    await once(
      bare,
      { what: appPath, path: appPath },
      () => commitTo(bare, `Onboard ${app} on ${cluster}`, change),
      report,
    );
  },
};

/** How far the demo's spoke is; undefined once it is Ready. */
async function unreadySpoke(kubectl: Kubectl, check: ReturnType<typeof failureCheck>): Promise<string | undefined> {
  const spoke = (await spokesOf(kubectl)).find(({ metadata }) => metadata.name === demo.spoke);
  if (spoke === undefined) return `Flux to apply the spoke ${demo.spoke}`;
  if (isSpokeReady(spoke)) return undefined;
  await check(spoke);
  return `${spokeLine(spoke)}; ${chainLine(demo.spoke, await chainOf(kubectl, demo.spoke))}`;
}

const readyStep: Step<LocalFleet> = {
  name: `wait until spoke ${demo.spoke} is Ready`,
  run: async (fleet, report, signal) => {
    const instance = fleet.instance();
    if (!(await isSpokeWanted(fleet))) return report(`there is no spoke ${demo.spoke}`);
    const kubectl = await hubKubectl(instance, fleet.stack);
    const check = failureCheck(kubectl);
    await untilReady(async () => [await unreadySpoke(kubectl, check)], { seconds: SPOKE_SECONDS, report, signal });
  },
};

/** What hinders what the application ordered in AWS. */
async function problemsOf(kubectl: Kubectl): Promise<string[]> {
  const kinds = ["tables.dynamodb.aws.m.upbound.io", "queues.sqs.aws.m.upbound.io", "roles.iam.aws.m.upbound.io"];
  return (await objects(kubectl, kinds)).flatMap((object) => problemOf(object) ?? []);
}

const answerStep: Step<LocalFleet> = {
  name: `wait until ${demo.app} answers on ${demo.spoke}`,
  run: async (fleet, report, signal) => {
    const instance = fleet.instance();
    if (!(await isAppWanted(fleet))) return report(`there is no ${demo.app} on ${demo.spoke}`);
    const program = join(instance.paths.bin, "kubectl");
    const context = await contextOf(fleet);
    const kubectl = kubectlFor(program, context, process.env);
    await reconcileNow(kubectl);
    await untilReady(
      async () => {
        const states = (await fluxStates(kubectl)).filter((state) => state !== undefined);
        if (states.length > 0) return [...states, ...(await problemsOf(kubectl))];
        return [
          await ask([program, "--context", context], appQuestion).then(
            () => undefined,
            (error: Error) => error.message,
          ),
        ];
      },
      { seconds: APP_SECONDS, report, signal },
    );
  },
};

/** The context of the demo's spoke, which is called like its EKS cluster. */
async function contextOf({ instance, stack }: LocalFleet): Promise<string> {
  const kubectl = await hubKubectl(instance(), stack);
  const name = (await spokesOf(kubectl)).find(({ metadata }) => metadata.name === demo.spoke)?.status?.cluster?.name;
  if (name === undefined) throw new Error(`spoke ${demo.spoke} has no cluster yet`);
  return name;
}

const showStep: Step<LocalFleet> = {
  name: `show ${demo.app} on this machine`,
  run: async (fleet, report) => {
    const instance = fleet.instance();
    const { namespace, service, port } = appQuestion;
    if (!(await isAppWanted(fleet))) {
      await supervisorOf(instance).stop(appProcessId(service));
      return report(`there is no ${demo.app} on ${demo.spoke}`);
    }
    const process = appProcess(instance, { context: await contextOf(fleet), namespace, service, port });
    await supervisorOf(instance).start(process);
    report(appUrl(instance));
  },
};

/** One spoke with an application on it, by commits to Git like everybody's. */
export const demoSteps: readonly Step<LocalFleet>[] = [
  spokeStep,
  appStep,
  readyStep,
  { ...kubeconfigStep, name: "write the kubeconfig of all clusters" },
  answerStep,
  { ...webhookStep, name: "register the webhooks of all clusters at the Git server" },
  showStep,
];
