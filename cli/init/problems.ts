import { existsSync, statSync } from "node:fs";
import { relative, sep } from "node:path";
import type { Readable } from "../../infra/settings.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { forms, ownBoundaryProblems } from "../fleet/deployer-policy.ts";
import { fleetNameProblems } from "../fleet/folders.ts";
import { unknownRegionProblems } from "../fleet/region.ts";
import { judge, type Project } from "../fleet/stack-config.ts";
import { readOffer } from "../spoke/rules.ts";
import { choiceProblems } from "../usage.ts";
import { textProblems } from "../yaml-text.ts";
import { pipelineProblems } from "./pipelines.ts";
import { contentFolder } from "./repositories.ts";
import type { InitRequest } from "./request.ts";
import { examplesOf, stackConfig } from "./stack.ts";

/** Flags by the config key that they set, and the remedy when its value is wrong. */
const flags: Readonly<Record<string, { readonly flag: string; readonly remedy: string }>> = {
  fleet: { flag: "--fleet", remedy: "choose another name; it can't be changed once there is a hub" },
  environment: { flag: "--environment", remedy: "choose another name" },
  "aws:region": { flag: "--region", remedy: "give --region" },
  vpcCidr: { flag: "--vpc-cidr", remedy: "give a network such as --vpc-cidr 10.0.0.0/16" },
  endpointPublicAccessCidrs: {
    flag: "--public-access-cidr",
    remedy:
      "give the public address from which you and your pipelines connect, such as --public-access-cidr a.b.c.d/32 (curl https://checkip.amazonaws.com)",
  },
  endpointPrivateAccessCidrs: {
    flag: "--private-access-cidr",
    remedy: "give networks that are connected to the hub's VPC",
  },
  vpcId: { flag: "--vpc-id", remedy: "give the ID of a VPC that exists, such as --vpc-id vpc-0123456789abcdef0" },
  privateSubnetIds: {
    flag: "--private-subnet-id",
    remedy: "give --private-subnet-id for two or more subnets of --vpc-id, in different zones",
  },
  egressCidrs: {
    flag: "--egress-cidr",
    remedy: "give the public addresses by which --vpc-id reaches the internet, such as --egress-cidr a.b.c.d/32",
  },
  clusterAdmins: { flag: "--admin", remedy: "give each IAM role or user once" },
  clusterViewers: { flag: "--viewer", remedy: "give each IAM role or user once, and none that --admin names" },
  permissionsBoundary: { flag: "--boundary", remedy: "give the ARN of a policy" },
  rolePath: { flag: "--role-path", remedy: "give a path such as /company/teams/" },
  sealingKeys: { flag: "--spoke-environment", remedy: "choose other environments" },
  gitopsSystemRepoUrl: {
    flag: "--system-url",
    remedy:
      "give --system-url ssh://git@<host>/<organization>/gitops-system.git, or an https:// URL with --git-authentication token or github-app",
  },
  gitopsWorkloadsRepoUrl: {
    flag: "--workloads-url",
    remedy:
      "give --workloads-url ssh://git@<host>/<organization>/gitops-workloads.git, or an https:// URL with --git-authentication token or github-app",
  },
  gitAuthentication: { flag: "--git-authentication", remedy: "choose one" },
  githubAppId: { flag: "--github-app-id", remedy: "give the ID of your GitHub App" },
  githubAppInstallationId: { flag: "--github-app-installation-id", remedy: "give the ID of the app's installation" },
  githubAppBaseUrl: {
    flag: "--github-app-base-url",
    remedy: "give the API of the GitHub server that has the repositories: https://<host>/api/v3",
  },
  gitCaCertificate: { flag: "--ca-file", remedy: "give a file with certificates in PEM" },
  gitKnownHosts: {
    flag: "--known-hosts",
    remedy:
      "ssh-keyscan -t ed25519 <host> > known_hosts, compare it with the fingerprint that the host publishes, and give --known-hosts known_hosts",
  },
  functionPackage: {
    flag: "--function-package",
    remedy: "give the name with its digest that crane push prints (docs/guides/signatures.md#the-functions-package)",
  },
};

/** Secrets, which pulumi config set --secret writes once the stack has its key: a later step, and no problem now. */
const laterKeys = ["gitToken", "githubAppPrivateKey"];

/** The problem of a required flag that is missing. */
const missing = (flag: string, allowed: string): Problem => ({
  key: flag,
  what: "is missing",
  got: "(nothing)",
  allowed,
  remedy: `give ${flag}`,
});

/** The problem of a flag that is missing, or whose value has another form. */
function formProblems(flag: string, value: string, allowed: string, accepts: (value: string) => boolean): Problem[] {
  if (value === "") return [missing(flag, allowed)];
  if (accepts(value)) return [];
  return [{ key: flag, what: "has another form", got: shown(value), allowed, remedy: `give another ${flag}` }];
}

function folderProblems(root: string, folder: string): Problem[] {
  const key = "<folder>";
  const way = relative(root, folder);
  const inside = way === "" || !(way === ".." || way.startsWith(`..${sep}`));
  if (inside)
    return [
      {
        key,
        what: "is inside this project's checkout",
        got: folder,
        allowed: "a folder beside it, because each repository in it is separate",
        remedy: "choose another folder, such as ../fleet",
      },
    ];
  if (!existsSync(folder) || statSync(folder).isDirectory()) return [];
  return [
    {
      key,
      what: "is not a folder",
      got: folder,
      allowed: "a folder, or a path at which nothing exists",
      remedy: "choose another path",
    },
  ];
}

