import { relative } from "node:path";
import { fleetNames } from "../../lib/names.ts";
import { commitStatusTypes } from "../../lib/notifications.ts";
import { type ReceiverType, receiverTypes } from "../../lib/receivers.ts";
import { sealings } from "../../lib/spoke.ts";
import { carryOut } from "../change/carry-out.ts";
import { type Programs, programs } from "../change/effect.ts";
import { changesTo, type Proposal } from "../change/files.ts";
import { changeHelp } from "../change/options.ts";
import { fleetFrom, sourceHelp } from "../fleet/facts.ts";
import { below } from "../folder.ts";
import { orInterrupted } from "../prompt/ask.ts";
import { processTerminal, promptHelp } from "../prompt/terminal.ts";
import { webhookHelp } from "../sealing/receiver.ts";
import { awsEngines } from "./ack.ts";
import { defaultRange, markersFor } from "./auto-update.ts";
import { awsKinds, noAwsKinds } from "./aws-kinds.ts";
import { type Onboarded, plannedApps } from "./folder.ts";
import { type Line, lineOf, options } from "./onboard-line.ts";
import { asked } from "./onboard-questions.ts";

export const summary = "write the folder of an application on spokes in gitops-workloads, with a sealed Git credential";

export const help = `Usage: fleet onboard <app> --cluster NAME... --tenant NAME --repository-url URL [options]

Makes clusters/<cluster>/<app> in a checkout of gitops-workloads, for each cluster. Register the deploy keys that it prints for an
ssh:// URL, one for each cluster, commit and push. On a terminal it asks for what is missing.

  --cluster NAME         a spoke, which is looked up in a checkout of gitops-system; can be given more than once: all of it is
                         written, or nothing
  --environment NAME     the environment of all of them: selects the key that secrets are sealed with, and the overlay; default:
                         what each Spoke says. Must be given where no checkout of gitops-system says it
  --system DIR           the checkout of gitops-system; default: gitops-system beside the checkout of gitops-workloads, if it
                         is there
  --sealing SCOPE        environment or cluster, a sealing key of the spoke's own; default: spec.sealing of each Spoke. Must be
                         given where no checkout says it and the fleet has a key of scope cluster-<cluster>
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
  --commit-status KIND   each commit gets a status at the team's Git host: whether the spoke has applied it, or why not. What
                         the host is: github, gitlab, gitea (also Forgejo) or bitbucketserver
  --commit-status-token-file FILE
                         an access token that may write the commit status of the team's repository
  --commit-status-address URL
                         the repository at that host, https://…; default: by --repository-url
  --auto-update IMAGE    new tags of this image are committed to the overlay of the team's repository and run, without a pull
                         request: registry/repository without a tag; can be given more than once. The Spoke needs the add-on
                         image_automation, which prod does not offer. For an ssh:// URL it makes one more deploy key, which may
                         write
  --auto-update-range RANGE
                         the versions that count: 1.x, or >=1.0.0-0 for pre-releases too; default: ${defaultRange}
  --auto-update-token-file FILE
                         with https://…: an access token that may write the content of the team's repository and of no other
  --aws-kind KIND        what it may order in AWS: dynamodb.Table, rds.Instance, s3.Bucket, sqs.Queue, or none; can be given more
                         than once. Default: dynamodb.Table and sqs.Queue. The Spoke needs the add-on rds_instances for
                         rds.Instance, s3_buckets for s3.Bucket
  --aws-engine ENGINE    whose kinds its tables and queues are: crossplane, or ack, for which the Spoke needs the add-ons
                         ack_dynamodb and ack_sqs and the default of --path is ./overlays/<environment>-ack. Default: crossplane
  --quota NAME=QUANTITY  a limit of its namespace, such as limits.memory=8Gi, instead of the one in the template's ResourceQuota;
                         can be given more than once
${changeHelp}
${promptHelp}
${sourceHelp}

Example:
  fleet onboard shop --cluster green --cluster blue --tenant payments \\
    --repository-url ssh://git@github.com/acme/shop-manifests.git
`;

const keysAt = (what: string, url: string, keys: readonly string[]): string[] =>
  keys.length === 0 ? [] : [`Register ${what} at ${url}:`, ...keys.map((key) => `   ${key}`)];

/** The deploy keys that a person registers; undefined over HTTPS. */
function registration(url: string, planned: readonly Onboarded[]): string | undefined {
  const reading = planned.flatMap(({ publicKey }) => publicKey ?? []);
  const writing = planned.flatMap(({ writeKey }) => writeKey ?? []);
  const which = (keys: readonly string[], one: string, several: string) => (keys.length === 1 ? one : several);
  const lines = [
    ...keysAt(
      which(reading, "this read-only deploy key", "these read-only deploy keys, one for each cluster,"),
      url,
      reading,
    ),
    ...keysAt(
      which(
        writing,
        "this deploy key, with write access,",
        "these deploy keys, with write access, one for each cluster,",
      ),
      url,
      writing,
    ),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

export { options };

/** For completion; what is wrong with a value is said with the other rules. */
export const choices = {
  sealing: sealings,
  "git-receiver": receiverTypes,
  "commit-status": commitStatusTypes,
  "aws-kind": [...awsKinds, noAwsKinds],
  "aws-engine": awsEngines,
};

export const run = (argv: readonly string[], using = programs, terminal = processTerminal): Promise<number> =>
  orInterrupted(terminal, async () => make(lineOf(await asked(argv, terminal)), using));

async function make(line: Line, using: Programs): Promise<number> {
  const { values, texts, checkout, system, clusters, requests, access, told } = line;
  const { app } = line.args;
  const connect = () => fleetFrom({ ...values, ...texts });
  const planned = await plannedApps(checkout, requests, connect, access, system, told);
  const names = clusters.join(", ");
  if (system === undefined)
    console.error(
      `Note: it was not checked whether the fleet has ${clusters.length === 1 ? "a spoke" : "spokes"} ${names}, because there is no checkout of gitops-system beside this one; name one with --system`,
    );
  const register = registration(values["repository-url"], planned);
  // The keys of a dry run are thrown away.
  if (register !== undefined && !values["dry-run"]) console.log(register);
  const files = planned.map((each) => below(relative(checkout, each.folder), each.files));
  const proposal: Proposal = {
    ...{ repository: "gitops-workloads", checkout, places: planned.map(({ folder }) => relative(checkout, folder)) },
    ...{ files: changesTo(checkout, Object.assign({}, ...files)), subject: `Onboard ${app} on ${names}` },
  };
  await carryOut("onboard", [proposal], values, {
    ...{ fleet: planned[0]?.fleet, next: nextSteps(line, planned[0]?.fleet), programs: using },
    beside: { "gitops-system": system },
  });
  return 0;
}

function nextSteps({ args: { app }, clusters, requests, values }: Line, fleet: string | undefined): string {
  const context =
    fleet === undefined || clusters.length > 1 ? "<cluster>" : `${fleetNames(fleet).spokePrefix}${clusters[0]}`;
  const type = values["git-receiver"] as ReceiverType | undefined;
  return [
    `kubectl --context ${context} -n ${app} get gitrepository,kustomization     how far it is`,
    ...(values["auto-update"] === undefined ? [] : [...new Set(requests.map(markersFor))]),
    ...(type === undefined || clusters.length === 1 ? [] : [`For each of ${clusters.join(", ")}:`]),
    ...(type === undefined ? [] : [webhookHelp(type, app, [values["repository-url"]]).trimEnd()]),
  ].join("\n");
}
