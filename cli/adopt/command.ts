import { resolve } from "node:path";
import type { Document } from "yaml";
import type { Existing } from "../../functions/spoke/api.ts";
import { podIdentitiesField, ruleField, templatesField } from "../../functions/spoke/existing.ts";
import { clusterTag } from "../../lib/labels.ts";
import { fleetNames } from "../../lib/names.ts";
import { withDefaults } from "../../lib/openapi.ts";
import type { Problem } from "../../lib/problems.ts";
import { spokeNames } from "../../lib/spoke.ts";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { changesTo } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { columns } from "../columns.ts";
import { textOf } from "../folder.ts";
import { readLine } from "../line.ts";
import { findSpoke, makerProblems, type SpokeFile } from "../spoke/file.ts";
import { readOffer } from "../spoke/rules.ts";
import { refuse, together, UsageError } from "../usage.ts";
import type { InAws, Look } from "./aws.ts";
import { type AdoptedSpec, type Recognized, recognize } from "./recognize.ts";

export const summary = "take a spoke in that AWS has and the hub does not know, in gitops-system";

export const help = `Usage: fleet adopt <spoke> [options]

Finds what a spoke is made of in AWS by its tags, and writes it into spokes/<fleet>/<spoke>/spoke.yaml of a checkout of
gitops-system: spec.existing with the IDs that AWS gave, and unless spec.network.existing names the network, spec.network.cidr
and spec.network.availabilityZones. A hub that has no such Spoke yet, a rebuilt one say, then takes these over and makes none of
them a second time. What AWS does not have, the hub makes. Refuses where two resources could be the same part, or where AWS's are
not as the file says. It changes nothing in AWS.

  --profile NAME         profile of the AWS CLI; default: the credentials of the environment
  --fleet NAME           needed where several fleets have a spoke of this name
  --repository DIR       the checkout to write into; default: the current folder
${changeHelp}

AWS is asked with your own credentials, which need the rights in docs/reference/deployer-policy/fleet-adopt.json.
docs/guides/recovery.md#rebuild-a-lost-hub says when to use it.

Examples:
  fleet adopt green --dry-run
  fleet adopt green --profile spokes --push
`;

