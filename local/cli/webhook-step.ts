import { z } from "zod";
import { gitPaths, registerWebhooks, type Webhook } from "../git/index.ts";
import { INGRESS_ID, ingressProcess, ingressUrl } from "../ingress/process.ts";
import type { Instance } from "../instance/index.ts";
import { receiverTypes } from "../product.ts";
import { supervisorOf } from "../supervisor/client.ts";
import type { LocalFleet } from "./fleet.ts";
import { outputsOf, readPulumi } from "./pulumi.ts";
import type { Step } from "./steps.ts";

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

/** Registers the fleet's webhooks at the Git server, as a person does at a Git host, and takes their calls on this machine. */
export const webhookStep: Step<LocalFleet> = {
  name: "register the webhooks at the Git server",
  run: async (fleet, report) => {
    const instance = fleet.instance();
    const { hub } = await webhooksOf(instance, fleet.stack);
    const file = gitPaths(instance).webhooks;
    if (hub === undefined) {
      await registerWebhooks(file, []);
      await supervisorOf(instance).stop(INGRESS_ID);
      return report("the stack has no gitReceiver: Flux looks for commits by itself");
    }
    await supervisorOf(instance).start(ingressProcess(instance));
    const context = String((await outputsOf(instance, fleet.stack))["clusterName"]);
    const { type, path, secret } = hub;
    const webhook: Webhook = { repository: "gitops-system", url: ingressUrl(instance, context, path), type, secret };
    await registerWebhooks(file, [webhook]);
    report(`gitops-system: calls ${context} (${type})`);
  },
};
