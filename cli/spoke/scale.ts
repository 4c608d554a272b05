import { resolve } from "node:path";
import { isMap } from "yaml";
import type { Schema } from "../../lib/openapi.ts";
import type { Problem } from "../../lib/problems.ts";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { changesTo, type FileChange } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { textOf } from "../folder.ts";
import { readLine } from "../line.ts";
import { refuse, together } from "../usage.ts";
import { findSpoke, makerProblems, type SpokeFile } from "./file.ts";
import { type NodeCounts, nodeProblems, nodesOf } from "./nodes.ts";
import { readOffer, schemaProblems } from "./rules.ts";

export const summary = "change the number of a spoke's nodes, in gitops-system";

export const help = `Usage: fleet scale <spoke> --nodes N | --nodes-min N | --nodes-max N [options]

Sets spec.nodes in spokes/<fleet>/<spoke>/spoke.yaml of a checkout of gitops-system; comments and order stay.

  --nodes N              number of nodes, which is then also the minimum and the maximum (2 where N is 1)
  --nodes-min N, --nodes-max N
                         between how many nodes an autoscaler may choose; the one that is not given stays, unless it
                         would then be on the wrong side of the other
  --fleet NAME           needed where several fleets have a spoke of this name
  --repository DIR       the checkout to write into; default: the current folder
${changeHelp}

Example:
  fleet scale green --nodes-min 3 --nodes-max 9 --push
`;

export const options = {
  ...changeOptions,
  nodes: { type: "string" },
  "nodes-min": { type: "string" },
  "nodes-max": { type: "string" },
  fleet: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type Numbers = Partial<Record<"min" | "desired" | "max", number>>;
type ScaledSpec = { readonly nodes?: Numbers | null };

/** The schema in which the numbers that a Spoke has are the defaults, so that what is not given stays. */
function withDefaultsOf(numbers: Numbers, spec: Schema): Schema {
  const nodes = spec.properties?.["nodes"] ?? {};
  const present = Object.entries(nodes.properties ?? {}).map(([field, schema]) => {
    const value = numbers[field as keyof Numbers];
    return [field, typeof value === "number" ? { ...schema, default: value } : schema] as const;
  });
  return {
    ...spec,
    properties: { ...spec.properties, nodes: { ...nodes, properties: Object.fromEntries(present) } },
  };
}

function withNodes({ document, documents }: SpokeFile<ScaledSpec>, nodes: Numbers): string {
  const path = ["spec", "nodes"];
  if (!isMap(document.getIn(path))) document.setIn(path, document.createNode({}));
  for (const [field, value] of Object.entries(nodes)) document.setIn([...path, field], value);
  return textOf(documents);
}

const missing = {
  key: "--nodes",
  what: "is missing",
  got: "(nothing)",
  allowed: "--nodes, --nodes-min, --nodes-max or several of them, each with a number",
  remedy: "give one of them. See fleet scale --help",
};

export interface Scaled {
  readonly fleet: string;
  readonly nodes: Numbers;
  /** None where the Spoke has these numbers. */
  readonly files: readonly FileChange[];
}

/**
 * What gives a spoke this number of nodes.
 * @param told problems of the command line
 * @throws UsageError that lists every problem
 */
export async function scaled(
  checkout: string,
  name: string,
  counts: NodeCounts,
  fleet: string | undefined,
  told: readonly Problem[] = [],
): Promise<Scaled> {
  const { file, problems } = findSpoke<ScaledSpec>(checkout, name, fleet);
  const isGiven = Object.values(counts).some((count) => count !== undefined);
  const isCheckout = problems.every(({ key }) => key !== "--repository");
  const spec = isCheckout ? (await readOffer(checkout)).schema : undefined;
  const schema = spec && withDefaultsOf(file?.spec.nodes ?? {}, spec);
  refuse(
    "scale",
    together(told, [...problems, ...(isGiven ? [] : [missing]), ...(schema ? nodeProblems(counts, schema) : [])]),
  );
  const opened = file as SpokeFile<ScaledSpec>;
  refuse("scale", makerProblems(opened, "change machinePools in the values of its HelmRelease, cluster/release.yaml"));
  const nodes = nodesOf(counts, schema as Schema) as Numbers;
  const { path } = opened;
  const text = withNodes(opened, nodes);
  refuse("scale", schemaProblems(spec as Schema, { nodes: opened.document.toJS().spec.nodes }, { nodes: path }));
  return { fleet: opened.fleet, nodes, files: changesTo(checkout, { [path]: text }) };
}

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, args, problems } = readLine("scale", argv, options, { arguments: ["spoke"] });
  const { spoke } = args;
  const checkout = resolve(values.repository ?? ".");
  const counts = { nodes: values.nodes, nodesMin: values["nodes-min"], nodesMax: values["nodes-max"] };
  const told = together(problems, wishProblems(values, [checkout]));
  const { fleet, nodes, files } = await scaled(checkout, spoke, counts, values.fleet, told);
  const words = `at least ${nodes.min}, at most ${nodes.max}`;
  if (files.length === 0) {
    console.log(`Nothing to change: ${spoke} has ${words}`);
    return 0;
  }
  console.log(
    `${spoke}: ${words}. EKS keeps the number of nodes between the two; ${nodes.desired} counts when a node group is made.`,
  );
  const subject = `Scale spoke ${spoke} to ${nodes.min === nodes.max ? nodes.min : `${nodes.min} to ${nodes.max}`} nodes`;
  await carryOut("scale", [{ repository: "gitops-system", checkout, files, subject }], values, {
    fleet,
    programs: using,
  });
  return 0;
}
