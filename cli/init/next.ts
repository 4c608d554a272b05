import { existsSync } from "node:fs";
import { join } from "node:path";
import functionSpoke from "../../functions/spoke/package.json" with { type: "json" };
import { isGitHubCloud } from "../../lib/github-api.ts";
import { hubFolder } from "../../lib/layout.ts";
import { fleetNames, repositories } from "../../lib/names.ts";
import { digestOf, ecrPlace, hostOf } from "../../lib/registries.ts";
import { quoted } from "../shell.ts";
import { hasPipeline, type ProjectCopy, pipelinesGuide, placeOf, sampleApp } from "./pipelines.ts";
import type { InitRequest } from "./request.ts";

/**
 * The commands that lead from what fleet init has written to a hub, a spoke and an application; docs/tutorials/first-spoke-on-aws.md says
 * what one sees.
 */

interface Step {
  readonly what: string;
  readonly commands: readonly string[];
}

/** `<owner>/<repository>` of a URL at GitHub. */
function atGitHub(url: string): string | undefined {
  const place = placeOf(url);
  return place?.host === "github.com" ? place.path : undefined;
}

/** The commands that create empty repositories at the Git host and push to them. */
function pushes({ folder, systemUrl, workloadsUrl, sampleAppUrl }: InitRequest): string[] {
  const urls = { "gitops-system": systemUrl, "gitops-workloads": workloadsUrl, [sampleApp]: sampleAppUrl };
  return Object.entries(urls).flatMap(([name, url]) => {
    if (url === undefined) return [];
    const repository = atGitHub(url);
    return [
      ...(repository === undefined ? [] : [`gh repo create ${repository} --private`]),
      `git -C ${quoted(join(folder, name))} push --set-upstream origin main   # ${url}`,
    ];
  });
}

/** What an organization must allow before its repositories have deploy keys (GitHub Docs, "Restricting deploy keys in your organization"). */
function deployKeys({ systemUrl }: InitRequest): Step[] {
  const owner = systemUrl.startsWith("ssh:") ? atGitHub(systemUrl)?.split("/")[0] : undefined;
  if (owner === undefined) return [];
  const setting = "deploy_keys_enabled_for_repositories";
  return [
    {
      what: `If ${owner} is an organization, prefer a GitHub App (fleet init --git-authentication github-app, docs/guides/git-access.md#a-github-app), or let an owner allow deploy keys, which new organizations disallow`,
      commands: [
        `gh api orgs/${owner} --jq .${setting}   # true: allowed; false: disallowed; null or empty: you aren't an owner`,
        `gh api -X PATCH orgs/${owner} -F ${setting}=true`,
      ],
    },
  ];
}

/** How the workflows of this project's copy get their roles. */
function workflows({ stack }: InitRequest, project: ProjectCopy | undefined): Step[] {
  if (project === undefined || !isGitHubCloud(project.host)) return [];
  return [
    {
      what: `To deploy from pull requests, create a role for each environment of ${project.path}: it trusts the subject <prefix>:environment:<environment>, with the prefix that GitHub returns (docs/guides/checks.md#roles-of-the-workflows)`,
      commands: [
        `gh api repos/${project.path}/actions/oidc/customization/sub --jq .sub_claim_prefix`,
        `fleet doctor --stack ${stack}   # compares the trust policies with that prefix`,
      ],
    },
  ];
}

/** How the pipelines of the repositories get at this project. */
function pipelines({ systemUrl }: InitRequest, project: ProjectCopy | undefined): Step {
  if (project === undefined || !hasPipeline(systemUrl, project))
    return {
      what: `The repositories have no workflows: this folder is not a Git checkout with an origin on their Git host. Give --project-url for it (${pipelinesGuide})`,
      commands: [],
    };
  const { commit, host, path } = project;
  return {
    what: `Let the repositories check their pull requests with commit ${commit.slice(0, 12)} of ${host}/${path}, which must be pushed there (${pipelinesGuide})`,
    commands:
      atGitHub(systemUrl) !== undefined
        ? [
            `gh api --method PUT repos/${path}/actions/permissions/access -f access_level=organization   # if it is private`,
          ]
        : [],
  };
}

