import { relative } from "node:path";
import { receiverTypes } from "../../lib/receivers.ts";
import { sealingScope, sealings } from "../../lib/spoke.ts";
import { carryOut } from "../change/carry-out.ts";
import { type Programs, programs } from "../change/effect.ts";
import { changesTo, type Proposal } from "../change/files.ts";
import { changeHelp } from "../change/options.ts";
import { fleetFrom, sourceHelp } from "../fleet/facts.ts";
import { below } from "../folder.ts";
import { orInterrupted } from "../prompt/ask.ts";
import { processTerminal, promptHelp } from "../prompt/terminal.ts";
import { plannedSpoke } from "./folder.ts";
import { type Line, lineOf, options, requestOf } from "./new-cluster-line.ts";
import { asked } from "./new-cluster-questions.ts";
import { deployKeyChoices, spokeWebhookHelp } from "./secrets.ts";

export const summary = "write the folder of a new spoke in gitops-system, with its sealed deploy keys";

export const help = `Usage: fleet new-cluster <name> --environment NAME --tenant NAME [options]

Makes spokes/<fleet>/<name> in a checkout of gitops-system. Commit and push it, and the cluster comes up. On a terminal it asks
for what is missing.

  --environment NAME     selects sealing keys, the stage in Git and versions of tools, such as dev
  --tenant NAME          team that owns the cluster
  --region REGION        default: the hub's
  --kubernetes-version V default: the newest for which the Composition names versions of EKS add-ons; required where the
                         environment's channel holds the Composition back
  --cidr A.B.C.D/N       network of the VPC; default: a free one of the fleet's pool
  --nodes N              number of nodes, which is then also the minimum and the maximum (2 where N is 1); default: the Spoke
                         API's
  --nodes-min N, --nodes-max N
                         between how many nodes an autoscaler may choose
  --admin ARN            IAM role or user that may use kubectl on it (repeatable). For a session, such as one of IAM Identity
                         Center (arn:aws:sts::…:assumed-role/…), IAM is queried for the ARN of its role
  --public-access-cidr A.B.C.D/N
                         network from which people and pipelines reach its API server; can be given more than once.
                         If none is given, only the hub and the cluster itself can
  --ring NAME            ring of spokes that take changes of the platform together; default: it follows what the hub follows
  --sealing SCOPE        environment: its secrets are sealed with the environment's key, which its spokes share (default);
                         cluster: with a key of its own, scope cluster-<name> of sealingKeys in the hub's stack
  --deploy-keys WHOSE    fleet: it reads the fleet's repositories with the fleet's deploy keys (default);
                         own: with new ones, to be registered at the Git host
  --known-hosts FILE     with --deploy-keys own, host keys of the Git host; default: those of the fleet's credentials
  --git-receiver TYPE    pushes to gitops-system and gitops-workloads count on it at once: the Git host calls its Flux, which gets
                         a new, sealed token for it and looks by itself every 10 minutes only. How the host signs: github (also
                         Gitea and Forgejo), gitlab, generic-hmac, or generic, which does not
${changeHelp}
${promptHelp}
${sourceHelp}

Example:
  fleet new-cluster green --environment dev --tenant payments --admin arn:aws:iam::123456789012:role/payments
`;

export { options };

/** For completion; what is wrong with a value is said with the other rules. */
export const choices = { sealing: sealings, "deploy-keys": deployKeyChoices, "git-receiver": receiverTypes };

export const run = (argv: readonly string[], using = programs, terminal = processTerminal): Promise<number> =>
  orInterrupted(terminal, async () => make(lineOf(await asked(argv, terminal)), using));

async function make(line: Line, using: Programs): Promise<number> {
  const { values, texts, checkout } = line;
  const { request, told } = await requestOf(line);
  const { name, gitReceiver } = request;
  const connect = () => fleetFrom({ ...values, ...texts });
  const { fleet, folder, files, nodes, register } = await plannedSpoke(checkout, request, connect, told);
  const path = relative(checkout, folder);
  console.log(`${path}: the Spoke, and its deploy keys sealed for ${sealingScope(request)}.`);
  if (nodes !== undefined)
    console.log(
      `Nodes: ${nodes.desired} at first, at least ${nodes.min}, at most ${nodes.max} (--nodes-min, --nodes-max).`,
    );
  // The keys of a dry run are thrown away.
  if (register !== "" && !values["dry-run"]) console.log(register.trimEnd());
  const proposal: Proposal = {
    ...{ repository: "gitops-system", checkout, places: [path], subject: `Add spoke ${name}` },
    files: changesTo(checkout, below(path, files)),
  };
  const next = `kubectl -n spokes get spoke ${name} --watch --output wide     how far it is, and what is in its way
${gitReceiver === undefined ? "" : spokeWebhookHelp(gitReceiver)}`.trimEnd();
  await carryOut("new-cluster", [proposal], values, { fleet, next, programs: using });
  return 0;
}
