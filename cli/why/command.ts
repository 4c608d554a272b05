import type { Problem } from "../../lib/problems.ts";
import { printable } from "../columns.ts";
import { type Connect, connect } from "../kubernetes/connect.ts";
import { readLine } from "../line.ts";
import { forProgram, type Output, outputHelp, outputOption, outputs } from "../output.ts";
import { refuse, together } from "../usage.ts";

export const summary = "say what hinders a spoke or one of its applications";

export const help = `Usage: fleet why <spoke>[/<application>] [-o text|json|yaml] [--context NAME]

Goes down from a Spoke to what hinders it: on the hub to what Crossplane makes of it in AWS and to the steps of its bootstrap
chain, on the spoke to what its own Flux applies, and from there to pods and to what is ordered in AWS. It prints the way to each
thing that hinders, with the messages, warnings and the last lines of logs, and what to do next. It changes nothing, and reads no
Secret.

An application has the name of its namespace on the spoke.

${outputHelp}
  --context NAME         the hub's context in the kubeconfig; default: the current one

The spoke is asked with the credentials that the AWS CLI would take, or with the profile of the hub's context;
docs/guides/clusters.md#reach-a-cluster-with-kubectl says what it takes.
Exit code 0: nothing hinders; 1: something does, the spoke could not be asked, or something failed; 2: it was called wrongly, or
there is no such spoke or application.

Example:
  fleet why green/shop
`;

export const options = {
  output: outputOption,
  context: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

export const choices = { output: outputs };

/** The problem of a name with too many parts, or with an empty one. */
function nameProblems(given: string): Problem[] {
  const parts = given.split("/");
  if (parts.length <= 2 && parts.every((part) => part !== "")) return [];
  return [
    {
      ...{ key: "<spoke>", what: "names no spoke, or no application", got: given },
      ...{ allowed: "<spoke> or <spoke>/<application>", remedy: "correct it; fleet list shows the spokes" },
    },
  ];
}

export async function run(argv: readonly string[], its: { readonly connect: Connect } = { connect }): Promise<number> {
  const { values, args, problems } = readLine("why", argv, options, { arguments: ["spoke"], choices });
  refuse("why", together(problems, nameProblems(args.spoke)));
  const [name = "", application] = args.spoke.split("/");
  const fleet = await its.connect(values.context);
  const [{ findSpoke }, { hindrances }, { standing, textOf }] = await Promise.all([
    import("../kubernetes/spokes.ts"),
    import("./look.ts"),
    import("./findings.ts"),
  ]);
  const spoke = await findSpoke(fleet.hub, name);
  const findings = await hindrances(fleet, spoke, application);
  const output = values.output as Output;
  process.stdout.write(
    output === "text"
      ? printable(textOf(spoke, findings))
      : forProgram({ ...standing(spoke), hindrances: findings }, output),
  );
  return findings.length === 0 ? 0 : 1;
}
