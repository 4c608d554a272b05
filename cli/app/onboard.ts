import { relative, resolve } from "node:path";
import { type CommitStatusType, commitStatusTypes } from "../../lib/notifications.ts";
import { type ReceiverType, receiverTypes } from "../../lib/receivers.ts";
import { type Sealing, sealings } from "../../lib/spoke.ts";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { changesTo, type Proposal } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { certificateProblems, fleetFrom, sourceHelp, sourceOptions } from "../fleet/facts.ts";
import { below } from "../folder.ts";
import { readLine } from "../line.ts";
import { webhookHelp } from "../sealing/receiver.ts";
import { together } from "../usage.ts";
import { awsKinds, noAwsKinds } from "./aws-kinds.ts";
import { plannedApp } from "./folder.ts";
import { systemBeside, systemProblems } from "./system.ts";

export const summary =
  "write the folder of an application on a spoke in gitops-workloads, with a sealed Git credential";

export const help = `Usage: fleet onboard <app> --cluster NAME --environment NAME --tenant NAME --repository-url URL [options]

Makes clusters/<cluster>/<app> in a checkout of gitops-workloads. Register the deploy key that it prints for an ssh:// URL,
commit and push.

  --cluster NAME         the spoke, which is looked up in a checkout of gitops-system
  --environment NAME     its environment: selects the key that its secrets are sealed with, and the overlay
  --system DIR           the checkout of gitops-system; default: gitops-system beside the checkout of gitops-workloads, if it
                         is there
  --sealing SCOPE        spec.sealing of its Spoke: environment (default) or cluster, a sealing key of the spoke's own; must be
                         named where the fleet has a key of scope cluster-<cluster>
  --tenant NAME          team that owns the application
  --repository-url URL   the team's repository: ssh://…, with a new deploy key, or https://…, with a token or a GitHub App
  --revision BRANCH      default: main
  --path PATH            what Flux applies of it; default: ./overlays/<environment>
  --known-hosts FILE     host keys of the team's Git host; default: those of gitops-workloads
  --token-file FILE      with https://…: an access token that may read the team's repository and no other
  --username NAME        goes with the token; default: git
  --github-app-id N, --github-app-installation-id N, --github-app-key-file FILE
                         with https://…, instead of a token: a GitHub App of the team's
  --github-app-base-url URL
                         API of the app's GitHub server; default: what the fleet has for it; none is needed for github.com
  --ca-file FILE         authorities behind the Git host's certificate (PEM); default: those of gitops-workloads
  --git-receiver TYPE    pushes to the team's repository count at once: the Git host calls Flux on the spoke, which gets a new,
                         sealed token for it and looks by itself every 10 minutes only. How the host signs: github (also Gitea and
                         Forgejo), gitlab, generic-hmac, or generic, which does not
  --commit-status KIND   each commit gets a status at the team's Git host: whether the spoke runs it, or why not. What the host
                         is: github, gitlab, gitea (also Forgejo) or bitbucketserver
  --commit-status-token-file FILE
                         an access token that may write the commit status of the team's repository
  --commit-status-address URL
                         the repository at that host, https://…; default: by --repository-url
  --aws-kind KIND        what it may order in AWS: dynamodb.Table, sqs.Queue, or none; can be given more than once. Default: all
                         that the platform offers
${changeHelp}
${sourceHelp}

Example:
  fleet onboard shop --cluster green --environment dev --tenant payments \\
    --repository-url ssh://git@github.com/acme/shop-manifests.git
`;

export const options = {
  ...sourceOptions,
  ...changeOptions,
  cluster: { type: "string" },
  environment: { type: "string" },
  system: { type: "string" },
  sealing: { type: "string" },
  tenant: { type: "string" },
  "repository-url": { type: "string" },
  revision: { type: "string", default: "main" },
  path: { type: "string" },
  "known-hosts": { type: "string" },
  "token-file": { type: "string" },
  username: { type: "string" },
  "github-app-id": { type: "string" },
  "github-app-installation-id": { type: "string" },
  "github-app-key-file": { type: "string" },
  "github-app-base-url": { type: "string" },
  "ca-file": { type: "string" },
  "git-receiver": { type: "string" },
  "commit-status": { type: "string" },
  "commit-status-token-file": { type: "string" },
  "commit-status-address": { type: "string" },
  "aws-kind": { type: "string", multiple: true },
  help: { type: "boolean", short: "h" },
} as const;

/** For completion; what is wrong with a value is said with the other rules. */
export const choices = {
  sealing: sealings,
  "git-receiver": receiverTypes,
  "commit-status": commitStatusTypes,
  "aws-kind": [...awsKinds, noAwsKinds],
};

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, args, texts, problems } = readLine("onboard", argv, options, {
    arguments: ["app"],
    required: {
      cluster: "the name of a spoke",
      environment: "the environment of the spoke, such as dev",
      tenant: "the team that owns the application",
      "repository-url": "ssh://… or https://…",
    },
    files: ["certificate", "known-hosts", "ca-file", "token-file", "github-app-key-file", "commit-status-token-file"],
  });
  const { app } = args;
  const { cluster, environment, tenant, "repository-url": repositoryUrl } = values;
  const path = values.path ?? `./overlays/${environment}`;
  const checkout = resolve(values.repository ?? ".");
  const system = systemBeside(checkout, values.system);
  const gitReceiver = values["git-receiver"] as ReceiverType | undefined;
  const { fleet, folder, files, publicKey } = await plannedApp(
    checkout,
    {
      app,
      cluster,
      environment,
      tenant,
      repositoryUrl,
      revision: values.revision,
      path,
      // Both are compared with the allowed values before anything else uses them.
      sealing: values.sealing as Sealing | undefined,
      gitReceiver,
      commitStatus: values["commit-status"] as CommitStatusType | undefined,
      commitStatusAddress: values["commit-status-address"],
      awsKinds: values["aws-kind"],
    },
    () => fleetFrom({ ...values, ...texts }),
    {
      knownHosts: texts["known-hosts"],
      caCertificate: texts["ca-file"],
      token: texts["token-file"],
      username: values.username,
      githubAppId: values["github-app-id"],
      githubAppInstallationId: values["github-app-installation-id"],
      githubAppKey: texts["github-app-key-file"],
      githubAppBaseUrl: values["github-app-base-url"],
      commitStatusToken: texts["commit-status-token-file"],
    },
    system,
    together(problems, [
      ...wishProblems(values, [checkout]),
      ...certificateProblems(texts.certificate),
      ...systemProblems(values.system),
    ]),
  );
  if (system === undefined)
    console.error(
      `Note: it was not checked whether the fleet has a spoke ${cluster}, because there is no checkout of gitops-system beside this one; name one with --system`,
    );
  const made = relative(checkout, folder);
  // The key of a dry run is thrown away.
  if (publicKey !== undefined && !values["dry-run"])
    console.log(`Register this read-only deploy key at ${repositoryUrl}:\n   ${publicKey}`);
  const proposal: Proposal = {
    ...{ repository: "gitops-workloads", checkout, folder: made, subject: `Onboard ${app} on ${cluster}` },
    files: changesTo(checkout, below(made, files)),
  };
  const steps = [
    `kubectl --context <cluster> -n ${app} get gitrepository,kustomization     how far it is`,
    ...(gitReceiver === undefined ? [] : [webhookHelp(gitReceiver, app, [repositoryUrl]).trimEnd()]),
  ];
  await carryOut("onboard", [proposal], values, {
    ...{ fleet, next: steps.join("\n"), programs: using },
    beside: { "gitops-system": system },
  });
  return 0;
}
