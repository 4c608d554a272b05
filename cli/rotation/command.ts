import { existsSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { hubSealingScope } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { patchOf } from "../change/patch.ts";
import { type Run, runner } from "../doctor/process.ts";
import { readOutputs, stackOutputs } from "../fleet/outputs.ts";
import { readProject } from "../fleet/stack-config.ts";
import { readLine } from "../line.ts";
import { projectRoot } from "../project.ts";
import { type Generation, generationsOf } from "../sealing/generations.ts";
import { sealedIn } from "../sealing/sealed-secrets.ts";
import { choiceProblems, folderProblems, refuse, together } from "../usage.ts";
import { brought, broughtBy, type Change, keysFolder, retired } from "./keys-folder.ts";
import { mayBeOf, systemOf, workloadsOf } from "./places.ts";
import { nextStep, type Standing, type Step } from "./plan.ts";
import { type ReEncrypted, reEncrypt, requireKey } from "./re-encrypt.ts";
import { isSameKey, type KeyName, type ListedKey, withKeys, withoutFormer } from "./stack-file.ts";
import { readStackList, type StackList, stackFileProblems } from "./stack-list.ts";
import { headOf, leftOf, nextOf, type Told } from "./words.ts";

export const summary = "rotate a sealing key: looks where the rotation stands and does the next step";

export const help = `Usage: fleet rotate-key <scope> --stack NAME --repository DIR... [options]

Does one step of a rotation and says what to do before the next: run it again then. It keeps nothing of its own, so it can be
stopped after every step. It goes by the files of the checkouts: push each step, and wait until it has arrived, before the next,
or something may be sealed with a key that its clusters don't have. Fleets that share an environment's folder rotate together.
  1. (--new) a new generation into sealingKeys of the hub's stack; pulumi up
  2. the file that brings it to the clusters; push, and wait until they have it. The hub needs none
  3. the new generation seals; pulumi up
  4. what is sealed with older ones in the checkouts is sealed again, with --context; push
  5. the files of older generations go; push
  6. older generations go out of sealingKeys and formerSealingKeys; pulumi up

  <scope>                an environment, cluster-<spoke>, or ${hubSealingScope}
  --new                  begin a rotation
  --stack NAME           Pulumi stack of the hub, whose file stacks/Pulumi.NAME.yaml is changed
  --repository DIR       the checkouts in which SealedSecrets are looked for: gitops-system, gitops-workloads and those of the
                         applications; may be given more than once
  --context NAME         for step 4: a cluster of the kubeconfig that reads the scope's keys. Its controller seals again what it
                         can open, and never shows it (kubeseal --re-encrypt); also what does not say its key
  --ignore-unknown       retire older generations although there are SealedSecrets that do not say what they are sealed with
  --dry-run              show what would change, and change nothing
Exit code 0: done, or nothing to do in files; 1: --context could not open everything; 2: it was called wrongly or could not run.

Example:
  fleet rotate-key prod --stack pilot --repository ../gitops-system --repository ../gitops-workloads --new
`;

export const options = {
  new: { type: "boolean", default: false },
  stack: { type: "string" },
  repository: { type: "string", multiple: true },
  context: { type: "string" },
  "ignore-unknown": { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
  help: { type: "boolean", short: "h" },
} as const;

/** What the command works with; tests replace it. */
interface World {
  readonly root: string;
  readonly ask: typeof stackOutputs;
  readonly program: Run;
  /** The controller takes two calls a second (v0.40.0, --rate-limit). */
  readonly pause: () => Promise<unknown>;
}

const world: World = {
  get root() {
    return projectRoot();
  },
  ask: stackOutputs,
  program: runner(process.cwd(), process.env),
  pause: () => setTimeout(1000),
};

/** Problems of checkouts without what a step needs. */
function checkoutProblems(scope: string, checkouts: readonly string[]): Problem[] {
  const isHub = scope === hubSealingScope;
  const missing = [
    ...(systemOf(checkouts) === undefined ? ["gitops-system"] : []),
    ...(isHub || workloadsOf(checkouts) !== undefined ? [] : ["gitops-workloads"]),
  ];
  return missing.map((name) => ({
    key: "--repository",
    what: `does not name a checkout of ${name}, in which there are SealedSecrets`,
    got: shown(checkouts),
    allowed: `every repository with SealedSecrets for ${scope}`,
    remedy: `give one more: --repository DIR/${name}`,
  }));
}

interface Found {
  readonly standing: Standing;
  readonly list: StackList;
  readonly told: Told;
  /** Folder of the scope's keys; undefined for the hub. */
  readonly folder: string | undefined;
  /** Every scope's generations. */
  readonly all: readonly Generation[];
}

async function find(scope: string, stack: string, checkouts: readonly string[], { root, ask }: World): Promise<Found> {
  const project = await readProject(root);
  refuse("rotate-key", stackFileProblems(project, stack));
  const list = readStackList(project, stack);
  const scopes = [...new Set(list.keys.map((each) => each.scope))].sort();
  refuse("rotate-key", choiceProblems("<scope>", scope, scopes, "name a scope of sealingKeys in the stack's config"));
  const outputs = await ask({ stack });
  const { bridgeData } = readOutputs(z.object({ bridgeData: z.looseObject({ fleet: z.string() }) }), outputs);
  const all = generationsOf(outputs);
  const system = systemOf(checkouts) as string;
  const below = keysFolder(bridgeData.fleet, scope);
  const folder = below === undefined ? undefined : join(system, below);
  const places = { fleet: bridgeData.fleet, checkouts };
  const sealed = sealedIn(checkouts).filter((each) => each.certificate !== undefined || mayBeOf(scope, each, places));
  const listed = list.keys.filter((each) => each.scope === scope);
  const made = all.filter((each) => each.scope === scope);
  const former = list.former.filter((each) => each.scope === scope).map(({ generation }) => generation);
  const inGit = folder === undefined ? undefined : broughtBy(folder);
  const told = { scope, stack, system, fleet: bridgeData.fleet, former };
  return { standing: { scope, listed, former, made, inGit, sealed }, list, told, folder, all };
}

/** The stack's file without some generations, in either list. */
function forgotten({ path, text, key, keys, formerKey }: StackList, gone: readonly KeyName[], stack: string): Change[] {
  const isGone = (one: KeyName) => gone.some(isSameKey(one));
  const own = keys.some(isGone)
    ? withKeys(
        text,
        key,
        stack,
        keys.filter((each) => !isGone(each)),
      )
    : text;
  return [{ path, text: withoutFormer(own, formerKey, stack, gone) }];
}

/** The files that a step changes, what is sealed again aside. */
function changesOf(step: Step, { standing: { scope }, list, told: { stack }, folder = "" }: Found): readonly Change[] {
  const withList = (keys: readonly ListedKey[]) => [
    { path: list.path, text: withKeys(list.text, list.key, stack, keys) },
  ];
  switch (step.kind) {
    case "add":
      return withList([...list.keys, { scope, generation: step.generation, active: false }]);
    case "activate":
      return withList(
        list.keys.map((key) => (key.scope === scope ? { ...key, active: key.generation === step.generation } : key)),
      );
    case "forget":
      return forgotten(
        list,
        step.generations.map((generation) => ({ scope, generation })),
        stack,
      );
    case "bring":
      return brought(folder, step.generation);
    case "retire":
      return retired(folder, step.generations);
    default:
      return [];
  }
}

async function apply(changes: readonly Change[], dryRun: boolean): Promise<void> {
  for (const { path, text } of changes) {
    const name = relative(process.cwd(), path);
    const what = text === undefined ? "remove" : existsSync(path) ? "change" : "add";
    console.log(`  ${dryRun ? "would " : ""}${what} ${name}`);
    if (dryRun) {
      const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
      console.log(patchOf([{ path: name, before, after: text }]));
      continue;
    }
    if (text === undefined) await rm(path);
    else await writeFile(path, text);
  }
}

/** Has a cluster seal again what is left; undefined where nobody names one. */
async function again(
  step: Extract<Step, { kind: "reseal" }>,
  context: string,
  { standing: { scope, made }, all }: Found,
  { program, pause }: World,
): Promise<ReEncrypted> {
  const controller = { program, pause, context, scope };
  const key = made.find(({ generation }) => generation === step.generation) as Generation;
  await requireKey(controller, key, all);
  return reEncrypt(controller, [...step.stale, ...step.unknown], key);
}

export async function run(argv: readonly string[], given: World = world): Promise<number> {
  const { values, args, problems } = readLine("rotate-key", argv, options, {
    arguments: ["scope"],
    required: { stack: "the Pulumi stack of the hub", repository: "folders of checkouts, gitops-system among them" },
  });
  const checkouts = values.repository.map((path) => resolve(path));
  const missing = checkouts.flatMap((path) => folderProblems("--repository", path, "the folder of a checkout"));
  const wrong = missing.length > 0 ? missing : checkoutProblems(args.scope, checkouts);
  refuse("rotate-key", together(problems, wrong));
  const found = await find(args.scope, values.stack, checkouts, given);
  const { told } = found;
  const step = nextStep(found.standing, { begin: values.new, ignoresUnknown: values["ignore-unknown"] });
  console.log(headOf(step, told));
  if (step.kind === "reseal") return sealAgain(step, values, found, given);
  await apply(changesOf(step, found), values["dry-run"]);
  const next = nextOf(step, told);
  if (next.length > 0 && !values["dry-run"])
    console.log(nextText([...next, ...(step.kind === "forget" ? [] : [same])]));
  return 0;
}

const same = "this command again, without --new";
const nextText = (lines: readonly string[]): string =>
  `Next:\n${lines.map((line, index) => `${index + 1}. ${line}`).join("\n")}`;

/** Step 4. @returns the exit code */
async function sealAgain(
  step: Extract<Step, { kind: "reseal" }>,
  { context, "dry-run": dryRun }: { readonly context?: string | undefined; readonly "dry-run": boolean },
  found: Found,
  given: World,
): Promise<number> {
  if (context === undefined || dryRun) {
    console.log(leftOf(step, found.told).join("\n"));
    return 0;
  }
  const { changes, done, failed } = await again(step, context, found, given);
  await apply(changes, false);
  console.log(`Sealed ${done.length} again.`);
  for (const { sealed, reason } of failed)
    console.error(
      `Not sealed again: ${sealed.namespace}/${sealed.name} in ${relative(process.cwd(), sealed.file)}: ${reason}`,
    );
  if (done.length > 0)
    console.log(nextText(["commit and push in each repository; wait until the Spokes are Ready", same]));
  return failed.length > 0 ? 1 : 0;
}
