import { join } from "node:path";
import { orGone } from "../aws/errors.ts";
import { ensureInstanceCa } from "../gateway/ca.ts";
import { ensureDeployer } from "../gateway/deployer.ts";
import { ensureGatewayKey } from "../gateway/key.ts";
import { ACCOUNT, MINISTACK_PORT, ministackProcess, PARTITION } from "../gateway/ministack.ts";
import { gatewayProcess } from "../gateway/process.ts";
import { bareRepository, GIT_SSH_PORT, gitAuthority, gitKnownHosts, publish } from "../git/index.ts";
import type { Instance } from "../instance/index.ts";
import {
  adoptHubPolicy,
  contentFolder,
  contentNames,
  deployerPolicies,
  doctorPolicy,
  fleetNames,
  nodeReleasesPolicy,
} from "../product.ts";
import { CHECKOUT } from "../product-paths.ts";
import { supervisorOf } from "../supervisor/client.ts";
import { rootAws } from "./aws.ts";
import type { LocalFleet } from "./fleet.ts";
import { giveFolders } from "./fleet-folders.ts";
import { fleetNameOf, PROJECT, readStack } from "./pulumi.ts";
import type { Step } from "./steps.ts";

/** Exactly what the documentation asks for the identity that deploys a stack, so that every run proves it. */
async function policiesOf(instance: Instance, stack: string) {
  const config = await readStack(stack);
  const [fleet, region] = [config[`${PROJECT}:fleet`], config["aws:region"]];
  if (typeof fleet !== "string" || typeof region !== "string")
    throw new Error(`stacks/Pulumi.${stack}.yaml must set aws:region and ${PROJECT}:fleet`);
  const scope = { fleet, region, partition: PARTITION, accountId: ACCOUNT, dnsSuffix: "amazonaws.com" };
  const { [`${PROJECT}:accounts`]: accounts, [`${PROJECT}:permissionsBoundary`]: permissionsBoundary } = config;
  const rolePath = config[`${PROJECT}:rolePath`];
  const secretsKeyArn =
    Array.isArray(accounts) && accounts.length > 0 ? await secretsKeyOf(instance, fleet) : undefined;
  const grafana = config[`${PROJECT}:grafanaAuthentication`] === "SAML" ? "SAML" : "AWS_SSO";
  return {
    ...deployerPolicies({
      ...scope,
      ...(typeof permissionsBoundary === "string" && { permissionsBoundary }),
      ...(typeof rolePath === "string" && { rolePath }),
      ...(config[`${PROJECT}:grafana`] === "amg" && { grafana }),
      ...(secretsKeyArn && { secretsKeyArn }),
    }),
    // fleet adopt needs no more than this.
    "adopt-hub": adoptHubPolicy(),
    doctor: doctorPolicy(),
    "node-releases": nodeReleasesPolicy(PARTITION),
  };
}

/** The key of the fleet's secrets; undefined before the first `pulumi up`, after which a stack gets its `accounts` (docs/guides/aws-account.md#accounts-and-regions). */
async function secretsKeyOf(instance: Instance, fleet: string): Promise<string | undefined> {
  const { kms } = await rootAws(instance);
  const KeyId = fleetNames(fleet).secretsKeyAlias;
  const found = await orGone(kms.describeKey({ KeyId }));
  return found?.KeyMetadata?.Arn;
}

/** The AWS API: ministack and, in front of it, the gateway; and the IAM user that deploys. */
const awsStep: Step<LocalFleet> = {
  name: "start the AWS API",
  run: async (fleet, report) => {
    const instance = fleet.instance();
    const supervisor = supervisorOf(instance);
    await ensureGatewayKey(instance);
    await ensureInstanceCa(instance);
    await supervisor.start({
      ...ministackProcess(instance, join(fleet.toolchain().python, "bin", "python")),
      ready: { tcp: { host: instance.loopbackAddress, port: MINISTACK_PORT } },
    });
    const { healthUrl, ...gateway } = gatewayProcess(instance);
    await supervisor.start({ ...gateway, ready: { http: { url: healthUrl } } });
    await ensureDeployer(instance, await policiesOf(instance, fleet.stack));
    report(`AWS API on ${instance.awsEndpoint}, as the IAM user deployer (${instance.paths.awsCredentials})`);
  },
};

const publishStep: Step<LocalFleet> = {
  name: "publish the repositories",
  run: async (fleet, report) => {
    const instance = fleet.instance();
    for (const name of await contentNames(CHECKOUT)) {
      report(
        `${name}: ${publish(bareRepository(instance, name), contentFolder(CHECKOUT, name), `Publish repos/${name}`)}`,
      );
    }
    await giveFolders(bareRepository(instance, "gitops-system"), await fleetNameOf(fleet.stack), report);
  },
};

const gitStep: Step<LocalFleet> = {
  name: "start the Git server",
  run: async (fleet) => {
    const instance = fleet.instance();
    gitKnownHosts(instance); // makes the host key before the server needs it
    await gitAuthority(instance);
    await supervisorOf(instance).start({
      id: "git",
      argv: [process.execPath, join(import.meta.dirname, "..", "git", "main.ts")],
      env: { FLEET_LOCAL_DIR: instance.dir },
      ready: { tcp: { host: instance.gatewayAddress, port: GIT_SSH_PORT } },
    });
  },
};

/** The embedded cloud with the repositories as they are: what a newer checkout has in them may need a `pulumi up`, so a removal leaves them. */
export const runningCloudSteps: readonly Step<LocalFleet>[] = [awsStep, gitStep];

/** The embedded cloud without any cluster: what `pulumi preview` needs. */
export const cloudSteps: readonly Step<LocalFleet>[] = [awsStep, publishStep, gitStep];
