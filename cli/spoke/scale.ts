import { resolve } from "node:path";
import { isMap } from "yaml";
import type { Schema } from "../../lib/openapi.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { changesTo, type FileChange } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { textOf } from "../folder.ts";
import { readLine } from "../line.ts";
import { choiceProblems, refuse, together } from "../usage.ts";
import { findSpoke, makerProblems, type SpokeFile } from "./file.ts";
import { type NodeCounts, nodeProblems, nodesOf } from "./nodes.ts";
import { readOffer, schemaProblems } from "./rules.ts";

export const summary = "change the number of a spoke's nodes, in gitops-system";

export const help = `Usage: fleet scale <spoke> --nodes N | --nodes-min N | --nodes-max N [options]

Sets spec.nodes, or a group of spec.nodeGroups, in spokes/<fleet>/<spoke>/spoke.yaml of a checkout of gitops-system; comments
and order stay.

  --group NAME           group of spec.nodeGroups; needed where there are several
  --nodes N              number of nodes, which is then also the minimum and the maximum (2 where N is 1)
  --nodes-min N, --nodes-max N
                         between how many nodes an autoscaler may choose; the one that is not given stays, unless it
                         would then be on the wrong side of the other
  --fleet NAME           needed where several fleets have a spoke of this name
  --repository DIR       the checkout to write into; default: the current folder
${changeHelp}

Example:
  fleet scale green --nodes-min 3 --nodes-max 9 --push
  fleet scale green --group gpu --nodes 2 --push
`;

