import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Problem, shown } from "../../lib/problems.ts";
import { readLine } from "../line.ts";
import { forProgram, type Output, outputOption, outputs } from "../output.ts";
import { projectRoot } from "../project.ts";
import { refuse, together, UsageError } from "../usage.ts";
import { checkAccess } from "./access.ts";
import { type AwsConfig, noLogin } from "./aws.ts";
import { checkBackend } from "./backend.ts";
import { checkBoundary } from "./boundary.ts";
import { checkEcr, ecrLogins } from "./ecr.ts";
import { type Finding, type Group, hasWork, note } from "./finding.ts";
import { checkGit } from "./git.ts";
import { githubOf } from "./github.ts";
import { checkEnvironments } from "./github-environments.ts";
import { checkRoles } from "./github-roles.ts";
import { checkRunner } from "./github-runners.ts";
import { checkReleaseTags } from "./github-tags.ts";
import { checkHub } from "./hub.ts";
import { checkLogKey } from "./log-key.ts";
import { checkLogin } from "./login.ts";
import { checkNetwork, checkProxy } from "./network.ts";
import { type Run, runner } from "./process.ts";
import { checkQuotas } from "./quotas.ts";
import { checkFunctionDigest, checkReferences } from "./references.ts";
import { asData, asText } from "./report.ts";
import { checkRolePath } from "./role-path.ts";
import { checkSecrets } from "./secrets.ts";
import { readStack, type Stack } from "./stack.ts";
import { type Connect, connectIn, readSurroundings, type Surroundings } from "./surroundings.ts";
import { checkTools } from "./tools.ts";
import { checkVolumeKeys } from "./volume-keys.ts";

export const summary = "check what a stack needs before pulumi up: tools, logins, quotas, Git hosts, packages";

export const help = `Usage: fleet doctor [--stack NAME] [--config-file FILE] [--spokes N] [--offline]
                    [-o text|json|yaml]

Checks what a stack needs and says what to do next; it changes nothing.

  tools          the programs on PATH and their versions
  configuration  every problem in the stack's file
  AWS login      who you are; the account and the region are the stack's
  backend        Pulumi is logged in and reaches its state; how the secrets in the state are kept
  quotas         VPCs, gateway endpoints, Elastic IPs, NAT gateways, vCPUs (On-Demand and Spot), EKS clusters, OIDC providers
                 and IAM roles, against what is in use and what the hub and more spokes take
  hub            the Kubernetes version of its control plane is the stack's; the first pulumi up can reach its endpoint
  network        the regions are allowed and reach the internet (VPC Block Public Access); the subnets of vpcId; a proxy
  roles          the policy of permissionsBoundary exists; the hub's roles have the path of the stack
  access         the principals in clusterAdmins and clusterViewers exist, and those in the hub's access entries
  secrets        no name that the stack creates in Secrets Manager is scheduled for deletion
  volumes        EBS can use the keys in volumeKeys, and the account's default key is one that roles of spokes may use
  logs           CloudWatch Logs can use the key in logKey, and its policy names the service
  Git hosts      their host keys are the stack's; the deploy keys or the token read the branches; an organization at GitHub allows
                 deploy keys
  workflows      the roles of GitHub's workflows trust the subject that GitHub puts into their tokens, but no pushed branch;
                 environments at GitHub restrict branches and require reviewers; the self-hosted runner takes only jobs of
                 the main branch; a tag ruleset restricts the tags that release
  packages       the charts, images and Crossplane packages that this project's files name can be pulled, without credentials;
                 from Amazon ECR with yours, where pulumi needs a login; the hub pulls the composition function by its digest

  --stack NAME        Pulumi stack of the hub; default: the selected one
  --config-file FILE  its configuration; default: stacks/Pulumi.NAME.yaml; in the shell of a local instance, what Pulumi
                      runs with there
  --spokes N          spokes to be made next, each in the hub's account and region; default: 1
  --offline           does not ask chart repositories and container registries
  -o, --output FORM   text (default), json or yaml: { ok, groups: [{ name, findings: [{ status, name, message, todo }] }] },
                      where status is ok, note (worth knowing), wrong or unchecked (something must be done)

AWS is asked with your own credentials (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL and so on). What they may not see is reported
as unknown: docs/reference/deployer-policy/fleet-doctor.json has the rights beyond those of the deployer. Git hosts are reached
with ssh, without your configuration, or with the program that FLEET_SSH names; GitHub's API with the token in GH_TOKEN or
GITHUB_TOKEN, or with that of gh. For the local stack, . .local/env sets
everything that is needed.
Exit code 0: nothing has to be done; 1: something has; 2: it was called wrongly.

Example:
  fleet doctor --stack pilot --spokes 3
`;

export const options = {
  stack: { type: "string" },
  "config-file": { type: "string" },
  spokes: { type: "string", default: "1" },
  offline: { type: "boolean", default: false },
  output: outputOption,
  help: { type: "boolean", short: "h", default: false },
} as const;

export const choices = { output: outputs };

/** What the doctor checks. */
export interface World {
  /** Folder of the Pulumi project. */
  readonly root: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly run: Run;
  readonly aws: AwsConfig;
  readonly connect: Connect;
  /** Those of an embedded cloud. */
  readonly surroundings?: Surroundings | undefined;
  /** Chart repositories and registries are not asked. */
  readonly offline: boolean;
}

export interface Question {
  readonly stack: string | undefined;
  readonly configFile: string | undefined;
  /** Spokes to be made next. */
  readonly spokes: number;
}

