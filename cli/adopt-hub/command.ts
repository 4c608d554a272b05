import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { clusterTag, fleetTag, type Tags } from "../../lib/labels.ts";
import { hubName } from "../../lib/names.ts";
import { columns, headed } from "../columns.ts";
import { readLine } from "../line.ts";
import { refuse, UsageError } from "../usage.ts";
import type { LookForHub } from "./aws.ts";
import { configLines, formerKeys } from "./former-keys.ts";
import { type HubInAws, type Located, locate } from "./locate.ts";
import { type Entry, type Planned, type Preview, preview } from "./preview.ts";

export const summary = "find in AWS what is left of a hub whose Pulumi state is lost";

export const help = `Usage: fleet adopt-hub [--stack NAME] [options]

For a hub whose cluster and whose Pulumi state are gone. Asks Pulumi what a stack without state would make (pulumi preview), looks
in AWS for what is there of it, by names and by the hub's tags, and writes the file with which pulumi import takes that into the
state: keys, secrets, roles, policies, logs, network. pulumi up then makes the rest, and nothing a second time. It changes nothing
in AWS and nothing in the state. Refuses while the cluster is there, where two resources could be the same one, and where
pulumi up would put a new sealing key in the place of one that spokes use: then it prints what the stack's file has to say.

  --stack NAME           the hub's stack, made anew with pulumi stack init; default: the selected one
  --file FILE            the file to write; default: import.json
  --profile NAME         profile of the AWS CLI; default: aws:profile of the stack, or the credentials of the environment

Pulumi is called in the checkout of this project that you are in. AWS is asked with your own credentials: those of the deployer,
and the rights in docs/reference/deployer-policy/fleet-adopt-hub.json. When to use it: docs/guides/recovery.md#rebuild-a-lost-hub

Examples:
  fleet adopt-hub --stack prod
  fleet adopt-hub --stack prod --profile deployer --file /tmp/import.json
`;

