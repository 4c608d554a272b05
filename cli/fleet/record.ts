import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { stringify } from "yaml";
import { unknownKeys, wrongFacts } from "../../lib/bridge-problems.ts";
import { bridgeFile, hubFolder } from "../../lib/layout.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { checkoutProblems } from "../folder.ts";
import { readLine } from "../line.ts";
import { isBridge } from "../render/hub-facts.ts";
import { refuse, together, UsageError } from "../usage.ts";
import { foldersIn, systemTemplate } from "./folders.ts";
import { stackOutputs } from "./outputs.ts";

export const summary = "record the facts about a hub in gitops-system, for checks without credentials";

export const help = `Usage: fleet facts [--repository DIR] [--stack NAME | --bridge FILE]

Writes what the hub's stack says about the hub (its output bridgeData: names, ARNs, addresses, no secret) to
clusters/<fleet>/bridge.yaml in a checkout of gitops-system. fleet check and fleet diff take the facts from there, so that they
need neither credentials nor samples. Flux does not apply the file. Run it again after a pulumi up that changes them.

  --repository DIR       the checkout to write into; default: the current folder
  --stack NAME           Pulumi stack of the hub; default: the selected one
  --bridge FILE          what pulumi stack output --json bridgeData wrote: the stack is not asked

Example:
  fleet facts --stack pilot --repository ../gitops-system
`;

export const options = {
  repository: { type: "string" },
  stack: { type: "string" },
  bridge: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type Data = Readonly<Record<string, string>>;

const header = `# The facts about this fleet's hub, written by fleet facts: fleet check and fleet diff take them from here.
# Flux does not apply this file.
`;

const output = "bridgeData";

/** @param key where the data come from @param checkout undefined where it is none */
function dataProblems(key: string, data: unknown, checkout: string | undefined): Problem[] {
  // Whatever it is, it may be a secret that was given by mistake.
  if (!isBridge(data))
    return [
      {
        key,
        what: `is not what pulumi stack output --json ${output} writes`,
        got: "(not shown)",
        allowed: "a JSON object of strings",
        remedy: `pulumi stack output --json ${output} > bridge.json`,
      },
    ];
  return [
    ...[...unknownKeys(data), ...wrongFacts(data)].map((each) => ({ ...each, key: `${key}: ${each.key}` })),
    ...(checkout === undefined ? [] : folderProblems(key, data["fleet"], checkout)),
  ];
}

/** The problem of a fleet that has no folder in the checkout. */
function folderProblems(key: string, fleet: string | undefined, checkout: string): Problem[] {
  if (fleet === undefined || existsSync(join(checkout, hubFolder(fleet)))) return [];
  return [
    {
      key: `${key}: fleet`,
      what: "has no folder in this checkout",
      got: shown(fleet),
      allowed: foldersIn(join(checkout, "clusters")).join(", ") || "(none)",
      remedy: `name the hub's stack, or the checkout that the hub follows, or run fleet new-fleet ${fleet} first`,
    },
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // told as data of another form
  }
}

/** The file of these facts: the same for the same facts. */
const textOf = (data: Data): string => `${header}${stringify(data, { sortMapEntries: true, lineWidth: 0 })}`;

/** @param ask asks the stack; its error says what to do */
export async function run(argv: readonly string[], ask: typeof stackOutputs = stackOutputs): Promise<number> {
  const { values, texts, problems } = readLine("facts", argv, options, { files: ["bridge"] });
  const checkout = resolve(values.repository ?? ".");
  const given = texts.bridge === undefined ? undefined : { data: parsed(texts.bridge) };
  const notHere = checkoutProblems(checkout, "gitops-system", systemTemplate);
  refuse(
    "facts",
    together(problems, [
      ...notHere,
      ...bothProblems(values.stack, values.bridge),
      ...(given ? dataProblems("--bridge", given.data, notHere.length > 0 ? undefined : checkout) : []),
    ]),
  );
  const data = given ? given.data : await asked(ask, values.stack);
  if (!given) refuse("facts", dataProblems(`output ${output}`, data, checkout));
  return record(checkout, data as Data);
}

const bothProblems = (stack: string | undefined, bridge: string | undefined): Problem[] =>
  stack === undefined || bridge === undefined
    ? []
    : [
        {
          key: "--stack",
          what: "is given beside --bridge, with which no stack is asked",
          got: shown(stack),
          allowed: "one of the two",
          remedy: "leave one out",
        },
      ];

async function asked(ask: typeof stackOutputs, stack: string | undefined): Promise<unknown> {
  try {
    return await ask({ stack, output, otherwise: "--bridge FILE" });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** @returns the exit code */
function record(checkout: string, data: Data): number {
  const file = bridgeFile(data["fleet"] ?? "");
  const path = join(checkout, file);
  const text = textOf(data);
  if (existsSync(path) && readFileSync(path, "utf8") === text) {
    console.log(`${file} has these facts: nothing to do.`);
    return 0;
  }
  writeFileSync(path, text);
  console.log(`Wrote ${file}. Next, in ${checkout}:
  git add ${file} && git commit -m "Record the facts about the hub of ${data["fleet"]}" && git push`);
  return 0;
}
