import { existsSync } from "node:fs";
import { join } from "node:path";
import { hubFolder } from "../../lib/layout.ts";
import { repositories } from "../../lib/names.ts";
import { sampleApp } from "./repositories.ts";
import type { InitRequest } from "./request.ts";

/** The commands that lead from what fleet init has written to a hub, a spoke and an application; the README says what one sees. */

/** `<owner>/<repository>` of a URL at GitHub. */
const atGitHub = (url: string): string | undefined =>
  new URL(url).hostname === "github.com" ? new URL(url).pathname.slice(1).replace(/\.git$/, "") : undefined;

/** A path for a shell, in quotes where it needs them. */
const quoted = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

function pushes({ folder, systemUrl, workloadsUrl, sampleAppUrl }: InitRequest): string[] {
  const urls = { "gitops-system": systemUrl, "gitops-workloads": workloadsUrl, [sampleApp]: sampleAppUrl };
  return Object.entries(urls).flatMap(([name, url]) =>
    url === undefined ? [] : [`git -C ${quoted(join(folder, name))} push --set-upstream origin main   # ${url}`],
  );
}

/** What the stack still lacks, and only Pulumi can encrypt. */
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

/** From where a hub can be made; its users come later. */
const ofPrivateOnly = ({ publicAccessCidrs, privateAccessCidrs, vpcId }: InitRequest): string =>
  publicAccessCidrs.length > 0
    ? ""
    : `, on a machine in ${privateAccessCidrs.join(" or ")} that reaches ${vpcId} (docs/private-endpoints.md)`;

interface Step {
  readonly what: string;
  readonly commands: readonly string[];
}

function steps(request: InitRequest): Step[] {
  const {
    account,
    boundary,
    environment,
    example,
    fleet,
    folder,
    publicAccessCidrs,
    region,
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
      : [{ what: "Give the fleet its folders", commands: [`npx fleet new-fleet ${fleet} --repository ${system}`] }]),
    {
      what: "See that the repositories are what every cluster can take",
      commands: [`npx fleet check --repos ${quoted(folder)}`],
    },
    { what: "Make the repositories at the Git host, empty, and push", commands: pushes(request) },
    {
      what: "Give the identity that deploys its rights",
      commands: [`npx fleet deployer-policy ${ofDeployer.join(" ")} --out ${quoted(join(folder, "deployer"))}`],
    },
    {
      what: "Make the stack; awskms:// names a KMS key that you have",
      commands: [
        `pulumi stack init ${stack} --secrets-provider "awskms://alias/pulumi?region=${region}"`,
        ...secrets(request),
      ],
    },
    { what: "Ask what is still missing, and do what it says", commands: [`npx fleet doctor --stack ${stack}`] },
    {
      what: "Commit the stack's file, with the key that Pulumi has written into it: without that key nobody reads its secrets",
      commands: [`git add ${file} && git commit -m "Add the stack ${stack}" ${file} && git push`],
    },
    { what: `Make the hub${ofPrivateOnly(request)}`, commands: [`pulumi up --stack ${stack}`] },
    ...(systemUrl.startsWith("ssh:")
      ? [{ what: "Register the deploy keys, read-only", commands: registration(request) }]
      : []),
    {
      what: "Make a spoke: commit and push what this writes",
      commands: [
        `npx fleet new-cluster <name> --environment ${spokeEnvironment} --tenant <team> --admin <ARN of your role> ${admitted} --repository ${system}`,
      ],
    },
    ...(sampleAppUrl === undefined
      ? []
      : [
          {
            what: "Put the sample application on it, in the same way",
            commands: [
              `npx fleet onboard payment-app --cluster <name> --environment ${spokeEnvironment} --tenant <team> --repository-url ${sampleAppUrl}${sampleAppUrl.startsWith("https:") ? " --token-file <file>" : ""} --repository ${quoted(join(folder, "gitops-workloads"))}`,
            ],
          },
        ]),
    ...(example === "prod" && publicAccessCidrs.length > 0
      ? [
          {
            what: "When your network is connected to the hub's, close the public endpoint: docs/private-endpoints.md",
            commands: [],
          },
        ]
      : []),
  ];
}

/** The next steps for a person. */
export const nextSteps = (request: InitRequest): string =>
  steps(request)
    .map(({ what, commands }, index) =>
      [`${index + 1}. ${what}${commands.length > 0 ? ":" : ""}`, ...commands.map((command) => `   ${command}`)].join(
        "\n",
      ),
    )
    .join("\n");
