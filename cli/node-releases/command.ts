import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { AmiType } from "../../functions/spoke/api.ts";
import type { Problem } from "../../lib/problems.ts";
import { type Run, runner } from "../doctor/process.ts";
import { readStack } from "../doctor/stack.ts";
import { readLine } from "../line.ts";
import { projectRoot } from "../project.ts";
import { refuse, together, UsageError } from "../usage.ts";
import { type AmiParameter, isAmiType, newestReleases, parameters } from "./aws.ts";
import { raised, raisedHub } from "./edit.ts";

export const summary = "raise the nodes' AMI releases in Git to the newest ones that EKS recommends";

export const help = `Usage: fleet node-releases [--repository DIR] [--stack NAME] [--region REGION] [--channel ENVIRONMENT]... [--check]

EKS never renews the AMI of nodes by itself. This command asks AWS for the newest releases and writes them into Git; newer
releases and comments that are there stay. Commit it: each spoke's node groups, or at the next pulumi up the hub's, are then
replaced one node after another.

  --repository DIR       a checkout of gitops-system: the releases of spokes in platform/composition/composition.yaml; of AMIs for
                         NVIDIA GPUs and of Bottlerocket those that it names already
  --stack NAME           the stack of a hub: nodeReleaseVersion in stacks/Pulumi.NAME.yaml, for its region
  --region REGION        AWS region that is asked; default: the stack's, else that of the aws CLI
  --channel ENVIRONMENT  the environments whose spokes take the change of the Composition now, all others later; may be repeated;
                         default: as the file says
  --check                write nothing; exit code 1 when something would be raised

AWS is asked by the aws CLI with your own credentials, which need the right in
docs/reference/deployer-policy/fleet-node-releases.json.

Example:
  fleet node-releases --repository ../gitops-system --channel dev
`;

export const options = {
  repository: { type: "string" },
  stack: { type: "string" },
  region: { type: "string" },
  channel: { type: "string", multiple: true },
  check: { type: "boolean", default: false },
  help: { type: "boolean", short: "h" },
} as const;

/** A file with what it becomes, and what that changes, each as a line for a person. */
interface Raised {
  readonly path: string;
  readonly text: string;
  readonly changes: readonly string[];
}

type Newest = (wanted: readonly AmiParameter[]) => Promise<ReadonlyMap<AmiParameter, string>>;

export async function run(
  argv: readonly string[],
  root?: string,
  program: Run = runner(process.cwd(), process.env),
): Promise<number> {
  const { values, problems } = readLine("node-releases", argv, options);
  refuse("node-releases", together(problems, requestProblems(values.repository, values.stack)));
  const stack = values.stack === undefined ? undefined : await stackOf(root ?? projectRoot(), values.stack, program);
  const region = values.region ?? stack?.region;
  const newest: Newest = (wanted) => newestReleases(program, wanted, region);
  const files = [
    ...(values.repository === undefined ? [] : [await ofSpokes(values.repository, values.channel ?? [], newest)]),
    ...(stack === undefined ? [] : [await ofHub(stack, newest)]),
  ];
  const changes = files.flatMap((file) => file.changes);
  if (!values.check) for (const { path, text, changes } of files) if (changes.length > 0) await writeFile(path, text);
  console.log(changes.length === 0 ? "Every release is the newest: nothing to do." : changes.join("\n"));
  return values.check && changes.length > 0 ? 1 : 0;
}

const compositionIn = (repository: string): string =>
  join(resolve(repository), "platform", "composition", "composition.yaml");

function requestProblems(repository: string | undefined, stack: string | undefined): Problem[] {
  if (repository === undefined && stack === undefined)
    return [
      {
        key: "--repository or --stack",
        what: "is missing",
        got: "(nothing)",
        allowed: "a checkout of gitops-system for the spokes, a stack for a hub, or both",
        remedy: "give one of them. See fleet node-releases --help",
      },
    ];
  if (repository === undefined || existsSync(compositionIn(repository))) return [];
  return [
    {
      key: "--repository",
      what: "is not a checkout of gitops-system",
      got: resolve(repository),
      allowed: "a folder with platform/composition/composition.yaml",
      remedy: "name the folder of the checkout",
    },
  ];
}

async function ofSpokes(repository: string, channels: readonly string[], newest: Newest): Promise<Raised> {
  const path = compositionIn(repository);
  const { text, changes } = await raised(await readFile(path, "utf8"), channels, newest);
  return { path, text, changes };
}

async function ofHub(stack: HubStack, newest: Newest): Promise<Raised> {
  const [parameter] = parameters([stack.kubernetesVersion], [stack.amiType]);
  const release = parameter && (await newest([parameter])).get(parameter);
  return { path: stack.file, ...raisedHub(await readFile(stack.file, "utf8"), stack.name, release ?? "") };
}

interface HubStack {
  readonly name: string;
  readonly file: string;
  readonly region: string | undefined;
  readonly kubernetesVersion: string;
  readonly amiType: AmiType;
}

async function stackOf(root: string, name: string, program: Run): Promise<HubStack> {
  const { stack, findings } = await readStack({ root, stack: name, configFile: undefined }, program);
  const { kubernetesVersion, nodeAmiType } = stack?.settings ?? {};
  if (stack !== undefined && kubernetesVersion !== undefined && nodeAmiType !== undefined && isAmiType(nodeAmiType))
    return { name, file: stack.file, region: stack.region, kubernetesVersion, amiType: nodeAmiType };
  throw new UsageError(
    `the stack ${name} can't be read: ${findings.map(({ name, message }) => `${name} ${message}`).join("; ")}. fleet doctor --stack ${name} says more`,
  );
}
