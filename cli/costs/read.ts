import { join } from "node:path";
import type { SpokeSpec } from "../../functions/spoke/api.ts";
import { hubName } from "../../lib/names.ts";
import { withDefaults } from "../../lib/openapi.ts";
import type { Problem } from "../../lib/problems.ts";
import { foldersIn, spokesIn } from "../fleet/folders.ts";
import { judge, namedStack, readProject } from "../fleet/stack-config.ts";
import { openSpoke } from "../spoke/file.ts";
import { readOffer, schemaProblems } from "../spoke/rules.ts";
import { type Row, rowOf } from "./rows.ts";
import { hubShape, spokeShape } from "./shapes.ts";

/** What was read, or why it could not be. */
export interface Read {
  readonly rows: readonly Row[];
  readonly problems: readonly Problem[];
}

/** The spokes of a checkout of gitops-system, by their files and the defaults of the Spoke API. */
export async function spokeRows(checkout: string, fleet: string | undefined): Promise<Read> {
  const { api, schema } = await readOffer(checkout);
  const fleets = foldersIn(join(checkout, "spokes")).filter((name) => fleet === undefined || name === fleet);
  const found = fleets.flatMap((name) =>
    spokesIn(checkout, name).map((spoke): Row | readonly Problem[] => {
      const opened = openSpoke(checkout, name, spoke, spoke);
      if (!("manifest" in opened)) return [opened];
      const { spec } = withDefaults(api, opened.manifest) as { readonly spec: SpokeSpec };
      const wrong = schemaProblems({ ...schema, required: [] }, spec, {});
      if (wrong.length > 0) return wrong.map((problem) => ({ ...problem, key: `${opened.path}, ${problem.key}` }));
      const missing = (schema["required"] as readonly (keyof SpokeSpec)[]).filter((key) => spec[key] === undefined);
      if (missing.length > 0) return missing.map((key) => missingField(opened.path, key));
      const { environment, tenant } = spec;
      return rowOf({ name: spoke, fleet: name, environment, tenant }, spokeShape(spec));
    }),
  );
  return {
    rows: found.flatMap((each) => ("name" in each ? [each] : [])),
    problems: found.flatMap((each) => ("name" in each ? [] : each)),
  };
}

const missingField = (path: string, key: string): Problem => ({
  key: `${path}, spec.${key}`,
  what: "is missing",
  got: "(nothing)",
  allowed: "what platform/api/definition.yaml says",
  remedy: "add it; fleet check finds what else is wrong",
});

/**
 * The hub of a stack, by the file of the stack in a checkout of the project.
 * @param root of that checkout
 * @param chosen the fleet that it has to be of; undefined where any will do
 */
export async function hubRow(root: string, name: string, chosen: string | undefined): Promise<Read> {
  const project = await readProject(root);
  const problem = (what: string, allowed: string, remedy: string, got = name): Read => ({
    rows: [],
    problems: [{ key: "--stack", what, got, allowed, remedy }],
  });
  const read = await namedStack(project, name);
  if ("problem" in read) return { rows: [], problems: [read.problem] };
  const { settings, region } = judge(read.file, project);
  const { fleet = name, environment = "", tenant = "" } = settings;
  if (chosen !== undefined && chosen !== fleet)
    return problem(
      "is the hub of another fleet",
      `a stack of ${chosen}`,
      "name that fleet's stack, or leave out --fleet",
      `${name}, whose fleet is ${fleet}`,
    );
  const shape = hubShape(settings, region);
  if (shape === undefined)
    return problem(
      "has a configuration that is not complete",
      "aws:region, and what the hub's nodes, network and sealing keys are",
      `run fleet doctor --stack ${name}, which says what is wrong`,
    );
  return { rows: [rowOf({ name: hubName, fleet, environment, tenant }, shape)], problems: [] };
}
