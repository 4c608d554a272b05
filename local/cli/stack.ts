import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse, parseDocument } from "yaml";
import { ACCOUNT, REGION } from "../gateway/ministack.ts";
import { type Instance, readText, run, writeAtomic } from "../instance/index.ts";

/** The root of this checkout, where Pulumi.yaml is. */
export const PROJECT = dirname(dirname(import.meta.dirname));

/** Config values by their full key (`project:key`), as they stand in a stack's file. */
export type Config = Readonly<Record<string, unknown>>;

/** The folder from which the stack is made; it has its own copy of the stack's config, since Pulumi writes into it. */
const folderOf = (instance: Instance) => join(instance.paths.pulumi, "project");

/** The stack config that every Pulumi command of this instance uses. */
export const configFileOf = (instance: Instance, stack: string) => join(folderOf(instance), `Pulumi.${stack}.yaml`);

/** Environment of every Pulumi, AWS and Kubernetes command of an instance. */
export function environmentOf(instance: Instance, stack: string): Record<string, string> {
  const { paths } = instance;
  return {
    FLEET_LOCAL_DIR: instance.dir,
    PULUMI_HOME: join(paths.pulumi, "home"),
    PULUMI_BACKEND_URL: `file://${paths.pulumi}`,
    PULUMI_CONFIG_PASSPHRASE_FILE: join(paths.pulumi, "passphrase"),
    PULUMI_STACK: stack,
    // Every command with the option --config-file takes it from here; the checkout's stacks/ stays untouched.
    PULUMI_OPTION_CONFIG_FILE: configFileOf(instance, stack),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    AWS_ENDPOINT_URL: instance.awsEndpoint,
    AWS_CONFIG_FILE: paths.awsConfig,
    AWS_SHARED_CREDENTIALS_FILE: paths.awsCredentials,
    AWS_PROFILE: "default",
    AWS_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_PAGER: "",
    KUBECONFIG: paths.kubeconfig,
  };
}

/**
 * The text of an instance's copy of a stack's config: the project's values, over them those that only the instance knows,
 * and the salt that Pulumi wrote into an earlier copy. Values that name other accounts become the emulated one. Pure.
 */
export function configCopy(original: string, values: Config, earlier: string | undefined): string {
  const document = parseDocument(original);
  for (const [key, value] of Object.entries(values)) document.setIn(["config", key], value);
  if (document.hasIn(["config", "aws:allowedAccountIds"]))
    document.setIn(["config", "aws:allowedAccountIds"], [ACCOUNT]);
  const salt: unknown = earlier === undefined ? undefined : parse(earlier)?.encryptionsalt;
  if (salt !== undefined) document.set("encryptionsalt", salt);
  return document.toString({ lineWidth: 0 });
}

/** The stacks that the project has, from the names of their files. */
export function stackFile(stack: string): string {
  return join(PROJECT, "stacks", `Pulumi.${stack}.yaml`);
}

/**
 * Makes the stack in the instance's backend, its passphrase and its copy of the config. Idempotent; a changed
 * stacks/Pulumi.<stack>.yaml is taken over.
 */
export async function ensureStack(instance: Instance, pulumi: string, stack: string, values: Config): Promise<void> {
  const folder = folderOf(instance);
  const passphrase = join(instance.paths.pulumi, "passphrase");
  const config = configFileOf(instance, stack);
  const project = parse(await readFile(join(PROJECT, "Pulumi.yaml"), "utf8")) as { name: string };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!existsSync(passphrase)) await writeAtomic(passphrase, randomBytes(32).toString("hex"));
  await writeAtomic(join(folder, "Pulumi.yaml"), `name: ${project.name}\nruntime: nodejs\n`);
  await writeAtomic(config, configCopy(await readFile(stackFile(stack), "utf8"), values, await readText(config)));
  const state = join(instance.paths.pulumi, ".pulumi", "stacks", project.name, `${stack}.json`);
  if (existsSync(state)) return;
  // In a folder of its own: `stack init` writes the salt beside Pulumi.yaml.
  await run([pulumi, "stack", "init", stack, "--non-interactive", "--cwd", folder], {
    env: { ...process.env, ...environmentOf(instance, stack) },
  });
}
