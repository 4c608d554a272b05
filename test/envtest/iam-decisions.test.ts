/** Generated decisions: the tests' evaluator, iam-simulate and the emulator must agree. `IAM_SEED` sets the seed. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { type PolicyDocument, policy } from "../../lib/iam/policy.ts";
import { rewrite } from "../support/iam-differences.ts";
import { evaluate, type IamRequest } from "../support/iam-evaluator.ts";
import { caller, type Limits, simulate } from "../support/iam-second.ts";

const seed = Number(process.env["IAM_SEED"] ?? 39);
const count = 6000;

interface Decision extends Required<Limits> {
  readonly identity: PolicyDocument;
  readonly request: IamRequest;
}

const variable = (name: string) => `\${${name}}`;
const team = variable("aws:PrincipalTag/team");
const tags = ["blue", "green", "Blue", "a*", "a?b", "axb", ""];
const patterns = [
  "blue",
  "gr*",
  "?lue",
  "a*",
  `a${variable("*")}`,
  `a${variable("?")}b`,
  team,
  `${team}*`,
  variable("aws:PrincipalTag/team, 'green'"),
];
const sqs = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;
const key = "arn:aws:kms:us-east-1:000000000000:key/blue";
const role = (name: string) => `arn:aws:iam::000000000000:role/${name}`;

const resources = fc.constantFrom(
  ...["*", "arn:aws:sqs:*:*:*", sqs("blue_*"), sqs(`${team}_*`), sqs("?????_events"), sqs(`a${variable("*")}_events`)],
  ...[
    "arn:aws:sqs:eu-*:000000000000:*",
    "arn:aws:kms:*:*:key/*",
    `arn:aws:kms:*:*:key/${team}`,
    role("*"),
    role(`x/${team}*`),
    "arn:aws:iam::*:*/blue",
  ],
);
const actions = fc.constantFrom(
  "*",
  "sqs:*",
  "sqs:Send*",
  "SQS:sendmessage",
  "sqs:?eleteQueue",
  "kms:Decrypt",
  "kms:*",
  "iam:*Role",
  "iam:GetRole",
);
const tagKey = fc.constantFrom(
  "aws:ResourceTag/team",
  "aws:RequestTag/team",
  "AWS:resourcetag/Team",
  "aws:PrincipalTag/team",
);
const some = (values: readonly string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
const test1 = (
  operators: readonly string[],
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<string | readonly string[]>,
) =>
  fc
    .tuple(fc.constantFrom(...operators), keys, values)
    .map(([operator, name, expected]) => ({ [operator]: { [name]: expected } }));
const ifExists = (operators: readonly string[]) => operators.flatMap((operator) => [operator, `${operator}IfExists`]);
const ofSet = (operators: readonly string[]) =>
  operators.flatMap((operator) => [`ForAllValues:${operator}`, `ForAnyValue:${operator}`]);
const strings = ["StringEquals", "StringNotEquals", "StringLike", "StringNotLike"];
const condition = fc.oneof(
  { weight: 5, arbitrary: test1(ifExists(strings), tagKey, some(patterns)) },
  test1(["Null"], tagKey, fc.constantFrom("true", "false")),
  test1(ifExists(["Bool"]), fc.constant("kms:GrantIsForAWSResource"), fc.constantFrom("true", "false", "True")),
  test1(ofSet(strings), fc.constant("aws:TagKeys"), some(["a", "b", "gr*", "blue"])),
  test1(
    ifExists(["ArnEquals", "ArnLike", "ArnNotEquals", "ArnNotLike"]),
    fc.constantFrom("iam:PermissionsBoundary", "aws:PrincipalArn"),
    some([role("*"), role("caller"), "arn:*:*:*:*:*", "arn:aws:iam:*:role/caller", `arn:aws:iam::*:policy/${team}`]),
  ),
);
const statement = fc.record({
  Effect: fc.constantFrom("Allow" as const, "Allow" as const, "Allow" as const, "Deny" as const),
  Action: fc.uniqueArray(actions, { minLength: 1, maxLength: 3 }),
  Resource: fc.uniqueArray(resources, { minLength: 1, maxLength: 3 }),
  Condition: fc
    .array(condition, { maxLength: 2 })
    .map((parts) => Object.assign({}, ...parts) as Record<string, Record<string, string>>),
});
const document = fc.array(statement, { minLength: 1, maxLength: 4 }).map((statements) => policy(...statements));
const everything = policy({ Effect: "Allow", Action: ["*"], Resource: ["*"] });
const limit = fc.oneof(fc.constant(everything), document);
const tag = fc.option(fc.constantFrom(...tags), { nil: undefined });
// iam-simulate reads a wildcard in a request's resource as a pattern. No name here has one, as in AWS.
const request = fc
  .record({
    on: fc.constantFrom(
      ...["blue_events", "green_events", "axb_events"].flatMap((name) => [
        ["sqs:SendMessage", sqs(name)],
        ["sqs:DeleteQueue", sqs(name)],
      ]),
      ...[
        ["kms:Decrypt", key],
        ["iam:GetRole", role("blue")],
        ["iam:PassRole", role("x/blue-1")],
        ["sqs:ListQueues", "*"],
      ],
    ),
    context: fc.record({
      "aws:ResourceTag/team": tag,
      "aws:RequestTag/team": tag,
      "aws:PrincipalTag/team": tag,
      "aws:TagKeys": fc.option(some(["a", "b", "green", "blue"]), { nil: undefined }),
      "kms:GrantIsForAWSResource": fc.constantFrom(undefined, "true", "false"),
      "iam:PermissionsBoundary": fc.constantFrom(undefined, "arn:aws:iam::000000000000:policy/blue", role("x")),
      "aws:PrincipalArn": fc.constant(caller),
    }),
  })
  .map(
    ({ on: [action, resource], context }): IamRequest => ({
      action: action as string,
      resource: resource as string,
      context: Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined)) as Record<
        string,
        string
      >,
    }),
  );
