import { join } from "node:path";
import { z } from "zod";
import { gitPaths, readWebhooks, registerWebhooks, type Webhook } from "../git/index.ts";
import { INGRESS_ID, ingressProcess, ingressUrl } from "../ingress/process.ts";
import type { Instance } from "../instance/index.ts";
import { receiverTypes } from "../product.ts";
import { supervisorOf } from "../supervisor/client.ts";
import type { LocalFleet } from "./fleet.ts";
import { kubectlFor } from "./flux.ts";
import { outputsOf, readPulumi } from "./pulumi.ts";
import { webhooksOn } from "./receivers.ts";
import { otherAccountOf, spokesOf } from "./spokes.ts";
import type { Report, Step } from "./steps.ts";

const outputSchema = z.record(
  z.string(),
  z.strictObject({
    type: z.enum(receiverTypes),
    path: z.string(),
    secret: z.string(),
  }),
);

/** The stack's output `gitWebhooks`, which only a command that asks for secrets shows. */
async function webhooksOf(instance: Instance, stack: string) {
  const args = ["stack", "output", "gitWebhooks", "--json", "--show-secrets", "--stack", stack];
  return outputSchema.parse(JSON.parse(await readPulumi(instance, args)));
}

const kubectlOn = ({ paths }: Instance, context: string) =>
  kubectlFor(join(paths.bin, "kubectl"), context, process.env);

/** What a spoke's Receivers are called for; where they can't be read, what they were called for before, and why. */
async function ofSpoke(instance: Instance, context: string) {
  const url = (path: string) => ingressUrl(instance, context, path);
  try {
    return { webhooks: await webhooksOn(kubectlOn(instance, context), url) };
  } catch (error) {
    const known = readWebhooks(gitPaths(instance).webhooks).filter((webhook) => webhook.url.startsWith(url("/")));
    return { webhooks: known, problem: `the Receivers of ${context} can't be read: ${(error as Error).message}` };
  }
}

/** What the hub's Receiver is called for. */
async function ofHub(instance: Instance, stack: string, context: string): Promise<readonly Webhook[]> {
  const { hub } = await webhooksOf(instance, stack);
  if (hub === undefined) return [];
  const { type, path, secret } = hub;
  return [{ repository: "gitops-system", url: ingressUrl(instance, context, path), type, secret }];
}

/** Registers the webhooks of all clusters at the Git server, and takes their calls on this machine. The problems of clusters that can't be read. */
async function registerAll(fleet: LocalFleet, report: Report): Promise<readonly string[]> {
  const instance = fleet.instance();
  const hub = String((await outputsOf(instance, fleet.stack))["clusterName"]);
  const spokes: Awaited<ReturnType<typeof ofSpoke>>[] = [];
  for (const spoke of await spokesOf(kubectlOn(instance, hub))) {
    const cluster = spoke.status?.cluster?.name;
    const account = otherAccountOf(spoke);
    if (account !== undefined)
      report(`${spoke.metadata.name} is in account ${account}: Flux there looks for commits by itself`);
    else if (cluster !== undefined) spokes.push(await ofSpoke(instance, cluster));
  }
  const webhooks = [...(await ofHub(instance, fleet.stack, hub)), ...spokes.flatMap((spoke) => spoke.webhooks)];
  if (webhooks.length > 0) await supervisorOf(instance).start(ingressProcess(instance));
  await registerWebhooks(gitPaths(instance).webhooks, webhooks);
  if (webhooks.length === 0) await supervisorOf(instance).stop(INGRESS_ID);
  const called = webhooks.map(
    ({ repository, url, type }) => `${repository}: ${new URL(url).pathname.split("/")[1]} (${type})`,
  );
  report(
    called.length === 0
      ? "no cluster has a Receiver: Flux looks for commits by itself"
      : `after a push to ${called.join(", ")}`,
  );
  return spokes.flatMap(({ problem }) => problem ?? []);
}

const name = "register the webhooks at the Git server";

/** Registers the webhooks of all clusters, as a person does at a Git host. Flux on a spoke that can't be read looks for commits by itself. */
export const webhookStep: Step<LocalFleet> = {
  name,
  run: async (fleet, report) => {
    for (const problem of await registerAll(fleet, report)) report(problem, true);
  },
};

/** The same; fails when a spoke can't be read. */
export const allWebhooksStep: Step<LocalFleet> = {
  name,
  run: async (fleet, report) => {
    const problems = await registerAll(fleet, report);
    if (problems.length > 0)
      throw new Error(
        `${problems.join("\n")}\nThe other clusters' webhooks are registered. From this machine a spoke is reached by those in spec.admins, from networks in spec.endpoint.publicAccessCidrs`,
      );
  },
};
