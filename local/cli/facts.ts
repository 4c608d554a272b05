import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { credentialReader, type FleetFacts, fromOutputs } from "../product.ts";
import { deployerCredentials } from "./aws.ts";
import type { LocalFleet } from "./fleet.ts";
import { outputsOf } from "./pulumi.ts";

/** The fleet as `fleet new-cluster` and `fleet onboard` read it, with the deployer's credentials. */
export async function factsOf({ instance, stack, toolchain }: LocalFleet): Promise<FleetFacts> {
  const facts = fromOutputs(await outputsOf(instance(), stack));
  const client = new SecretsManager({
    ...(facts.region === undefined ? {} : { region: facts.region }),
    endpoint: instance().awsEndpoint,
    credentials: await deployerCredentials(instance()),
  });
  return { ...facts, kubeseal: toolchain().bin("kubeseal"), credential: credentialReader(facts.name, client) };
}