const decisions = fc.sample(fc.record({ identity: document, boundary: limit, session: limit, request }), {
  seed,
  numRuns: count,
});

let python: string;
beforeAll(async () => {
  ({ python } = await ensureToolchain());
});

/** The emulator's decisions, in one process. */
function emulated(asked: readonly Decision[]): boolean[] {
  const input = asked.map(({ identity, boundary, session, request: { action, resource, context } }) =>
    JSON.stringify({ principal: caller, action, resource, context, layers: [[identity], [boundary], [session]] }),
  );
  const program = join(import.meta.dirname, "iam-decisions", "decide.py");
  const extension = join(import.meta.dirname, "..", "..", "local", "gateway", "ministack");
  const { status, stdout, stderr } = spawnSync(join(python, "bin", "python"), [program, extension], {
    input: input.join("\n"),
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new Error(`${program} failed:\n${stderr}`);
  return stdout
    .trim()
    .split("\n")
    .map((line) => line === "true");
}

function simulated({ identity, boundary, session, request: asked }: Decision): boolean {
  const [own, ...limits] = [identity, boundary, session].map((each) => rewrite(each, asked.context ?? {})) as [
    PolicyDocument,
    PolicyDocument,
    PolicyDocument,
  ];
  return simulate(caller, asked, [own], undefined, { boundary: limits[0], session: limits[1] });
}

const own = ({ identity, boundary, session, request: asked }: Decision): boolean =>
  [identity, boundary, session].every((each) => evaluate([each], asked));

const withoutDenies = ({ Version, Statement }: PolicyDocument): PolicyDocument => ({
  Version,
  Statement: Statement.filter(({ Effect }) => Effect === "Allow"),
});

const disagreements = (asked: readonly Decision[], decide = own) => {
  const byEmulator = emulated(asked);
  return asked
    .map((decision, at) => ({
      tests: decide(decision),
      simulate: simulated(decision),
      emulator: byEmulator[at],
      decision,
    }))
    .filter(({ tests, simulate: second, emulator }) => tests !== second || tests !== emulator);
};

test(`three evaluators agree on ${count} decisions of seed ${seed}`, () => {
  const found = disagreements(decisions);
  const allowedCount = decisions.filter(own).length;
  console.log(`IAM_SEED=${seed}: ${count} decisions, ${allowedCount} allowed, ${found.length} disagreements`);
  expect(JSON.stringify(found.slice(0, 3), null, 1), `IAM_SEED=${seed}: ${found.length} disagreements`).toBe("[]");
  // A run that allows or denies nearly everything compares little.
  expect(allowedCount).toBeGreaterThan(count / 20);
});

test("an evaluator that ignores a Deny or a boundary disagrees with the others", () => {
  const some = decisions.slice(0, 1000);
  const ignoring = [
    (decision: Decision) => own({ ...decision, identity: withoutDenies(decision.identity) }),
    (decision: Decision) => own({ ...decision, boundary: everything }),
  ];
  for (const decide of ignoring) expect(disagreements(some, decide)).not.toEqual([]);
});