/** All findings; checks that need a stack are left out if there is none. */
export async function examine(question: Question, world: World): Promise<Group[]> {
  const { root, run, surroundings } = world;
  const { stack, findings } = await readStack({ root, surroundings, ...question }, run);
  const tools = checkTools(stack?.settings.kubernetesVersion, run, stack?.embedded);
  const ofStack = stack === undefined ? [] : await examineStack(stack, question, world);
  const groups = [{ name: "tools", findings: await tools }, { name: "configuration", findings }, ...ofStack];
  return groups.filter((group) => group.findings.length > 0);
}

async function examineStack(stack: Stack, { spokes }: Question, world: World): Promise<Group[]> {
  const { root, env, run, aws, connect } = world;
  const github = githubOf({ env, run, connect });
  const packages = checkPackages(stack, world);
  const login = await checkLogin(stack, aws);
  const [
    backend,
    quotas,
    hub,
    network,
    access,
    secrets,
    volumes,
    logs,
    git,
    roles,
    environments,
    runner,
    tags,
    boundary,
    rolePath,
  ] = await Promise.all([
    checkBackend(stack, run, env),
    login.known ? checkQuotas(stack, spokes, aws) : [noLogin("quotas")],
    login.known ? checkHub(stack, aws) : [],
    login.known ? checkNetwork(stack, aws) : [],
    login.known ? checkAccess(stack, aws, login.caller) : [],
    login.known ? checkSecrets(stack, aws) : [],
    login.known ? checkVolumeKeys(stack, aws) : [],
    login.known ? checkLogKey(stack, aws) : [],
    checkGit(stack, { run, connect, aws, loggedIn: login.known, ssh: env["FLEET_SSH"], github }),
    login.known ? checkRoles(stack, { root, run, aws, github }) : [],
    checkEnvironments(stack, { root, run, github }),
    checkRunner(stack, { root, run, github }),
    checkReleaseTags(stack, { root, run, github }),
    login.known ? checkBoundary(stack, aws) : [],
    login.known ? checkRolePath(stack, aws) : [],
  ]);
  return [
    { name: "AWS login", findings: login.findings },
    { name: "backend", findings: backend },
    { name: "quotas", findings: quotas },
    { name: "hub", findings: hub },
    { name: "network", findings: [...network, ...checkProxy(env)] },
    { name: "roles", findings: [...boundary, ...rolePath] },
    { name: "access to the hub", findings: access },
    { name: "secrets", findings: secrets },
    { name: "volumes", findings: volumes },
    { name: "logs", findings: logs },
    { name: "Git hosts", findings: git },
    { name: "workflows", findings: [...roles, ...environments, ...runner, ...tags] },
    { name: "packages", findings: await packages },
  ];
}

async function checkPackages(stack: Stack, { root, connect, env, offline, run }: World): Promise<Finding[]> {
  const ofEcr = [...checkFunctionDigest(stack.settings), ...checkEcr(stack, env)];
  if (offline) return [...ofEcr, note("packages", "are not checked", "run this without --offline")];
  const today = new Date().toISOString().slice(0, 10);
  const { login, findings } = ecrLogins(run);
  const references = await checkReferences(stack, { root, fetch: connect(""), pauses: [1_000, 4_000], today, login });
  return [...ofEcr, ...(await findings()), ...references];
}

/** The environment without the project's own programs, which npm and scripts/run.mjs put first on PATH: Pulumi runs the user's. */
function ofUser(root: string, env: Readonly<NodeJS.ProcessEnv>): NodeJS.ProcessEnv {
  const own = join(root, "node_modules", ".bin");
  const path = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== own);
  return { ...env, PATH: path.join(delimiter) };
}

/** The message for the local stack, whose account, host names and authorities are set in its own shell only. */
function inItsShell(dir: string): string {
  const file = join(dir, "env");
  const start = existsSync(file) ? "" : "npm start && ";
  return `the stack local is on the embedded cloud; run fleet doctor in its shell: ${start}. ${file} && fleet doctor --stack local`;
}

const countProblems = (spokes: string): Problem[] =>
  /^\d{1,4}$/.test(spokes)
    ? []
    : [
        {
          key: "--spokes",
          what: "is not a number of spokes",
          got: shown(spokes),
          allowed: "a whole number from 0 to 9999",
          remedy: "change it, or leave it out for 1",
        },
      ];

export async function run(argv: readonly string[]): Promise<number> {
  const { values, problems } = readLine("doctor", argv, options, { choices });
  refuse("doctor", together(problems, countProblems(values.spokes)));
  const root = projectRoot();
  const env = ofUser(root, process.env);
  const surroundings = readSurroundings(env);
  if (values.stack === "local" && surroundings === undefined && values["config-file"] === undefined)
    throw new UsageError(`fleet doctor: ${inItsShell(env["FLEET_LOCAL_DIR"] || join(root, ".local"))}`);
  const groups = await examine(
    { stack: values.stack, configFile: values["config-file"], spokes: Number(values.spokes) },
    {
      root,
      env,
      run: runner(root, env),
      aws: {},
      connect: connectIn(surroundings, (url, init) => fetch(url, init)),
      surroundings,
      offline: values.offline,
    },
  );
  const output = values.output as Output;
  process.stdout.write(output === "text" ? asText(groups) : forProgram(asData(groups), output));
  return hasWork(groups) ? 1 : 0;
}