export const options = {
  stack: { type: "string" },
  file: { type: "string" },
  profile: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

// The clients of the AWS SDK take a moment to load, which a wrong command line need not wait for.
const lookInAws: LookForHub = async (...args) => (await import("./aws.ts")).lookForHub(...args);

const shortType = (type: string): string => type.split(":").at(-1) ?? type;
const named = ({ type, entry }: Planned): string => `${shortType(type)} ${entry.logicalName ?? entry.name}`;

const tagsIn = ({ inputs }: Planned): Tags => (inputs["tags"] ?? {}) as Tags;

interface Hub {
  readonly fleet: string;
  /** Pulumi's name of the project. */
  readonly project: string;
  /** EKS name of its cluster. */
  readonly cluster: string;
  /** Accounts that the stack may run in; undefined where it names none. */
  readonly accounts: readonly string[] | undefined;
}

/** The hub that the stack would make. @throws UsageError when it makes none */
function hubOf({ accounts, planned }: Preview): Hub {
  const cluster = planned.find(({ type }) => type === "aws:eks/cluster:Cluster");
  const fleet = planned.map(tagsIn).find((tags) => tags[clusterTag] === hubName)?.[fleetTag];
  const name = cluster?.inputs["name"];
  if (cluster !== undefined && fleet !== undefined && typeof name === "string")
    return { fleet, project: cluster.urn.split("::")[1] ?? "", cluster: name, accounts };
  throw new UsageError(
    "fleet adopt-hub: pulumi up of this stack would make no hub, so its state has one. This is for a stack whose state is lost: is it the right --stack?\nNothing was changed.",
  );
}

/** @throws UsageError when what AWS has can't be taken in as it is */
function refuseUnclear(
  { fleet, project, cluster, accounts }: Hub,
  where: string,
  { planned, inAws, located }: { planned: readonly Planned[]; inAws: HubInAws; located: Located },
): void {
  const fail = (what: string) => {
    throw new UsageError(`fleet adopt-hub (${where}): ${what}\nNothing was changed.`);
  };
  if (accounts !== undefined && !accounts.includes(inAws.account))
    fail(
      `AWS was asked in account ${inAws.account}, and aws:allowedAccountIds of the stack has ${accounts.join(", ")}. Take credentials of that account, with --profile.`,
    );
  if (inAws.hasCluster)
    fail(
      `EKS has the cluster ${cluster}, and this is for a hub whose cluster is gone. Restore the state from an earlier version of its object in the bucket, then pulumi refresh (docs/guides/recovery.md#recover-a-hub).`,
    );
  const { ambiguous, found } = located;
  if (ambiguous.length > 0)
    fail(
      [
        ...headed(
          "more than one resource matches:",
          ambiguous.map(({ planned, ids }) => `${named(planned)}: ${ids.join(", ")}`),
        ),
        `Take the tag ${clusterTag} off those that are not in use, then run this again.`,
      ].join("\n"),
    );
  const unusable = found.flatMap((each) =>
    each.unusable === undefined ? [] : [`${named(each.planned)}: ${each.unusable}`],
  );
  if (unusable.length > 0) fail(headed("AWS is about to delete these; keep them first:", unusable).join("\n"));
  const keys = formerKeys(planned, inAws, fleet);
  if (keys.former.length > 0)
    fail(
      [
        ...headed(
          "sealing keys, as scope/generation, that exist in Secrets Manager, but not in this state:",
          keys.former.map(({ scope, generation }) => `${scope}/${generation}`),
        ),
        "pulumi up would put others in their place, and nothing that they sealed could be opened. In the stack's file give each scope a generation",
        "whose name was never used, as the active one, and name these as former ones: they stay in Secrets Manager, and still open what they sealed.",
        ...configLines(project, keys),
        "Then run this again.",
      ].join("\n"),
    );
}

/** The file for `pulumi import`: what was found, and the components that it belongs to. */
export function importFile({ components, nameTable }: Preview, { found }: Located) {
  const parents = new Map<string, Entry>();
  const keep = (name: string | undefined): void => {
    const component = components.get(name ?? "");
    if (component === undefined || parents.has(component.name)) return;
    keep(component.parent);
    parents.set(component.name, component);
  };
  for (const { planned } of found) keep(planned.entry.parent);
  return { nameTable, resources: [...parents.values(), ...found.map(({ planned, id }) => ({ ...planned.entry, id }))] };
}

/** What `pulumi up` would leave alone or make beside it, for a person. */
const others = ({ unknown, left }: Located): string[] => [
  ...headed("Not looked for, pulumi up makes another one. Look in AWS whether there is one:", unknown.map(named)),
  ...headed(
    "With the hub's tags, and of no use to the new one. Look whose it is; keys and what holds data stay:",
    left,
  ),
];

/** What was found, for a person. */
const report = (where: string, located: Located): string[] => [
  `Found of the hub in ${where}:`,
  ...columns(located.found.map(({ planned, id }) => [named(planned), id])).map((line) => `  ${line}`),
  ...headed("Not there, pulumi up makes it:", located.missing.map(named)),
  ...others(located),
];

export async function run(argv: readonly string[], ask = preview, look = lookInAws): Promise<number> {
  const { values, problems } = readLine("adopt-hub", argv, options, {});
  refuse("adopt-hub", problems);
  const asked = await ask(values.stack);
  const hub = hubOf(asked);
  const { fleet, cluster } = hub;
  const region = asked.region ?? process.env["AWS_REGION"];
  if (region === undefined)
    throw new UsageError(
      "fleet adopt-hub: the region of the hub is not known. Set aws:region in the stack's configuration, or AWS_REGION. Nothing was changed.",
    );
  const profile = values.profile ?? asked.profile;
  const inAws = await look(
    { fleet, cluster, region, planned: asked.planned },
    profile === undefined ? {} : { profile },
  );
  const where = `account ${inAws.account}, ${region}`;
  const located = locate(asked.planned, inAws);
  refuseUnclear(hub, where, { planned: asked.planned, inAws, located });
  if (located.found.length === 0) {
    console.log([`Nothing of the hub is in ${where}: pulumi up makes it`, ...others(located)].join("\n"));
    return 0;
  }
  const file = resolve(values.file ?? "import.json");
  await writeFile(file, `${JSON.stringify(importFile(asked, located), undefined, 2)}\n`);
  const stack = values.stack === undefined ? "" : ` --stack ${values.stack}`;
  console.log(
    [
      ...report(where, located),
      `Wrote ${file}. Next:`,
      `  pulumi import --file ${file} --generate-code=false --protect=false${stack}`,
      `  pulumi preview${stack}        may create and update: stop if it replaces or deletes anything of AWS`,
      `  pulumi up${stack}`,
    ].join("\n"),
  );
  return 0;
}
