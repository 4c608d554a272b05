import { relative, resolve } from "node:path";
import { certificateProblems, fleetFrom, sourceHelp, sourceOptions } from "../fleet/facts.ts";
import { readLine } from "../line.ts";
import { reseal } from "../spoke/keys.ts";
import { type DeployKeys, deployKeyChoices, spokeWebhookHelp } from "../spoke/secrets.ts";
import { together } from "../usage.ts";

export const summary = "seal the deploy keys of a spoke again: after a move to keys of its own, or to replace them";

export const help = `Usage: fleet reseal <spoke> --deploy-keys fleet|own|keep [options]

Rewrites spokes/<fleet>/<spoke>/secrets in a checkout of gitops-system, sealed for the scope that the Spoke says.
A Spoke with gitReceiver gets a new token for its Receiver, with a new path, to be entered at the Git host.

  --deploy-keys WHOSE    fleet: the fleet's deploy keys; own: new ones, to be registered at the Git host before the push;
                         keep: those that it has, so that only its Receiver gets a new token
  --known-hosts FILE     with --deploy-keys own, host keys of the Git host; default: those of the fleet's credentials
${sourceHelp}

Example:
  fleet reseal green --deploy-keys own
`;

export const options = {
  ...sourceOptions,
  "deploy-keys": { type: "string" },
  "known-hosts": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

export const choices = { "deploy-keys": [...deployKeyChoices, "keep"] };

export async function run(argv: readonly string[]): Promise<number> {
  const { values, args, texts, problems } = readLine("reseal", argv, options, {
    arguments: ["spoke"],
    required: { "deploy-keys": choices["deploy-keys"].join(", ") },
    files: ["certificate", "known-hosts"],
    choices,
  });
  const name = args.spoke;
  const deployKeys = values["deploy-keys"] as DeployKeys | "keep";
  const checkout = resolve(values.repository ?? ".");
  const request = { name, deployKeys, knownHosts: texts["known-hosts"] };
  const connect = () => fleetFrom({ ...values, ...texts });
  const { folder, scope, gitReceiver, register } = await reseal(
    checkout,
    request,
    connect,
    together(problems, certificateProblems(texts.certificate)),
  );
  const what = deployKeys === "keep" ? "a new token for the Receiver" : "the deploy keys";
  console.log(`Sealed ${what} of ${name} for ${scope}.
${register}Next, in ${checkout}:
  git add ${relative(checkout, folder)} && git commit -m "Seal ${what} of spoke ${name}" && git push${gitReceiver === undefined ? "" : `\n${spokeWebhookHelp(gitReceiver).trimEnd()}`}`);
  return 0;
}