/** Repositories of applications must be in the same organization as gitops-workloads; parameters.yaml of gitops-system can allow others. */
function sampleProblems({ sampleAppUrl, workloadsUrl }: InitRequest): Problem[] {
  const beside = workloadsUrl.slice(0, workloadsUrl.lastIndexOf("/") + 1);
  if (sampleAppUrl === undefined || sampleAppUrl.slice(0, sampleAppUrl.lastIndexOf("/") + 1) === beside) return [];
  return [
    {
      key: "--sample-app-url",
      what: "is not beside gitops-workloads, so the spokes' admission policies would refuse it (platform/policies/parameters.yaml)",
      got: shown(sampleAppUrl),
      allowed: `a repository of the same organization or group: ${beside || "<workloads-url>"}payment-app-manifests.git`,
      remedy: "choose a repository there; others can be allowed in parameters.yaml later",
    },
  ];
}

/** A stack either makes a VPC, from its network, or uses one that exists. */
function networkProblems({ vpcCidr, vpcId }: InitRequest): Problem[] {
  if (vpcCidr === undefined || !vpcId) return [];
  return [
    {
      key: "--vpc-cidr",
      what: "is the network of a new VPC, and --vpc-id names one that exists",
      got: shown(vpcCidr),
      allowed: "one of the two",
      remedy: "leave out --vpc-cidr or --vpc-id",
    },
  ];
}

/**
 * Pulumi must be able to reach a hub without a public endpoint as soon as it exists, so its VPC must exist before, connected to the
 * runner's network.
 */
function wayProblems({ privateAccessCidrs, vpcId }: InitRequest, { endpointPublicAccess }: Readable): Problem[] {
  if (endpointPublicAccess !== false) return [];
  const allowed =
    "the public address from which you connect; or --vpc-id, --private-subnet-id and --private-access-cidr of a VPC with a runner in it";
  const remedy = "choose one of the two ways in docs/guides/deploy.md#private-endpoints";
  const got = privateAccessCidrs.length > 0 ? privateAccessCidrs.join(", ") : "(nothing)";
  if (!vpcId)
    return [
      {
        key: "--public-access-cidr",
        what: "is missing, and pulumi up would create the VPC: no network is connected to it yet, so nothing could reach the hub",
        got: `--private-access-cidr ${got}, and no --vpc-id`,
        allowed,
        remedy,
      },
    ];
  if (privateAccessCidrs.length > 0) return [];
  return [
    {
      key: "--private-access-cidr",
      what: "is missing: the hub's private endpoint would admit only its own nodes",
      got,
      allowed: "the network of the machine that runs pulumi up, in that VPC or connected to it",
      remedy,
    },
  ];
}

/** The problems of the flags by themselves. */
async function ownProblems(root: string, request: InitRequest, examples: readonly string[]): Promise<Problem[]> {
  const { account, boundary, environment, example, fleet, region, spokeEnvironments, stack } = request;
  const { environments } = await readOffer(contentFolder(root, "gitops-system"));
  const isForm = (form: (typeof forms)[keyof typeof forms]) => (value: string) => form.parse(value) !== undefined;
  return [
    ...folderProblems(root, request.folder),
    // Pulumi's rule for names of stacks (pkg/backend/httpstate, "validateStackName").
    ...formProblems("--stack", stack, "up to 100 letters, digits, hyphens, underscores and dots", (value) =>
      /^[A-Za-z0-9_.-]{1,100}$/.test(value),
    ),
    ...(fleet === ""
      ? [missing("--fleet", "the fleet's name, the prefix of its names in AWS")]
      : fleetNameProblems(fleet).map((problem) => ({ ...problem, key: "--fleet" }))),
    ...(environment === ""
      ? [missing("--environment", environments.join(", "))]
      : textProblems({ "--environment": environment })),
    ...spokeEnvironments.flatMap((name) =>
      name === ""
        ? []
        : choiceProblems(
            "--spoke-environment",
            name,
            environments,
            "choose one of those that gitops-system has; it is --environment when it is not given",
          ),
    ),
    ...formProblems("--account", account, forms.account.allowed, isForm(forms.account)),
    ...formProblems("--region", region, forms.region.allowed, isForm(forms.region)),
    ...unknownRegionProblems(region, request.newRegion ?? false),
    ...choiceProblems("--example", example, examples, "choose one"),
    ...ownBoundaryProblems({ fleet, boundary }),
    ...sampleProblems(request),
    ...pipelineProblems(root, request),
    ...networkProblems(request),
  ];
}

/** All problems of a request: of the flags and, by the program's own rules, of the resulting configuration. */
export async function problemsOf(root: string, request: InitRequest, project: Project): Promise<Problem[]> {
  const examples = examplesOf(project);
  const own = await ownProblems(root, request, examples);
  // If the stack has the name of an example, the other rules apply all the same.
  const example = examples.find((name) => name === request.example) ?? examples[0];
  if (example === undefined) return own;
  const { problems, settings } = judge({ config: await stackConfig({ ...request, example }, project) }, project);
  const way = wayProblems(request, settings);
  const known = new Set([...own, ...way].map(({ key }) => key));
  // The program's rule about connected networks says less than the problem reported above.
  if (way.length > 0 && request.privateAccessCidrs.length === 0) known.add("--private-access-cidr");
  const judged = problems
    .filter(({ key }) => !laterKeys.includes(key))
    .map(({ key, remedy, ...rest }) => {
      const ofKey = flags[key.replace(/\[.*$/, "")];
      return { ...rest, key: ofKey?.flag ?? key, remedy: ofKey?.remedy ?? remedy };
    });
  return [...own, ...way, ...judged.filter(({ key }) => !known.has(key))];
}
