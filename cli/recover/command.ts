import type { Spoke } from "../../functions/spoke/api.ts";
import { managedKinds, pluralOf } from "../../functions/spoke/kinds.ts";
import type { KubeObject } from "../../functions/spoke/kube.ts";
import { isOnlyObserved } from "../../functions/spoke/orphan.ts";
import { crossplaneAnnotations } from "../../lib/labels.ts";
import { fleetNames, namespaces } from "../../lib/names.ts";
import { spokeNames } from "../../lib/spoke.ts";
import type { InAws, Look } from "../adopt/aws.ts";
import { type Recognized, recognize } from "../adopt/recognize.ts";
import { headed } from "../columns.ts";
import type { Api } from "../kubernetes/api.ts";
import { type Connect, connect } from "../kubernetes/connect.ts";
import { readLine } from "../line.ts";
import { fleetOf, refuseOtherAccount, spokeAccountHelp, spokeAccountOptions } from "../spoke-account.ts";
import { refuse, UsageError } from "../usage.ts";
import { type Plan, planOf } from "./plan.ts";

const { createSucceeded, externalName } = crossplaneAnnotations;

export const summary = "tell Crossplane how the interrupted creations of a spoke ended";

export const help = `Usage: fleet recover <spoke> [--yes] [options]

Crossplane's AWS provider forgets what it was making when it is killed. It then says "cannot determine creation result", makes the
same again, or fails because AWS has it already. This looks in AWS for what was made, by the spoke's tags, notes the IDs at the
managed resources on the hub, and lets Crossplane make what AWS does not have. It names what was made twice, which nobody
manages, and what AWS failed to make. It changes nothing in AWS. Without --yes it says what it would do, and changes nothing on
the hub either.

${spokeAccountHelp}

The hub is read and changed with your own rights, which include to patch managed resources in the namespace spokes. AWS is asked
with those in docs/reference/deployer-policy/fleet-adopt.json.

Exit code 0: nothing is interrupted, or Crossplane was told; 1: something has to be decided by a person, or without --yes there is
something to do; 2: it was called wrongly, or there is no such spoke.

Examples:
  fleet recover green
  fleet recover green --profile spokes --yes
`;

export const options = spokeAccountOptions;

// The clients of the AWS SDK take a moment to load, which a wrong command line need not wait for.
const lookInAws: Look = async (...args) => (await import("../adopt/aws.ts")).look(...args);

const named = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

/** What is done, and what is left to a person. */
const report = ({ again, failed, found, left, several, unknown }: Plan): string[] => [
  ...headed(
    "AWS has what Crossplane began to make; its ID is noted:",
    found.map(({ object, id }) => `${named(object)}: ${id}`),
  ),
  ...headed(
    "AWS has none, or Crossplane finds it by its name; Crossplane goes on:",
    again.map(({ object }) => named(object)),
  ),
  ...headed(
    "AWS has several that it could be. Delete those that nothing uses, then run this again:",
    several.map(({ object, ids }) => `${named(object)}: ${ids.join(", ")}`),
  ),
  ...headed(
    "AWS failed to make it. Delete it in AWS, with the others that are named where nothing uses them; Crossplane then makes it anew:",
    failed.map(({ object, id, why, others }) => `${named(object)}: ${[id, ...others].join(", ")} (${why})`),
  ),
  ...headed(
    `Not to be found before what uses it is there. Look in AWS; if it is there, set the annotation ${externalName} to its ID, and in any case ${createSucceeded} to the time of now:`,
    unknown.map(({ object }) => named(object)),
  ),
  ...headed("With the spoke's tags, but managed by nobody. Delete it in AWS if nothing uses it:", left),
];

/** Tells Crossplane. The annotation of the time has the provider look again at once (crossplane-runtime, pkg/resource/predicates.go). */
async function tell(hub: Api, { again, found }: Plan): Promise<void> {
  // Later than every note of a beginning, which the provider may write in the same second.
  const ended = { [createSucceeded]: new Date(Date.now() + 1000).toISOString().replace(/\.\d+/, "") };
  const told = [
    ...found.map(({ object, id }) => ({ object, more: { [externalName]: id } })),
    ...again.map(({ object }) => ({ object, more: {} })),
  ];
  for (const {
    object: { apiVersion, kind, metadata },
    more,
  } of told)
    await hub.annotate({ apiVersion, plural: pluralOf(kind), namespace: namespaces.spokes }, metadata, {
      ...more,
      ...ended,
    });
}

/** @throws UsageError where what AWS has can't be what the hub made: another account or region, most likely */
function refuseOthers(
  spoke: string,
  where: string,
  objects: readonly KubeObject[],
  { tagged }: InAws,
  { contradictions }: Recognized,
): void {
  const fail = (what: string) => {
    throw new UsageError(`fleet recover ${spoke} (${where}): ${what}\nNothing was changed.`);
  };
  const known = objects
    .filter((object) => object.kind === "VPC" && !isOnlyObserved(object))
    .flatMap(({ metadata }) => metadata.annotations?.[externalName] ?? []);
  if (known.length > 0 && !tagged.some(({ id }) => known.includes(id)))
    fail(
      `it has no VPC ${known.join(", ")}, which the hub made. Take credentials of the spoke's account, with --profile.`,
    );
  if (contradictions.length > 0)
    fail(
      `what AWS has is not what the hub made:${contradictions.map((line) => `\n  - ${line}`).join("")}\nLook at it in AWS, and correct the tags.`,
    );
}

export async function run(
  argv: readonly string[],
  its: { readonly connect: Connect } = { connect },
  look = lookInAws,
): Promise<number> {
  const { values, args, problems } = readLine("recover", argv, options, { arguments: ["spoke"] });
  refuse("recover", problems);
  const { spoke: name } = args;
  const { hub } = await its.connect(values.context);
  const { findSpoke, objectsOf } = await import("../kubernetes/spokes.ts");
  const { spec }: Spoke = await findSpoke(hub, name);
  const objects = await objectsOf(hub, name, managedKinds);
  const fleet = fleetOf(objects, name);
  const prefix = fleetNames(fleet).spokePrefix;
  const inAws = await look(
    { fleet, spoke: name, cluster: spokeNames(prefix, name).cluster, region: spec.region },
    values.profile === undefined ? {} : { profile: values.profile },
  );
  const where = `account ${inAws.account}, ${spec.region}`;
  refuseOtherAccount(name, spec.account?.id, inAws.account);
  const recognized = recognize({ spoke: name, fleet, prefix, spec }, inAws);
  refuseOthers(name, where, objects, inAws, recognized);
  const plan = planOf(objects, recognized);
  const said = report(plan);
  console.log(
    said.length === 0 ? `Nothing of ${name} was interrupted (${where})` : [`In ${where}:`, ...said].join("\n"),
  );
  const isToDo = plan.found.length + plan.again.length > 0;
  if (isToDo && values.yes) {
    await tell(hub, plan);
    console.log(`Crossplane was told. fleet why ${name} shows how it goes on`);
  } else if (isToDo) console.log("Nothing was changed: --yes does it");
  return plan.several.length + plan.failed.length + plan.unknown.length > 0 || (isToDo && !values.yes) ? 1 : 0;
}
