// `webhooks`: registers the webhooks of all clusters at the instance's Git server, as one does at a Git host once a Receiver runs.
import { join } from "node:path";
import { currentInstance } from "../instance/index.ts";
import { main } from "./command.ts";
import type { LocalFleet } from "./fleet.ts";
import { kubeconfigStep } from "./stack-steps.ts";
import { runSteps } from "./steps.ts";
import { allWebhooksStep } from "./webhook-step.ts";

await main(async () => {
  const instance = await currentInstance();
  const toolchain = () => {
    throw new Error("registering webhooks needs no toolchain");
  };
  const fleet: LocalFleet = { dir: instance.dir, stack: "local", toolchain, instance: () => instance };
  await runSteps([kubeconfigStep, allWebhooksStep], fleet, join(instance.dir, "logs"));
  return 0;
});
