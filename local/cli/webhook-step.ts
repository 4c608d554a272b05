import { join } from "node:path";
import { z } from "zod";
import { gitPaths, registerWebhooks, type Webhook } from "../git/index.ts";
import { INGRESS_ID, ingressProcess, ingressUrl } from "../ingress/process.ts";
import type { Instance } from "../instance/index.ts";
import { receiverTypes } from "../product.ts";
import { supervisorOf } from "../supervisor/client.ts";
import type { LocalFleet } from "./fleet.ts";
import { kubectlFor } from "./flux.ts";
import { outputsOf, readPulumi } from "./pulumi.ts";
import { webhooksOn } from "./receivers.ts";
import { spokesOf } from "./spokes.ts";
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

/** What a spoke's Receivers are called for; none, and why, where they can't be read. */
async function ofSpoke(instance: Instance, context: string, report: Report): Promise<readonly Webhook[]> {
  try {
    return await webhooksOn(kubectlOn(instance, context), (path) => ingressUrl(instance, context, path));
  } catch (error) {
    report(`${context} is called for nothing, its Receivers can't be read: ${(error as Error).message}`, true);
    return [];
  }
}

/** What the hub's Receiver is called for. */
async function ofHub(instance: Instance, stack: string, context: string): Promise<readonly Webhook[]> {
  const { hub } = await webhooksOf(instance, stack);
  if (hub === undefined) return [];
  const { type, path, secret } = hub;
  return [{ repository: "gitops-system", url: ingressUrl(instance, context, path), type, secret }];
}

/** Registers the webhooks of all clusters at the Git server, as a person does at a Git host, and takes their calls on this machine. */
export const webhookStep: Step<LocalFleet> = {
  name: "register the webhooks at the Git server",
  run: async (fleet, report) => {
    const instance = fleet.instance();
    const hub = String((await outputsOf(instance, fleet.stack))["clusterName"]);
    const spokes = (await spokesOf(kubectlOn(instance, hub))).flatMap(({ status }) => status?.cluster?.name ?? []);
    const found = [await ofHub(instance, fleet.stack, hub)];
    for (const spoke of spokes) found.push(await ofSpoke(instance, spoke, report));
    const webhooks = found.flat();
    if (webhooks.length > 0) await supervisorOf(instance).start(ingressProcess(instance));
    await registerWebhooks(gitPaths(instance).webhooks, webhooks);
    if (webhooks.length === 0) {
      await supervisorOf(instance).stop(INGRESS_ID);
      return report("no cluster has a Receiver: Flux looks for commits by itself");
    }
    const called = webhooks.map(
      ({ repository, url, type }) => `${repository}: ${new URL(url).pathname.split("/")[1]} (${type})`,
    );
    report(`after a push to ${called.join(", ")}`);
  },
};
