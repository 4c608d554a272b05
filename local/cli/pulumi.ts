import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { MACHINE } from "../gateway/eks/endpoint-access.ts";
import { ACCOUNT, REGION } from "../gateway/ministack.ts";
import { type Instance, run, writeAtomic } from "../instance/index.ts";
import { keys, parseCidr, reservedFor } from "../product.ts";
import { CHECKOUT, policyFileName, stackFileName } from "../product-paths.ts";
import { encryptConfig, pulumiCommand, pulumiEnvironment, pulumiPaths } from "../pulumi/cli/index.ts";
import type { PolicyConfig } from "../pulumi/cli/policies.ts";
import { stackFile } from "../pulumi/cli/stack.ts";
import type { StackValues } from "./git-method.ts";
import { awaitOperation, isLockStale, operationLog, runOperation } from "./operation.ts";
import type { Report } from "./steps.ts";

/** Name of the Pulumi project, the namespace of its config keys. */
export const PROJECT = "eks-gitops-fleet";

/** Config values by their full key, `project:key`, as they stand in a stack's file. */
export type Config = Readonly<Record<string, unknown>>;

/** Environment of the AWS, Kubernetes and helm commands of an instance; Pulumi's own part comes from its runner. */
export function cloudEnvironment({ dir, paths, awsEndpoint }: Instance): Record<string, string> {
  return {
    FLEET_LOCAL_DIR: dir,
    AWS_ENDPOINT_URL: awsEndpoint,
    AWS_CONFIG_FILE: paths.awsConfig,
    AWS_SHARED_CREDENTIALS_FILE: paths.awsCredentials,
    AWS_PROFILE: "default",
    AWS_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_PAGER: "",
    KUBECONFIG: paths.kubeconfig,
    FLEET_SSH: sshOf({ paths }),
    FLEET_SURROUNDINGS: surroundingsOf({ paths }),
  };
}

/** What a person's shell and the instance's commands get. @param bin where the toolchain has a program */
export const shellEnvironment = (instance: Instance, bin: (name: string) => string): Record<string, string> => ({
  ...cloudEnvironment(instance),
  ...pulumiEnvironment(instance.dir),
  // The instance's own kubectl is a script, which fleet can't confine to a checkout.
  FLEET_KUSTOMIZE: bin("kubectl"),
});

/** The ssh that finds the instance's Git server, whose name nobody outside its clusters resolves. */
export const sshOf = ({ paths }: Pick<Instance, "paths">) => join(paths.pulumi, "ssh");

/** What `fleet doctor` reads of the instance: stacks, authorities and addresses. */
export const surroundingsOf = ({ paths }: Pick<Instance, "paths">) => join(paths.pulumi, "surroundings.json");

/** What only the instance knows. */
export interface InstanceFacts {
  /** What a stack says of its Git server, whose name is `gitHost`. */
  readonly git: StackValues;
  readonly gitHost: string;
  /** What one says of its chart mirror, as this machine reaches it; clusters know it as `chartsHost`. */
  readonly mirrors: StackValues;
  readonly chartsHost: string;
}

/**
 * What an instance lays over a stack's values: its own facts where the stack uses its Git server and its chart mirror, the
 * emulated account where the stack names the accounts that it may run in, and networks of this machine where an endpoint still
 * names a sample's network, which AWS or the program rejects.
 */
export function overrides(config: Config, facts: InstanceFacts): Config {
  const own: Config[] = [
    usesGit(config, facts) ? qualified(facts.git.values) : {},
    usesMirror(config, facts) ? qualified(facts.mirrors.values) : {},
    config["aws:allowedAccountIds"] === undefined ? {} : { "aws:allowedAccountIds": [ACCOUNT] },
    networksOf(config, "endpointPublicAccessCidrs", `${MACHINE.publicAddress}/32`),
    networksOf(config, "endpointPrivateAccessCidrs", CONNECTED_NETWORK),
  ];
  return Object.assign({}, ...own);
}

/** Stands for a network that is connected to a hub's VPC: nothing reaches a private endpoint from there. */
const CONNECTED_NETWORK = "10.20.0.0/16";

/** A setting whose networks for documentation are replaced; nothing if it has none, is encrypted or is rejected by the program. */
function networksOf(
  config: Config,
  setting: "endpointPublicAccessCidrs" | "endpointPrivateAccessCidrs",
  replacement: string,
): Config {
  const key = `${PROJECT}:${setting}`;
  const value = config[key];
  const networks = keys[setting].parse(typeof value === "string" ? value : JSON.stringify(value ?? null)) ?? [];
  if (!networks.some(isPlaceholder)) return {};
  return { [key]: networks.map((text) => (isPlaceholder(text) ? replacement : text)) };
}

/** Whether a network is one for documentation (RFC 5737), as in the sample stacks. */
function isPlaceholder(text: string): boolean {
  const network = parseCidr(text);
  return network !== undefined && (reservedFor(network)?.startsWith("documentation") ?? false);
}

/** Values of the project by their full keys. */
const qualified = <T>(values: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [`${PROJECT}:${key}`, value]));