/** The commands after which crane can push the package, and how the hub may pull it. */
function registryOf(functionPackage: string): { readonly pull: string; readonly commands: readonly string[] } {
  const host = hostOf(functionPackage);
  const ecr = ecrPlace(functionPackage);
  if (ecr === undefined)
    return {
      pull: "then make the package public, or give the hub a pull secret (docs/guides/signatures.md#the-functions-package)",
      commands: [`crane auth login ${host} --username <user> --password-stdin < <file with the token>`],
    };
  return {
    pull: "the hub pulls it from Amazon ECR with a role (docs/guides/mirrors.md#amazon-ecr-as-the-only-registry)",
    commands: [
      `aws ecr create-repository --region ${ecr.region} --repository-name ${ecr.path}   # --tags Key=<key>,Value=<value>, if your company requires tags`,
      `aws ecr get-login-password --region ${ecr.region} | crane auth login ${host} --username AWS --password-stdin`,
    ],
  };
}

/** How the composition function's package gets to the registry from which the stack pulls it. */
function publication({ functionPackage, stack }: InitRequest): Step {
  if (functionPackage === undefined)
    return {
      what: "Check that the hub can pull the composition function's package, or publish one of your own: docs/guides/signatures.md#the-functions-package",
      commands: [],
    };
  const { pull, commands } = registryOf(functionPackage);
  if (digestOf(functionPackage) !== "")
    return {
      what: `Check that the hub can pull ${functionPackage}: docs/guides/signatures.md#the-functions-package`,
      commands: [],
    };
  return {
    what: `Publish the composition function, unless you have, and set the digest that crane push prints; ${pull}`,
    commands: [
      "npx node functions/spoke/package/main.ts",
      ...commands,
      `crane push --index <the second word that it prints> ${functionPackage}:v${functionSpoke.version}`,
      `# in stacks/Pulumi.${stack}.yaml, functionPackage: ${functionPackage}@sha256:<digest>`,
    ],
  };
}

/** A commit in a repository that fleet init has written. */
const commit = (repository: string, message: string): string =>
  `git -C ${repository} add . && git -C ${repository} commit -m "${message}" && git -C ${repository} push`;

/** The commands for the stack's secrets, which only Pulumi can encrypt. */
const secrets = ({ gitAuthentication }: InitRequest): string[] =>
  gitAuthentication === "token"
    ? ["pulumi config set --secret gitToken"]
    : gitAuthentication === "github-app"
      ? ["pulumi config set --secret githubAppPrivateKey < <private key>.pem"]
      : [];

function registration({ fleet, systemUrl, workloadsUrl }: InitRequest): string[] {
  const urls = { "gitops-system": systemUrl, "gitops-workloads": workloadsUrl };
  return repositories.map((name) => {
    const repository = atGitHub(urls[name]);
    if (repository === undefined)
      return `pulumi stack output --json deployPublicKeys | jq -r '."${name}"'   # at ${urls[name]}`;
    return `gh repo deploy-key add <(pulumi stack output --json deployPublicKeys | jq -r '."${name}"') --repo ${repository} --title ${fleet}-hub`;
  });
}

/** The machine from which a hub with a private endpoint only can be made. */
const ofPrivateOnly = ({ publicAccessCidrs, privateAccessCidrs, vpcId }: InitRequest): string =>
  publicAccessCidrs.length > 0
    ? ""
    : `, on a machine in ${privateAccessCidrs.join(" or ")} that reaches ${vpcId} (docs/guides/deploy.md#private-endpoints)`;

/** The spoke of the tutorial. */
const spoke = { name: "green", tenant: "payments" } as const;
const app = "payment-app";

/** The sample application on the spoke. */
function application({ fleet, folder, region }: InitRequest, environment: string, url: string): Step {
  const workloads = quoted(join(folder, "gitops-workloads"));
  const byKey = url.startsWith("ssh:");
  const repository = atGitHub(url);
  const register =
    repository === undefined
      ? `# register the deploy key that it printed, read-only, at ${url}`
      : `gh repo deploy-key add <(echo '<the key that it printed>') --repo ${repository} --title ${spoke.name}`;
  const config = `../${spoke.name}.kubeconfig`;
  return {
    what: "Put the sample application on it",
    commands: [
      `fleet onboard ${app} --cluster ${spoke.name} --environment ${environment} --tenant ${spoke.tenant} --repository-url ${url}${byKey ? "" : " --token-file <file>"} --repository ${workloads}`,
      ...(byKey ? [register] : []),
      commit(workloads, `Onboard ${app} on ${spoke.name}`),
      `aws eks update-kubeconfig --region ${region} --name ${fleetNames(fleet).spokePrefix}${spoke.name} --kubeconfig ${config}`,
      `kubectl --kubeconfig ${config} -n ${app} get pods --watch`,
    ],
  };
}

