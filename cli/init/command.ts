import { relative } from "node:path";
import { runner } from "../doctor/process.ts";
import { projectRoot } from "../project.ts";
import { orInterrupted } from "../prompt/ask.ts";
import { processTerminal } from "../prompt/terminal.ts";
import { lineOf, options, requestOf } from "./line.ts";
import { nextSteps } from "./next.ts";
import { projectCopy } from "./pipelines.ts";
import { asked } from "./questions.ts";
import { init, type Part } from "./write.ts";

export const summary = "write the Git repositories and the stack file that a new fleet begins with";

export const help = `Usage: fleet init <folder> --stack NAME --fleet NAME --environment NAME --account ID --region REGION
                  --system-url URL --workloads-url URL --known-hosts FILE --public-access-cidr CIDR [options]

Writes gitops-system and gitops-workloads into <folder>, each a Git repository with one commit that is ready to be pushed, and the
stack's file stacks/Pulumi.NAME.yaml into this checkout. It queries AWS only for the roles of sessions, and pushes nothing. What
exists already stays as it is, and any difference from what would be written is shown. On a terminal it prompts for --admin and
--viewer.

  --stack NAME               Pulumi stack of the hub; dev and prod are the names of the examples
  --fleet NAME               prefix of the fleet's names in AWS; it can't be changed later
  --environment NAME         environment of the hub
  --spoke-environment NAME   environment of the spokes to come; default: the hub's. Can be given more than once
  --account ID               AWS account, the only one in which the stack may run
  --region REGION            AWS region of the hub
  --new-region               take a region that this version of the project does not know
  --system-url URL           where gitops-system is to be pushed to, and Flux reads it: ssh://git@host/path.git
  --workloads-url URL        the same for gitops-workloads
  --sample-app-url URL       also writes payment-app-manifests, the sample application, which is to be pushed there
  --known-hosts FILE         keys of the Git host, as ssh-keyscan prints them, compared with what the host publishes
  --public-access-cidr CIDR  public network that may use the hub's Kubernetes API. Can be given more than once
  --private-access-cidr CIDR network connected to the hub's VPC that may use its private endpoint. Can be given more than once
  --admin ARN                IAM role or user that administers the hub, in addition to the one that creates it (repeatable). For a
                             session (arn:aws:sts::…:assumed-role/…), IAM is queried for the ARN of its role
  --viewer ARN               IAM role or user that reads everything in the hub, such as the role of previews (repeatable)
  --vpc-cidr CIDR            network of the hub's VPC; default: the example's
  --vpc-id ID                existing VPC to use, instead of one that the stack makes; with it:
  --private-subnet-id ID     subnet of that VPC for the hub. Give two or more, in different zones
  --egress-cidr CIDR         public address by which that VPC reaches the internet. Can be given more than once
  --function-package NAME    the composition function's package, with the digest that the hub pulls:
                             ghcr.io/acme/function-spoke@sha256:…; default: this project's, without a digest
                             (docs/guides/signatures.md#the-functions-package)
  --project-url URL          where this project's copy is pushed to, of which workflows and pipelines of the repositories run this
                             checkout's commit; default: its remote origin (docs/guides/checks.md#pull-requests-of-repositories)
  --owner REPOSITORY=TEAM    who reviews changes of a repository, for its CODEOWNERS: gitops-system=@acme/platform. Can be given
                             more than once; default: the teams platform, governance and payments of the organization
  --boundary ARN             policy that is the permissions boundary of every role of the hub
  --role-path PATH           path in IAM of every role of the fleet, such as /company/teams/; default: /
  --git-authentication HOW   deploy-key (default), or, with https:// URLs, token or github-app
  --github-app-id N, --github-app-installation-id N
  --github-app-base-url URL  API of a GitHub Enterprise Server
  --ca-file FILE             authorities behind the certificate of the Git host (PEM), for https:// URLs
  --example NAME             file in stacks/ whose choices the new one takes: dev (default; small, may go at any time) or prod
                             (three zones, protected from removal, a private endpoint unless --public-access-cidr is given,
                             which needs --vpc-id and --private-access-cidr: docs/guides/deploy.md#private-endpoints)
  --no-input                 prompt for nothing; the same where CI is set

Commits are made with your own Git identity. Exit code 0: everything is as asked; 1: something that exists differs; 2: it was
called wrongly.

Example:
  fleet init ../fleet --stack pilot --fleet pilot --environment dev --account 123456789012 --region eu-central-1 \\
    --system-url ssh://git@github.com/acme/gitops-system.git --workloads-url ssh://git@github.com/acme/gitops-workloads.git \\
    --known-hosts ../known_hosts --public-access-cidr 203.0.113.7/32
`;

export { options };

/** Variables that would make git use another repository than the intended one, as in a hook. */
const ofOtherRepositories = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"];

/** The shorter of the absolute and the relative path. */
function brief(path: string): string {
  const way = relative(process.cwd(), path);
  return way !== "" && way.length < path.length ? way : path;
}

function described({ path, made, differences }: Part): string {
  const name = brief(path);
  if (made) return `made   ${name}`;
  if (differences.length === 0) return `there  ${name}, unchanged`;
  const shown = differences.slice(0, 10);
  const rest = differences.length - shown.length;
  return [
    `there  ${name}, left as it is. It differs from what would be written:`,
    ...[...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].map((line) => `         ${line}`),
  ].join("\n");
}

export const run = (argv: readonly string[], terminal = processTerminal): Promise<number> =>
  orInterrupted(terminal, async () => make(await asked(projectRoot(), argv, terminal)));

async function make(argv: readonly string[]): Promise<number> {
  const { request, told } = await requestOf(lineOf(argv));
  const root = projectRoot();
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofOtherRepositories.includes(name)));
  const programs = runner(root, env);
  const parts = await init(root, request, programs, told);
  const project = await projectCopy(root, request.projectUrl, programs);
  console.log(
    `${parts.map(described).join("\n")}\n\nNext (run fleet the way you just did):\n${nextSteps({ ...request, folder: brief(request.folder) }, project)}`,
  );
  return parts.some(({ differences }) => differences.length > 0) ? 1 : 0;
}
