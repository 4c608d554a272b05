import { relative, resolve } from "node:path";
import { certificateProblems, fleetFrom, sourceHelp, sourceOptions } from "../fleet/facts.ts";
import { readLine } from "../line.ts";
import { reseal } from "../spoke/keys.ts";
import { spokeWebhookHelp } from "../spoke/secrets.ts";
import { together } from "../usage.ts";

export const summary = "seal the fleet's deploy keys for a spoke again, or a new token for its Receiver";

export const help = `Usage: fleet reseal <spoke> --deploy-keys fleet|keep [options]

Rewrites spokes/<fleet>/<spoke>/secrets in a checkout of gitops-system, sealed for the scope that the Spoke says.
A Spoke with gitReceiver gets a new token for its Receiver, with a new path, to be entered at the Git host.
Deploy keys of a spoke's own, new ones in place of those that it has, are made by fleet rotate-deploy-key.

  --deploy-keys WHOSE    fleet: the fleet's deploy keys; keep: those that it has, so that only its Receiver gets a new token
${sourceHelp}

Example:
  fleet reseal green --deploy-keys fleet
`;

export const options = {
  ...sourceOptions,
  "deploy-keys": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

export const choices = { "deploy-keys": ["fleet", "keep"] };

export async function run(argv: readonly string[]): Promise<number> {
  const { values, args, texts, problems } = readLine("reseal", argv, options, {
    arguments: ["spoke"],
    required: { "deploy-keys": choices["deploy-keys"].join(", ") },
    files: ["certificate"],
    choices,
  });
  const name = args.spoke;
  const deployKeys = values["deploy-keys"] as "fleet" | "keep";
  const checkout = resolve(values.repository ?? ".");
  const connect = () => fleetFrom({ ...values, ...texts });
  const { folder, scope, gitReceiver } = await reseal(
    checkout,
    { name, deployKeys },
    connect,
    together(problems, certificateProblems(texts.certificate)),
  );
  const what = deployKeys === "keep" ? "a new token for the Receiver" : "the deploy keys";
  console.log(`Sealed ${what} of ${name} for ${scope}.
Next, in ${checkout}:
  git add ${relative(checkout, folder)} && git commit -m "Seal ${what} of spoke ${name}" && git push${gitReceiver === undefined ? "" : `\n${spokeWebhookHelp(gitReceiver).trimEnd()}`}`);
  return 0;
}
