import {
  appGit,
  appQuestion,
  demo,
  deployerArn,
  factsOf,
  type LocalFleet,
  machineCidr,
} from "@eks-gitops-fleet/local/cli";
import { bareRepository, commitTo } from "@eks-gitops-fleet/local/git";
import { ask } from "../cli/app/ask.ts";
import { onboardApp } from "../cli/app/folder.ts";
import { newSpoke } from "../cli/spoke/folder.ts";
import { changesOfApp } from "./app.ts";
import type { Bench } from "./bench.ts";
import { adminOf, holding, hub, kubectlOn, listed, spokeCluster, until } from "./cluster.ts";
import { seconds } from "./report.ts";

const name = "bench";
const LIMIT = 1_200_000;
const POLL = 500;

/** What the Spoke says of its parts, in the order in which they come up. */
const parts = [
  ["SpecAccepted", "Flux applied the commit, the specification is accepted"],
  ["NetworkReady", "network"],
  ["ControlPlaneReady", "control plane"],
  ["NodesReady", "nodes"],
  ["AddonsReady", "EKS add-ons"],
  ["IdentitiesReady", "IAM roles and access"],
  ["Bootstrapped", "the whole chain"],
  ["Ready", "the Spoke is Ready"],
] as const;

/** Onboards the application before its cluster is there: from then on one push is all that is missing. */
async function onboard(fleet: LocalFleet): Promise<void> {
  const { app, appRepository, environment, tenant } = demo;
  const { repositoryUrl, access, register } = await appGit(fleet.instance(), appRepository);
  const request = {
    app,
    cluster: name,
    environment,
    tenant,
    repositoryUrl,
    revision: "main",
    path: `./overlays/${environment}`,
    gitReceiver: demo.gitReceiver,
  };
  await commitTo(
    bareRepository(fleet.instance(), "gitops-workloads"),
    `Onboard ${app} on ${name}`,
    async (checkout) => {
      const { publicKey } = await onboardApp(checkout, request, () => factsOf(fleet), access);
      await register(publicKey);
    },
  );
}

/** Pushes the spoke's folder; gives the time just before. */
async function push(fleet: LocalFleet): Promise<number> {
  const { environment, kubernetesVersion, nodes, gitReceiver } = demo;
  const request = {
    ...{ name, environment, tenant: "platform", kubernetesVersion, nodes, gitReceiver },
    // The machine reads the spoke's Receivers, as a person does who enters them at a Git host.
    ...{ admins: [deployerArn], publicAccessCidrs: [machineCidr] },
  };
  let pushed = 0;
  await commitTo(bareRepository(fleet.instance(), "gitops-system"), `Add spoke ${name}`, async (checkout) => {
    await newSpoke(checkout, request, () => factsOf(fleet));
    pushed = performance.now();
  });
  return pushed;
}

/** The time by phase from `git push` of one folder to the application answering HTTP on the new cluster, and of its changes from then on. */
export const spoke: Bench = {
  title:
    "From git push of one folder to the application answering on the spoke (aim: under 120 s on 2 idle processors)",
  run: async ({ fleet, report }) => {
    await onboard(fleet);
    const begun = await push(fleet);
    const onHub = kubectlOn(fleet, hub);
    const reached = new Map<string, number>();
    const reach = (milestone: string) => {
      if (reached.has(milestone)) return;
      reached.set(milestone, performance.now() - begun);
      report(`${seconds(performance.now() - begun)}: ${milestone}`);
    };
    const chain = async () => {
      for (const step of await listed(onHub, "kustomizations", `fleet.internal/cluster=${name}`))
        if (holding(step, "Ready")) reach(`chain: ${step.metadata.name.replace(`${name}-`, "")}`);
    };
    let said = "Flux has not applied the commit";
    const isReady = async () => {
      const [found] = (await listed(onHub, "spokes")).filter(({ metadata }) => metadata.name === name);
      if (found === undefined) return false;
      said = `${found.status?.phase}: ${found.status?.message}`;
      for (const [type, what] of parts) if (holding(found, type)) reach(what);
      if (reached.has("nodes")) await chain();
      return reached.has("the Spoke is Ready");
    };
    // The application does not wait for the hub to notice that the chain is done.
    const answers = () =>
      ask(adminOf(fleet, spokeCluster(name)), appQuestion).then(
        () => true,
        () => false,
      );
    await until(
      async () => {
        const ready = await isReady();
        if (reached.has("chain: workloads") && (await answers())) reach("the application answers HTTP");
        return ready && reached.has("the application answers HTTP");
      },
      { pause: POLL, limit: LIMIT, state: () => said },
    );
    const rows = [...reached].sort(([, a], [, b]) => a - b).map(([what, at]) => [what, seconds(at)]);
    return { rows: [...rows, ...(await changesOfApp(fleet, name, report))] };
  },
};
