import { resolve } from "node:path";
import { chosenFleetProblems, foldersIn, systemTemplate } from "../fleet/folders.ts";
import { checkoutProblems } from "../folder.ts";
import { readLine } from "../line.ts";
import { forProgram, type Output, outputHelp, outputOption, outputs } from "../output.ts";
import { projectRoot } from "../project.ts";
import { refuse, together } from "../usage.ts";
import { hubRow, spokeRows } from "./read.ts";
import { costsOf } from "./rows.ts";
import { tableOf } from "./table.ts";

export const summary = "show what spokes cost a month by AWS's list prices, from gitops-system";

export const help = `Usage: fleet costs [--fleet NAME] [--stack NAME] [-o text|json|yaml] [options]

Adds up what the spokes in a checkout of gitops-system cost in a month of 730 hours by AWS's list prices: control plane, nodes
and their volumes, NAT gateways, public addresses and KMS keys (as in their first year), for each spoke, environment and
tenant. It reads files only and changes nothing.

  --fleet NAME           only the spokes of this fleet
  --stack NAME           adds the hub of this stack, by stacks/Pulumi.NAME.yaml; only in a checkout of the project,
                         and with --fleet of that fleet only
  --repository DIR       the checkout to read; default: the current folder
${outputHelp}

Nodes are counted as many as desired in spec.nodes or spec.nodeGroups, and the range is from min to max; of several instance
types of a group the first one counts. They are on demand: spot nodes and savings plans cost less. Traffic, logs, metrics,
nodes that Karpenter adds and what applications order are not in it. The last line names the publications of the prices with
their dates (docs/reference/costs.md); a price that is not known is named, and sums without it say what it costs at least
(≥ 121) and have no range.
Exit code 0: shown, whether or not every price is known; 2: it was called wrongly or could not run.

Example:
  fleet costs --repository ../gitops-system --stack prod
`;

export const options = {
  fleet: { type: "string" },
  stack: { type: "string" },
  repository: { type: "string" },
  output: outputOption,
  help: { type: "boolean", short: "h", default: false },
} as const;

export const choices = { output: outputs };

export async function run(argv: readonly string[]): Promise<number> {
  const { values, problems } = readLine("costs", argv, options, { choices });
  const checkout = resolve(values.repository ?? ".");
  const isCheckout = checkoutProblems(checkout, "gitops-system", systemTemplate);
  const fleets = foldersIn(resolve(checkout, "clusters"));
  const named = values.fleet === undefined ? [] : chosenFleetProblems(values.fleet, fleets, checkout);
  refuse("costs", together(problems, isCheckout.length > 0 ? isCheckout : named));
  const spokes = await spokeRows(checkout, values.fleet);
  const hub = values.stack === undefined ? undefined : await hubRow(projectRoot(), values.stack, values.fleet);
  refuse("costs", [...spokes.problems, ...(hub?.problems ?? [])]);
  const costs = costsOf([...(hub?.rows ?? []), ...spokes.rows]);
  const output = values.output as Output;
  process.stdout.write(output === "text" ? tableOf(costs) : forProgram(costs, output));
  return 0;
}