export const options = {
  ...changeOptions,
  group: { type: "string" },
  nodes: { type: "string" },
  "nodes-min": { type: "string" },
  "nodes-max": { type: "string" },
  fleet: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type Numbers = Partial<Record<"min" | "desired" | "max", number>>;
type Group = Numbers & { readonly name?: string };
type ScaledSpec = {
  readonly nodes?: Numbers | null;
  readonly compute?: unknown;
  readonly nodeGroups?: readonly Group[];
};

/** What is scaled: its place below spec, its numbers, and the schema of its fields. */
interface Target {
  readonly field: "nodes" | "nodeGroups";
  readonly path: readonly (string | number)[];
  readonly numbers: Numbers;
  readonly schemaOf: (spec: Schema) => Schema;
}

const ofNodes = ({ nodes }: ScaledSpec): Target => ({
  field: "nodes",
  path: ["nodes"],
  numbers: nodes ?? {},
  schemaOf: (spec) => spec.properties?.["nodes"] ?? {},
});

/** The group of a Spoke, or the problems of its name. */
function targetOf(
  spec: ScaledSpec,
  group: string | undefined,
): { readonly target: Target; readonly problems: Problem[] } {
  if (spec.compute === "auto") {
    const problem = {
      ...{
        key: "spec.compute",
        what: "leaves nothing to scale: EKS Auto Mode starts nodes as pods need them",
        got: "auto",
      },
      ...{
        allowed: "node-groups",
        remedy: "limit a NodePool of your own in the cluster (spec.limits), docs/guides/clusters.md",
      },
    };
    return { target: ofNodes(spec), problems: [problem] };
  }
  const groups: readonly (Group | null)[] | undefined = Array.isArray(spec.nodeGroups) ? spec.nodeGroups : undefined;
  if (groups === undefined) {
    const problem = {
      ...{
        key: "--group",
        what: "can't be given: the Spoke has spec.nodes, and no spec.nodeGroups",
        got: shown(group),
      },
      ...{ allowed: "(nothing)", remedy: "leave it out; docs/guides/clusters.md says how a Spoke gets several groups" },
    };
    return { target: ofNodes(spec), problems: group === undefined ? [] : [problem] };
  }
  const names = groups.map((each) => each?.name ?? "");
  const index = group === undefined && groups.length === 1 ? 0 : names.indexOf(group ?? "");
  const target: Target = {
    field: "nodeGroups",
    path: ["nodeGroups", index],
    numbers: groups[index] ?? {},
    schemaOf: (schema) => schema.properties?.["nodeGroups"]?.items ?? {},
  };
  if (index >= 0) return { target, problems: [] };
  const remedy = "name one of spec.nodeGroups";
  if (group !== undefined) return { target, problems: choiceProblems("--group", group, names, remedy) };
  const several = "is needed: the Spoke has several groups of nodes";
  return { target, problems: [{ key: "--group", what: several, got: "(nothing)", allowed: names.join(", "), remedy }] };
}

/** The schema in which the numbers that a Spoke has are the defaults of `nodes`, so that what is not given stays. */
function withDefaultsOf({ numbers, schemaOf }: Target, spec: Schema): Schema {
  const nodes = schemaOf(spec);
  const present = Object.entries(nodes.properties ?? {}).map(([field, schema]) => {
    const value = numbers[field as keyof Numbers];
    return [field, typeof value === "number" ? { ...schema, default: value } : schema] as const;
  });
  return {
    ...spec,
    properties: { ...spec.properties, nodes: { ...nodes, properties: Object.fromEntries(present) } },
  };
}

function withNodes({ document, documents }: SpokeFile<ScaledSpec>, target: Target, nodes: Numbers): string {
  const path = ["spec", ...target.path];
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
  counts: NodeCounts & { readonly group?: string | undefined },
  fleet: string | undefined,
  told: readonly Problem[] = [],
): Promise<Scaled> {
  const { group, ...numbers } = counts;
  const { file, problems } = findSpoke<ScaledSpec>(checkout, name, fleet);
  const isGiven = Object.values(numbers).some((count) => count !== undefined);
  const isCheckout = problems.every(({ key }) => key !== "--repository");
  const spec = isCheckout ? (await readOffer(checkout)).schema : undefined;
  // Of a spoke that is not there nothing can be said about its groups.
  const { target, problems: wrongGroup } = targetOf(file?.spec ?? {}, file === undefined ? undefined : group);
  const schema = spec && withDefaultsOf(target, spec);
  refuse(
    "scale",
    together(told, [
      ...problems,
      ...wrongGroup,
      ...(isGiven ? [] : [missing]),
      ...(schema ? nodeProblems(numbers, schema) : []),
    ]),
  );
  const opened = file as SpokeFile<ScaledSpec>;
  refuse("scale", makerProblems(opened, "change machinePools in the values of its HelmRelease, cluster/release.yaml"));
  const nodes = nodesOf(numbers, schema as Schema) as Numbers;
  const { path } = opened;
  const text = withNodes(opened, target, nodes);
  const { field } = target;
  refuse("scale", schemaProblems(spec as Schema, { [field]: opened.document.toJS().spec[field] }, { [field]: path }));
  return { fleet: opened.fleet, nodes, files: changesTo(checkout, { [path]: text }) };
}

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, args, problems } = readLine("scale", argv, options, { arguments: ["spoke"] });
  const { spoke } = args;
  const { group } = values;
  const checkout = resolve(values.repository ?? ".");
  const counts = { group, nodes: values.nodes, nodesMin: values["nodes-min"], nodesMax: values["nodes-max"] };
  const told = together(problems, wishProblems(values, [checkout]));
  const { fleet, nodes, files } = await scaled(checkout, spoke, counts, values.fleet, told);
  const words = `at least ${nodes.min}, at most ${nodes.max}`;
  const what = group === undefined ? spoke : `group ${group} of ${spoke}`;
  if (files.length === 0) {
    console.log(`Nothing to change: ${what} has ${words}`);
    return 0;
  }
  console.log(`${what}: ${words}. Crossplane sets the number of nodes to ${nodes.desired}.`);
  const size = nodes.min === nodes.max ? nodes.min : `${nodes.min} to ${nodes.max}`;
  const subject = `Scale ${group === undefined ? "" : `group ${group} of `}spoke ${spoke} to ${size} nodes`;
  await carryOut("scale", [{ repository: "gitops-system", checkout, files, subject }], values, {
    fleet,
    programs: using,
  });
  return 0;
}