function steps(request: InitRequest, project: ProjectCopy | undefined): Step[] {
  const {
    account,
    boundary,
    environment,
    example,
    fleet,
    folder,
    publicAccessCidrs,
    region,
    rolePath,
    sampleAppUrl,
    spokeEnvironments,
    stack,
    systemUrl,
  } = request;
  const ofDeployer = [
    "--fleet",
    fleet,
    "--account",
    account,
    "--region",
    region,
    ...(boundary ? ["--boundary", boundary] : []),
    ...(rolePath ? ["--role-path", rolePath] : []),
  ];
  const admitted = (publicAccessCidrs.length > 0 ? publicAccessCidrs : ["<your address>/32"])
    .map((cidr) => `--public-access-cidr ${cidr}`)
    .join(" ");
  const spokeEnvironment = spokeEnvironments[0] ?? environment;
  const system = quoted(join(folder, "gitops-system"));
  const file = `stacks/Pulumi.${stack}.yaml`;
  return [
    ...(existsSync(join(folder, "gitops-system", hubFolder(fleet)))
      ? []
      : [{ what: "Create the fleet's folders", commands: [`fleet new-fleet ${fleet} --repository ${system}`] }]),
    publication(request),
    {
      what: "Check that the repositories work on every cluster",
      commands: [`fleet check --repos ${quoted(folder)}`],
    },
    ...deployKeys(request),
    { what: "Make empty repositories at the Git host, and push", commands: pushes(request) },
    pipelines(request, project),
    {
      what: "Give the deploying identity its rights; for a first try an administrator's login is enough",
      commands: [`fleet deployer-policy ${ofDeployer.join(" ")} --out ${quoted(join(folder, "deployer"))}`],
    },
    {
      what: "Create the stack in the backend that Pulumi is logged in to; awskms:// names a KMS key that you have (docs/tutorials/first-spoke-on-aws.md, step 3)",
      commands: [
        `pulumi stack init ${stack} --secrets-provider "awskms://alias/pulumi?region=${region}"`,
        ...secrets(request),
      ],
    },
    {
      what: "Check what is still missing, and do what the findings say",
      commands: [`fleet doctor --stack ${stack}`],
    },
    {
      what: "Commit the stack's file, with the key that Pulumi has written into it: without that key nobody reads its secrets",
      commands: [`git add ${file} && git commit -m "Add the stack ${stack}" ${file} && git push`],
    },
    {
      what: `Create the hub${ofPrivateOnly(request)}, and look at it`,
      commands: [
        `pulumi up --stack ${stack}`,
        `pulumi stack output kubeconfig --stack ${stack} > ../${stack}.kubeconfig && export KUBECONFIG=$PWD/../${stack}.kubeconfig`,
        "kubectl get nodes",
      ],
    },
    ...(systemUrl.startsWith("ssh:")
      ? [{ what: "Register the deploy keys, read-only", commands: registration(request) }]
      : []),
    {
      what: `Create a spoke, here ${spoke.name}`,
      commands: [
        `fleet new-cluster ${spoke.name} --environment ${spokeEnvironment} --tenant ${spoke.tenant} --admin <ARN of your role> ${admitted} --repository ${system}`,
        commit(system, `Add spoke ${spoke.name}`),
        `kubectl -n spokes get spoke ${spoke.name} --watch --output wide`,
      ],
    },
    ...(sampleAppUrl === undefined ? [] : [application(request, spokeEnvironment, sampleAppUrl)]),
    ...(example === "prod" && publicAccessCidrs.length > 0
      ? [
          {
            what: "When your network is connected to the hub's, close the public endpoint: docs/guides/deploy.md#private-endpoints",
            commands: [],
          },
        ]
      : []),
    ...workflows(request, project),
  ];
}

/** The next steps for a person. */
export const nextSteps = (request: InitRequest, project?: ProjectCopy): string =>
  steps(request, project)
    .map(({ what, commands }, index) =>
      [`${index + 1}. ${what}${commands.length > 0 ? ":" : ""}`, ...commands.map((command) => `   ${command}`)].join(
        "\n",
      ),
    )
    .join("\n");