export const options = {
  ...changeOptions,
  profile: { type: "string" },
  fleet: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

interface FileSpec extends AdoptedSpec {
  readonly region: string;
  readonly deletionPolicy?: string;
  readonly account?: { readonly id: string };
  readonly existing?: Existing;
}

type AdoptedFile = SpokeFile<FileSpec>;

/** Whether its network is somebody else's. The file may leave the network out. */
const sharesNetwork = ({ spec }: { readonly spec: Partial<AdoptedSpec> }): boolean =>
  spec.network?.existing !== undefined;

// The clients of the AWS SDK take a moment to load, which a wrong command line need not wait for.
const lookInAws: Look = async (...args) => (await import("./aws.ts")).look(...args);

function regionProblems({ spec, path }: AdoptedFile): Problem[] {
  if (typeof spec.region === "string") return [];
  return [
    {
      ...{ key: "<spoke>", what: "has no spec.region in its file", got: path },
      ...{ allowed: "a Spoke that says in which region it is", remedy: "correct the file first" },
    },
  ];
}

const fileProblems = (file: AdoptedFile): Problem[] => [
  ...regionProblems(file),
  ...makerProblems(file, "leave it as it is: the hub finds the cluster by its name"),
];

const quoted = (lines: readonly string[]): string => lines.map((line) => `\n  - ${line}`).join("");

/** @throws UsageError when what AWS has can't be taken in as it is */
function refuseUnclear(file: AdoptedFile, { account }: InAws, recognized: Recognized): void {
  const { ambiguous, availabilityZones, cidr, contradictions } = recognized;
  const { spec, spoke } = file;
  const where = `account ${account}, ${spec.region}`;
  const fail = (what: string) => {
    throw new UsageError(`fleet adopt ${spoke} (${where}): ${what}\nNothing was changed.`);
  };
  if (spec.account !== undefined && spec.account.id !== account)
    fail(`the Spoke is in account ${spec.account.id}: take credentials of that account, with --profile`);
  if (ambiguous.size > 0)
    fail(
      `several resources carry the tags of one part of it:${quoted([...ambiguous].map(([key, ids]) => `${key}: ${ids.join(", ")}`))}\n` +
        `Take the tag ${clusterTag} off those that are not in use, then run this again.`,
    );
  if (contradictions.length > 0)
    fail(
      `what AWS has is not the Spoke of ${file.path}:${quoted(contradictions)}\n` +
        "None of this can be changed in place: correct the file, or the tags in AWS.",
    );
  if (sharesNetwork(file)) {
    if (Object.keys(recognized.existing).length > 0) return;
    fail(
      "nothing carries its tags. Is it another account or region? If there is nothing of it in AWS, there is nothing to adopt: the hub makes it anew.",
    );
  }
  if (cidr === undefined)
    fail(
      "no VPC carries its tags. Is it another account or region? If there is nothing of it in AWS, there is nothing to adopt: the hub makes it anew.",
    );
  if (availabilityZones === undefined)
    fail("subnets are missing, so their zones are not known: name all zones in spec.network.availabilityZones first.");
}

/** What was found, for a person. */
function report(
  { spoke, spec }: AdoptedFile,
  { account, cluster }: InAws,
  { existing, missing, left }: Recognized,
): string {
  const {
    [ruleField]: rules = {},
    [templatesField]: templates = {},
    [podIdentitiesField]: podIdentities = {},
    ...others
  } = existing;
  const found = [
    ...(Object.entries(others) as [string, string][]),
    ...Object.entries(templates).map(([group, id]): [string, string] => [`${templatesField} ${group}`, id]),
    ...Object.entries(podIdentities).map(([role, id]): [string, string] => [`${podIdentitiesField} ${role}`, id]),
    ...Object.entries(rules).map(([cidr, id]): [string, string] => [`${ruleField} ${cidr}`, id]),
  ];
  return [
    `Found of ${spoke} in account ${account}, ${spec.region}:`,
    ...columns(found).map((line) => `  ${line}`),
    ...(cluster !== undefined && cluster.version !== spec.kubernetesVersion
      ? [
          `It runs Kubernetes ${cluster.version}; the hub brings it to ${spec.kubernetesVersion}, and replaces its nodes for that`,
        ]
      : []),
    ...(missing.length > 0 ? [`Not there, the hub makes it: ${missing.join(", ")}`] : []),
    ...(left.length > 0
      ? [`With its tags, but no part of it as Git describes it; nothing manages these: ${left.join(", ")}`]
      : []),
  ].join("\n");
}

/** Writes what was recognized; a Spoke that was let go is one of the fleet again. */
function edit(file: AdoptedFile, { availabilityZones, cidr, existing }: Recognized): void {
  const { document } = file;
  const set = (path: readonly string[], value: unknown) => {
    const before = (document as Document).getIn(["spec", ...path]);
    const plain =
      typeof before === "object" && before !== null && "toJSON" in before ? (before as Document).toJSON() : before;
    // What is the same keeps its comments and its form.
    if (JSON.stringify(plain) !== JSON.stringify(value)) document.setIn(["spec", ...path], document.createNode(value));
  };
  if (!sharesNetwork(file)) {
    set(["network", "cidr"], cidr);
    set(["network", "availabilityZones"], availabilityZones);
  }
  set(["existing"], existing);
  document.deleteIn(["spec", "deletionPolicy"]);
}

export async function run(argv: readonly string[], using = programs, look = lookInAws): Promise<number> {
  const { values, args, problems } = readLine("adopt", argv, options, { arguments: ["spoke"] });
  const { spoke } = args;
  const checkout = resolve(values.repository ?? ".");
  const { file, problems: unknown } = findSpoke<FileSpec>(checkout, spoke, values.fleet);
  refuse(
    "adopt",
    together([...problems, ...wishProblems(values, [checkout])], file === undefined ? unknown : fileProblems(file)),
  );
  const opened = file as AdoptedFile;
  const spec = withDefaults((await readOffer(checkout)).schema, opened.spec) as FileSpec;
  const { fleet, path } = opened;
  const prefix = fleetNames(fleet).spokePrefix;
  const { cluster } = spokeNames(prefix, spoke);
  const inAws = await look(
    { fleet, spoke, cluster, region: spec.region },
    values.profile === undefined ? {} : { profile: values.profile },
  );
  const recognized = recognize({ spoke, fleet, prefix, spec }, inAws);
  refuseUnclear(opened, inAws, recognized);
  console.log(report(opened, inAws, recognized));
  edit(opened, recognized);
  const files = changesTo(checkout, { [path]: textOf(opened.documents) });
  if (files.length === 0) {
    console.log(`Nothing to change: ${path} says so already`);
    return 0;
  }
  console.log(
    `Only a hub that has no Spoke ${spoke} takes this in. One that has it refuses this and every later change of its file, as fleet diff says: let it go\n` +
      `first (fleet release ${spoke}), and wait until kubectl -n spokes get spoke ${spoke} finds none.`,
  );
  const next = `When the hub has applied it: kubectl -n spokes get spoke ${spoke} --watch --output wide. spec.existing stays in the file.`;
  const subject = `Adopt spoke ${spoke}`;
  await carryOut("adopt", [{ repository: "gitops-system", checkout, files, subject }], values, {
    ...{ fleet, next, programs: using },
  });
  return 0;
}
