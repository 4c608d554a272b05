import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { changesTo, type Proposal } from "../change/files.ts";
import { changeHelp, changeOptions, isCommitted, wishProblems } from "../change/options.ts";
import { list } from "../change/removal.ts";
import { firstKey } from "../fleet/facts.ts";
import { readProject, stackPath } from "../fleet/stack-config.ts";
import { checkoutProblems } from "../folder.ts";
import { readLine } from "../line.ts";
import { foundProject } from "../project.ts";
import { broughtBy, environmentKeys } from "../rotation/keys-folder.ts";
import { withKeys } from "../rotation/stack-file.ts";
import { readStackList, type StackList } from "../rotation/stack-list.ts";
import { quoted } from "../shell.ts";
import { readOffer } from "../spoke/rules.ts";
import { choiceProblems, refuse, together } from "../usage.ts";
import { compositionFile, openComposition, withChannelOn } from "./composition.ts";
import { environmentFiles, environmentNameProblems, environmentTools, keptAddons } from "./folders.ts";
import { generationProblems, generationsFor, generationsIn, newKeys, stackOf } from "./generations.ts";

export const summary = "add an environment modelled on an existing one, in gitops-system and the hub's stack";

export const help = `Usage: fleet add-environment <name> --like ENVIRONMENT [--stack NAME]... [options]

Makes what spokes of an environment share, in a checkout of gitops-system: tools/<name> with the versions of the other one, the
folder of a sealing key of its own, and a channel of the Composition, which is on. What is there already stays as it is.

  --like ENVIRONMENT     the environment that it is modelled on
  --stack NAME           Pulumi stack of a hub that will run spokes in it: its file stacks/Pulumi.NAME.yaml in this project gets
                         the sealing key. Without such a file the commands that set it are printed. Can be given more than once
  --repository DIR       the checkout to write into; default: the current folder
${changeHelp}

Example:
  fleet add-environment staging --like prod --stack prod --dry-run
`;

