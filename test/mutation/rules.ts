import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isManifest, type Manifest, type Source } from "../../cli/render/files.ts";
import { ruleCases } from "../functions/spoke/support/rule-cases.ts";
import { verdictOf } from "../functions/spoke/support/rule-verdict.ts";
import { cases, filled, isAsExpected, isBound, isComplete, policies } from "../repos/support/judged.ts";
import { system } from "../repos/support/spoke.ts";
import { judged, mutatedIn, sourcesOf } from "./documents.ts";
import type { Mutant } from "./score.ts";

/**
 * Mutants of the rules in YAML: admission policies and the definition of a Spoke. Asked are the cases of the unit tests, in the
 * same evaluator; test/e2e sends the same cases to a real API server.
 */

const POLICY = "ValidatingAdmissionPolicy";
const BINDING = "ValidatingAdmissionPolicyBinding";

/** Files of gitops-system with a policy that the cases judge. */
const policyFiles = globSync("**/*.yaml", { cwd: system })
  .map((file) => join(system, file))
  .filter((file) => {
    const isJudged = ({ content }: Source) =>
      isManifest(content) && content.kind === POLICY && policies.has(content.metadata.name);
    return readFileSync(file, "utf8").includes(POLICY) && sourcesOf(file).some(isJudged);
  });

/** As the cluster has it: what is in tools/ is the spokes'. */
const asApplied = (object: Manifest, { file }: Source): Manifest =>
  filled(object, relative(system, file).startsWith("tools") ? "spoke" : "hub");

/** Whether every case gets the verdict that it should. A policy that can't be evaluated gives none. */
function passes(policy: Manifest): boolean {
  if (policy.kind === BINDING) return isBound(policy);
  const own = cases.filter(({ policy: name }) => name === policy.metadata.name);
  try {
    return isComplete(policy) && own.every((each) => isAsExpected(policy, each));
  } catch {
    return false;
  }
}

const mutantsOf = (kind: string): Mutant[] =>
  mutatedIn(policyFiles)
    .filter(({ object }) => object.kind === kind)
    .map((each) => judged(each, passes(asApplied(each.object, each.source))));

/** Mutants of the policies' bindings. */
export const bindingMutants = (): Mutant[] => mutantsOf(BINDING);

/** @throws Error when the tests of the rules would fail without any change, or a policy is in none of the files */
export function policyMutants(): Mutant[] {
  const known = policyFiles.flatMap(sourcesOf).map((source) => asApplied(source.content as Manifest, source));
  const own = known.filter(({ kind }) => [POLICY, BINDING].includes(kind));
  const missed = [...policies.keys()].filter((name) => !own.some(({ metadata }) => metadata.name === name));
  if (missed.length > 0) throw new Error(`test/mutation/rules.ts lacks the file of ${missed.join(", ")}`);
  const wrong = own.filter((policy) => !passes(policy)).map(({ metadata }) => metadata.name);
  if (wrong.length > 0) throw new Error(`${wrong.join(", ")}: test/repos/admission.test.ts must pass first`);
  return [...mutantsOf(POLICY), ...bindingMutants()];
}

function holds(definition: Manifest): boolean {
  const judge = verdictOf(definition);
  return ruleCases.every((ruleCase) => {
    const { refused, at } = ruleCase;
    const { broken, unknown } = judge(ruleCase);
    if (unknown.length > 0) return false;
    // The shape is the schema's: no rule is asked.
    if (at !== undefined) return true;
    const said = broken.map(({ message }) => message).join();
    return refused === undefined ? broken.length === 0 : said.includes(refused);
  });
}

/** Mutants of the rules in the definition of a Spoke. @throws Error when its cases would fail without any change */
export function definitionMutants(): Mutant[] {
  const file = join(system, "platform", "api", "definition.yaml");
  const [source] = sourcesOf(file);
  if (!source || !holds(source.content as Manifest))
    throw new Error("test/cli/check/validations.test.ts must pass first");
  return mutatedIn([file]).map((each) => judged(each, holds(each.object)));
}
