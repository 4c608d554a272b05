// `npm run test:aws:local`: runs test/aws, the proof on AWS, on an instance of its own. The tests find their account in the same
// variables as on AWS. Arguments go to vitest.
import { readdir, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { ACCOUNT, REGION } from "../gateway/ministack.ts";
import { bareRepository, commitTo } from "../git/index.ts";
import { quote } from "../instance/command.ts";
import type { Instance } from "../instance/index.ts";
import { awsProofPolicy, contentNames } from "../product.ts";
import { CHECKOUT, STACKS, stackFileName } from "../product-paths.ts";
import { pulumiPaths } from "../pulumi/cli/index.ts";
import { rootAws } from "./aws.ts";
import { cloudSteps } from "./cloud-steps.ts";
import { main } from "./command.ts";
import { sshUrlOf } from "./demo.ts";
import { newLocalFleet } from "./fleet.ts";
import { foreground } from "./foreground.ts";
import { withTemporaryInstance } from "./interruptible.ts";
import { fleetNameOf } from "./pulumi.ts";
import { registryStep } from "./registry-step.ts";
import { writeScript } from "./shell.ts";
import { pulumiSteps } from "./stack-steps.ts";
import { runSteps } from "./steps.ts";

const STACK = "local";
const APP_REPOSITORY = "payment-app-manifests";

/** Leaves nothing in the repositories but the file that lets the proof write into them (docs/guides/aws-proof.md). */
async function emptyRepositories(instance: Instance): Promise<void> {
  for (const name of await contentNames(CHECKOUT))
    await commitTo(bareRepository(instance, name), "Give it to the proof", async (checkout) => {
      for (const entry of (await readdir(checkout)).filter((each) => each !== ".git"))
        await rm(join(checkout, entry), { recursive: true });
      await writeFile(join(checkout, ".disposable"), "");
    });
}

/** The rights that docs/reference/deployer-policy/aws-proof.json asks for, beside those of the deployer. */
async function grantInventory(instance: Instance): Promise<void> {
  const { iam } = await rootAws(instance);
  const PolicyDocument = JSON.stringify(awsProofPolicy());
  await iam.putUserPolicy({ UserName: "deployer", PolicyName: "aws-proof", PolicyDocument });
}

/** What a person would export on AWS. */
async function variables(instance: Instance): Promise<Record<string, string>> {
  const deployKey = join(instance.paths.pulumi, "register-deploy-key");
  // The Git server of the instance knows its repositories by their names.
  await writeScript(deployKey, [join(instance.paths.bin, "deploy-key")], ['set -- "$(basename "$1" .git)" "$2"']);
  return {
    FLEET_AWS_CONFIRM_ACCOUNT: ACCOUNT,
    AWS_REGION: REGION,
    FLEET_AWS_STACK: STACK,
    FLEET_AWS_CONFIG_FILE: join(pulumiPaths(instance.dir).project, STACKS, stackFileName(STACK)),
    FLEET_AWS_FLEET: await fleetNameOf(STACK),
    FLEET_AWS_SYSTEM_REPOSITORY: bareRepository(instance, "gitops-system"),
    FLEET_AWS_WORKLOADS_REPOSITORY: bareRepository(instance, "gitops-workloads"),
    FLEET_AWS_APP_REPOSITORY: bareRepository(instance, APP_REPOSITORY),
    FLEET_AWS_APP_URL: sshUrlOf(APP_REPOSITORY),
    FLEET_AWS_DEPLOY_KEY: deployKey,
    // Tests reach nothing outside.
    FLEET_AWS_OFFLINE: "1",
  };
}

/** Runs vitest as in a shell that sourced the instance's env file; its exit code. */
async function vitest(instance: Instance, args: readonly string[]): Promise<number> {
  const argv = [process.execPath, join(CHECKOUT, "node_modules", "vitest", "vitest.mjs"), "run", "--project", "aws"];
  const script = `. ${quote(instance.paths.env)} && exec "$@"`;
  const env = {
    ...process.env,
    ...(await variables(instance)),
    // fleet doctor looks at the Node on PATH.
    PATH: [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
  };
  return foreground(["sh", "-c", script, "sh", ...argv, ...args], { cwd: CHECKOUT, env });
}

const proof = async (dir: string): Promise<number> => {
  const fleet = newLocalFleet(dir, STACK);
  const cloud = [...fleet.machineSteps, fleet.instanceStep, ...cloudSteps, registryStep, ...pulumiSteps];
  await runSteps(cloud, fleet, join(dir, "logs"));
  await emptyRepositories(fleet.instance());
  await grantInventory(fleet.instance());
  return vitest(fleet.instance(), process.argv.slice(2));
};

// The proof removes what it has created, if it can; the rest is removed with the instance.
await main(() => withTemporaryInstance("fleet-aws", STACK, proof, process.env["FLEET_TEST_KEEP"] === "1"));