/** Whether a stack is on the instance's Git server. */
const usesGit = (config: Config, { gitHost }: InstanceFacts): boolean =>
  uses(config, `${PROJECT}:gitopsSystemRepoUrl`, gitHost);

/** Whether a stack is on the instance's chart mirror. */
const usesMirror = (config: Config, { chartsHost }: Pick<InstanceFacts, "chartsHost">): boolean =>
  uses(config, `${PROJECT}:chartsRegistry`, chartsHost);

/** Whether a value of a stack is a URL of a host. */
function uses(config: Config, key: string, host: string): boolean {
  const url = config[key];
  return typeof url === "string" && URL.canParse(url) && new URL(url).hostname === host;
}

/** What an instance lays over the configuration of the policy pack: where its chart mirror is, for a stack that uses it. */
export function policyOverrides(config: Config, facts: Pick<InstanceFacts, "chartsHost" | "mirrors">): PolicyConfig {
  const registries = [facts.mirrors.values["chartsRegistry"]];
  return usesMirror(config, facts) ? { "kubernetes-helm-registries": { registries } } : {};
}

/** The config of a stack as the checkout has it. Rejects for a stack that it doesn't have, naming the file. */
export async function readStack(stack: string): Promise<Config> {
  const { config = {} } = parse(await readFile(stackFile(stack), "utf8")) as { config?: Config };
  return config;
}

/** Name of the fleet that a stack is the hub of. */
export const fleetNameOf = async (stack: string): Promise<string> =>
  String((await readStack(stack))[`${PROJECT}:fleet`]);

/** Writes the overrides of a stack, which the runner lays over stacks/Pulumi.<stack>.yaml and stacks/policies.<stack>.json. */
export async function writeOverrides(instance: Instance, stack: string, facts: InstanceFacts): Promise<void> {
  const folder = pulumiPaths(instance.dir).overrides;
  const config = await readStack(stack);
  await mkdir(folder, { recursive: true });
  const plain = overrides(config, facts);
  const write = (values: Config) =>
    writeAtomic(join(folder, stackFileName(stack)), stringify({ config: values }, { lineWidth: 0 }), 0o600);
  await write(plain);
  const secrets = {
    ...(usesGit(config, facts) ? qualified(facts.git.secrets) : {}),
    ...(usesMirror(config, facts) ? qualified(facts.mirrors.secrets) : {}),
  };
  if (Object.keys(secrets).length > 0)
    await write({ ...plain, ...(await encryptConfig(instance.dir, stack, secrets)) });
  await writeAtomic(join(folder, policyFileName(stack)), JSON.stringify(policyOverrides(config, facts)));
}

/** How to run a Pulumi command on an instance: the real CLI with the stack's files and the instance's environment. */
export async function pulumiOn(instance: Instance, args: readonly string[]) {
  const { binary, args: full, env } = await pulumiCommand(instance.dir, args, CHECKOUT);
  return {
    argv: [binary, ...full] as [string, ...string[]],
    env: { ...env, ...cloudEnvironment(instance) },
    cwd: CHECKOUT,
  };
}

/** Runs a Pulumi command that changes no resource and gives its standard output. */
export async function readPulumi(instance: Instance, args: readonly string[]): Promise<string> {
  const { argv, ...options } = await pulumiOn(instance, [...args, "--non-interactive"]);
  return run(argv, options);
}

/**
 * Runs a Pulumi command that changes the stack, after what an interrupted one left: a running one is waited for, the lock
 * of one that is gone is removed. Rejects when it fails, with where its log is.
 * @param signal cancels the command
 * @param recover puts right what an interrupted Pulumi left
 */
export async function changeStack(
  instance: Instance,
  stack: string,
  args: readonly string[],
  report: Report,
  signal?: AbortSignal,
  recover: () => Promise<void> = async () => {},
): Promise<void> {
  const onLine = (line: string) => isNoise(line) || report(line, /\bwarning:/.test(line));
  const common = ["--stack", stack, "--yes"];
  await awaitOperation(instance, onLine, signal);
  if (await isLockStale(instance)) {
    onLine("removing the lock that an interrupted Pulumi left");
    await readPulumi(instance, ["cancel", ...common]);
    await recover();
  }
  const title = `pulumi ${args[0]}`;
  const spec = await pulumiOn(instance, [...args, ...common, "--non-interactive"]);
  const code = await runOperation(instance, { title, ...spec }, onLine, signal);
  if (code !== 0)
    throw new Error(`${title} ended with exit code ${code}: its output is above, and in ${operationLog(instance)}`);
}

/** Lines of Pulumi's display that say nothing (its heartbeat and empty ones), or advise what the command itself does next. */
const isNoise = (line: string) =>
  /^\s*(@ \w+\.*)?\s*$/.test(line) ||
  /^(The resources in the stack have been deleted|If you want to remove the)/.test(line);

/** The outputs of a stack, secret ones masked. */
export const outputsOf = async (instance: Instance, stack: string) =>
  JSON.parse(await readPulumi(instance, ["stack", "output", "--json", "--stack", stack])) as Record<string, unknown>;