export const options = {
  ...changeOptions,
  like: { type: "string" },
  stack: { type: "string", multiple: true },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** What gives a stack the environment's key, in the files of this project. */
function stackProposal(
  root: string,
  name: string,
  stacks: readonly StackList[],
  generations: readonly string[],
): Proposal {
  const texts = stacks
    .filter(({ keys }) => generationsIn(keys, name).length === 0)
    .map(({ path, text, key, keys }) => {
      const wanted = [...keys, ...newKeys(name, generations)];
      return [relative(root, path), withKeys(text, key, stackOf(path), wanted)] as const;
    });
  return {
    checkout: root,
    files: changesTo(root, Object.fromEntries(texts)),
    subject: `Add a sealing key for the environment ${name}`,
  };
}

/** The commands for a stack whose file is elsewhere. Without --type Pulumi would store the generation as a number. */
function settingCommands(name: string, stack: string, generations: readonly string[]): string[] {
  const commands = newKeys(name, generations).flatMap(({ scope, generation, active }, index) => {
    const key = `sealingKeys[${index === 0 ? "N" : `N+${index}`}]`;
    const set = (member: string, value: string, flags = "") =>
      `pulumi config set --stack ${stack} --path${flags} '${key}.${member}' ${value}`;
    return [
      set("scope", scope),
      set("generation", quoted(generation), " --type string"),
      set("active", String(active)),
    ];
  });
  const [first, ...others] = commands;
  return [`${first}     N: how many there are, by pulumi config get --stack ${stack} sealingKeys`, ...others];
}

/** What a person does before the environment's first spoke. */
function nextSteps(
  name: string,
  stacks: readonly string[],
  missing: readonly string[],
  generations: readonly string[],
  notes: readonly string[],
): string {
  const keys = [
    ...(stacks.length === 0
      ? [`for each hub that will run spokes in ${name}: ${firstKey(name, newKeys(name, generations))}`]
      : []),
    ...missing.flatMap((stack) => settingCommands(name, stack, generations)),
    ...stacks.map((stack) => `pulumi up --stack ${stack}     makes the sealing key`),
  ];
  return `Then:\n${list([
    ...keys,
    ...notes,
    `applications that are to run there need overlays/${name} in their repositories, or fleet onboard --path`,
    `fleet new-cluster <name> --environment ${name} …     its first spoke`,
  ])}`;
}

/** The stacks' lists of keys, and those stacks without a file here. */
async function stacksOf(root: string, names: readonly string[]) {
  if (names.length === 0) return { lists: [], missing: [] };
  const project = await readProject(root);
  const isHere = (stack: string) => existsSync(stackPath(project, stack));
  return {
    lists: names.filter(isHere).map((stack) => readStackList(project, stack)),
    missing: names.filter((stack) => !isHere(stack)),
  };
}

export async function run(
  argv: readonly string[],
  using = programs,
  project = () => foundProject(", or leave --stack out"),
): Promise<number> {
  const { values, args, problems } = readLine("add-environment", argv, options, {
    arguments: ["name"],
    required: { like: "an environment that is there, such as dev" },
  });
  const { name } = args;
  const { like } = values;
  const checkout = resolve(values.repository ?? ".");
  const stacks = [...new Set(values.stack ?? [])];
  // Without a stack nothing of the project is read.
  const found = stacks.length === 0 ? checkout : project();
  const [root, noProject] = typeof found === "string" ? [found, []] : [checkout, [found]];
  const { lists, missing } = await stacksOf(root, noProject.length > 0 ? [] : stacks);
  const committed = isCommitted(values) && lists.length > 0 ? [checkout, root] : [checkout];
  const told = together(problems, [...noProject, ...wishProblems(values, committed)]);
  const notHere = checkoutProblems(checkout, "gitops-system", join("templates", "spoke"));
  if (notHere.length > 0) refuse("add-environment", together(told, notHere));
  const offer = await readOffer(checkout);
  const { environments } = offer;
  refuse(
    "add-environment",
    together(told, [
      ...environmentNameProblems(name, offer),
      ...choiceProblems("--like", like, environments, "choose one"),
    ]),
  );
  const composition = openComposition(checkout);
  const { gitopsSystemRevision: branch } = composition.stage(like) ?? {};
  const brought = broughtBy(join(checkout, environmentKeys(name)));
  const generations = generationsFor(name, brought, lists);
  refuse("add-environment", generationProblems(name, brought, lists));
  const files = await environmentFiles(checkout, name, like, generations);
  const channel = composition.channel(name) === undefined ? withChannelOn(composition, name) : undefined;
  const changes = changesTo(checkout, { ...files, ...(channel === undefined ? {} : { [compositionFile]: channel }) });
  const places = [environmentTools(name), environmentKeys(name), compositionFile];
  const system: Proposal = {
    ...{ repository: "gitops-system", checkout, files: changes },
    places: places.filter((place) => changes.some(({ path }) => path.startsWith(place))),
    subject: `Add the environment ${name} like ${like}`,
  };
  const keys = stackProposal(root, name, lists, generations);
  const notes =
    branch === undefined
      ? []
      : [
          `${like} follows the branch ${branch}, ${name} does not: docs/guides/environments.md#a-branch-for-an-environment`,
        ];
  const next = nextSteps(name, stacks, missing, generations, notes);
  if (system.files.length + keys.files.length === 0) {
    console.log(`Nothing to change: ${name} is an environment of ${checkout}`);
    // Nobody can see here whether a stack whose file is elsewhere has the key.
    if (missing.length > 0) console.log(next);
    return 0;
  }
  if (changes.some(({ path }) => path.startsWith(environmentTools(name)))) {
    console.log(`${name}: the tools of ${like} in ${environmentTools(name)}, which are its own from now on.`);
    for (const [addon, why] of keptAddons(checkout, like)) console.log(`Left out: ${addon} (${why})`);
  }
  await carryOut("add-environment", [system, keys], values, { programs: using, next });
  return 0;
}
