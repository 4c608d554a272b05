import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EC2Client } from "@aws-sdk/client-ec2";
import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { IAMClient } from "@aws-sdk/client-iam";
import { KMSClient } from "@aws-sdk/client-kms";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { runner } from "../../cli/doctor/process.ts";
import { readStack, type Stack } from "../../cli/doctor/stack.ts";
import type { Files } from "../../cli/folder.ts";
import { freshRepositories } from "../../cli/init/repositories.ts";
import { type Checkout, checkoutOf } from "../support/checkout.ts";
import { type Cluster, clusterBy } from "../support/cluster.ts";
import type { Account } from "../support/inventory.ts";
import { execute, git, type Result, root, succeed } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";
import type { Environment, ProofRepository } from "./environment.ts";

/** Everything with which a person works on a fleet: the programs on PATH, with the credentials of the environment. */

export function accountOf(region: string): Account {
  return {
    cloudwatchlogs: new CloudWatchLogsClient({ region }),
    dynamodb: new DynamoDBClient({ region }),
    ec2: new EC2Client({ region }),
    eks: new EKSClient({ region }),
    iam: new IAMClient({ region }),
    kms: new KMSClient({ region }),
    secretsmanager: new SecretsManagerClient({ region }),
    sqs: new SQSClient({ region }),
  };
}

/** The stack by its file. @throws what is wrong with it */
export async function stackOf({ stack: name, configFile }: Environment): Promise<Stack> {
  const { stack, findings } = await readStack({ root, stack: name, configFile }, runner(root, process.env));
  const wrong = findings.filter(({ status }) => status === "wrong");
  if (stack === undefined || wrong.length > 0)
    throw new Error(wrong.map(({ name, message, todo }) => `${name}: ${message}. ${todo}`).join("\n"));
  return stack;
}

/** `fleet`, whatever its exit code. */
export const tryFleet = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Result> =>
  execute(process.execPath, [join(root, "cli", "main.ts"), ...args], { env });
export const fleet = (args: readonly string[]): Promise<string> =>
  succeed(process.execPath, [join(root, "cli", "main.ts"), ...args]);

/** `pulumi` on the stack, unattended; what it says is shown as it goes. Whatever its exit code. */
export function tryPulumi({ stack }: Environment, args: readonly string[]): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn("pulumi", [...args, "--stack", stack, "--non-interactive"], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        said[name] += text;
        process[name].write(text);
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, ...said }));
  });
}

/** An output of the stack. */
export async function outputsOf({ stack }: Environment): Promise<Record<string, unknown>> {
  return JSON.parse(await succeed("pulumi", ["stack", "output", "--json", "--stack", stack, "--non-interactive"]));
}

/** What EKS says of a cluster's state; undefined when there is none. */
export async function clusterStatus({ eks }: Account, name: string): Promise<string | undefined> {
  try {
    return (await eks.send(new DescribeClusterCommand({ name }))).cluster?.status;
  } catch (error) {
    if ((error as Error).name === "ResourceNotFoundException") return undefined;
    throw error;
  }
}

/** For what the proof writes; goes with its last test. */
const scratch = temporaryFolder("fleet-aws-files");

/** Writes a kubeconfig for a cluster; its path. @param role ARN of the role to assume, by default none */
export async function kubeconfigOf(name: string, region: string, role?: string): Promise<string> {
  const file = join(scratch, role === undefined ? name : `${name}-as-${role.replaceAll(/[^\w-]/g, "_")}`);
  const as = role === undefined ? [] : ["--role-arn", role];
  await succeed("aws", ["eks", "update-kubeconfig", "--name", name, "--region", region, "--kubeconfig", file, ...as]);
  return file;
}

/** kubectl with the flags that choose a cluster, which `aws eks update-kubeconfig` writes down. */
export async function kubectlOf(name: string, region: string, role?: string): Promise<readonly [string, ...string[]]> {
  const file = await kubeconfigOf(name, region, role);
  return ["kubectl", "--kubeconfig", file];
}

/** A cluster as whoever runs this sees it, with a token of `aws eks get-token` for each call. */
export function clusterOf([program, ...flags]: readonly [string, ...string[]]): Cluster {
  return clusterBy((args, options) => execute(program, [...flags, ...args], options));
}

/** A checkout of a repository. */
export const checkout = ({ repositories }: Environment, name: ProofRepository): Promise<Checkout> =>
  checkoutOf(repositories[name], join(mkdtempSync(join(scratch, "checkout-")), name));

/** The file of a repository that may be overwritten. */
const DISPOSABLE = ".disposable";

/** GitHub takes workflows only from a token with the right to write them, which the proof has no use for. */
const withoutWorkflows = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith(".github/")));

/** Brings what `fleet init` begins with to the repositories, in place of all that was in them; gives the commit at the head of gitops-system. */
export async function publish(environment: Environment): Promise<string> {
  const { fleet: name, repositories, appUrl } = environment;
  const urls = { systemUrl: repositories["gitops-system"], workloadsUrl: repositories["gitops-workloads"] };
  const fresh = await freshRepositories(
    root,
    { fleet: name, ...urls, sampleAppUrl: appUrl },
    runner(root, process.env),
  );
  const commits = new Map<string, string>();
  for (const { name, files } of fresh)
    commits.set(
      name,
      await replace(await checkout(environment, name as ProofRepository), name, withoutWorkflows(files)),
    );
  return commits.get("gitops-system") ?? "";
}

/** Gives a repository exactly these files; the commit at its head. */
async function replace({ folder, push }: Checkout, name: string, files: Files): Promise<string> {
  const entries = await readdir(folder);
  if (!entries.includes(DISPOSABLE))
    throw new Error(
      `${name} has no file ${DISPOSABLE}: the proof replaces everything in its repositories. ` +
        `Take repositories that nobody else uses, and commit an empty file of this name to the branch`,
    );
  for (const entry of entries.filter((each) => each !== ".git" && each !== DISPOSABLE))
    await rm(join(folder, entry), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  if ((await git(["status", "--porcelain"], folder)) !== "") return push(`Begin ${name} for the proof`);
  return (await git(["rev-parse", "HEAD"], folder)).trim();
}
