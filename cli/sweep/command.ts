import type { Spoke } from "../../functions/spoke/api.ts";
import { managedKinds } from "../../functions/spoke/kinds.ts";
import { textAt } from "../../functions/spoke/kube.ts";
import { crossplaneAnnotations } from "../../lib/labels.ts";
import { fleetNames } from "../../lib/names.ts";
import { spokeNames } from "../../lib/spoke.ts";
import { type Connect, connect } from "../kubernetes/connect.ts";
import { readLine } from "../line.ts";
import { fleetOf, refuseOtherAccount, spokeAccountHelp, spokeAccountOptions } from "../spoke-account.ts";
import { refuse, UsageError } from "../usage.ts";
import type { Aws } from "./aws.ts";
import { type Item, type Plan, planOf } from "./plan.ts";

export const summary = "remove what keeps the VPC of a spoke that is being removed";

export const help = `Usage: fleet sweep <spoke> [--yes] [options]

A removal can't end while something is in the spoke's VPC that nobody manages: network interfaces that the VPC CNI detached and
did not delete any more, the security group that EKS made, groups of load balancers. This looks for them by the tags that EKS and
its controllers set, and removes them. It names what else is there, and volumes that nothing uses, which it leaves alone: they
hold data. Only for a spoke that is being removed, and once EKS has deleted its cluster. Without --yes it says what it would do.

${spokeAccountHelp}

The hub is read with your own rights. AWS is asked with those in docs/reference/deployer-policy/fleet-sweep.json.

Exit code 0: nothing keeps the VPC, or what kept it was removed; 1: something else keeps it, or without --yes there is something
to do; 2: it was called wrongly, or there is no such spoke, or it is not its time.

Examples:
  fleet sweep green
  fleet sweep green --profile spokes --yes
`;

export const options = spokeAccountOptions;

// The clients of the AWS SDK take a moment to load, which a wrong command line need not wait for.
const inAws: Aws = {
  look: async (...args) => (await import("./aws.ts")).look(...args),
  remove: async (...args) => (await import("./aws.ts")).remove(...args),
};

const lines = (head: string, items: readonly Item[]): string[] =>
  items.length === 0 ? [] : [head, ...items.map(({ id, description }) => `  ${id}  ${description}`.trimEnd())];

const report = ({ interfaces, groups, others, volumes }: Plan): string[] => [
  ...lines("Network interfaces that the VPC CNI left behind:", interfaces),
  ...lines("Security groups that EKS or a controller left behind:", groups),
  ...lines("Also there, and not removed by this. Look whose it is, and delete it in AWS:", others),
  ...lines("Volumes that nothing uses. They keep no VPC, and hold data; aws ec2 delete-volume removes one:", volumes),
];

export async function run(
  argv: readonly string[],
  its: { readonly connect: Connect } = { connect },
  aws: Aws = inAws,
): Promise<number> {
  const { values, args, problems } = readLine("sweep", argv, options, { arguments: ["spoke"] });
  refuse("sweep", problems);
  const { spoke: name } = args;
  const { hub } = await its.connect(values.context);
  const { findSpoke, objectsOf } = await import("../kubernetes/spokes.ts");
  const spoke: Spoke = await findSpoke(hub, name);
  if (spoke.status?.phase !== "Deleting")
    throw new UsageError(
      `spoke ${name} is not being removed: its phase is ${spoke.status?.phase ?? "not known yet"}. fleet remove ${name} removes it`,
    );
  const objects = await objectsOf(hub, name, managedKinds);
  const network = objects.find(({ kind }) => kind === "VPC");
  const vpc = network?.metadata.annotations?.[crossplaneAnnotations.externalName];
  if (network === undefined || vpc === undefined) {
    console.log(`${name} has no VPC any more`);
    return 0;
  }
  const { cluster } = spokeNames(fleetNames(fleetOf(objects, name)).spokePrefix, name);
  const sought = { cluster, vpc, region: spoke.spec.region };
  const config = values.profile === undefined ? {} : { profile: values.profile };
  const found = await aws.look(sought, config);
  // What the hub made says in which account, also of a Spoke that names none.
  const id = textAt(network.status, "atProvider", "arn")?.split(":")[4] ?? spoke.spec.account?.id;
  refuseOtherAccount(name, id, found.account);
  if (found.hasCluster)
    throw new UsageError(
      `EKS still has the cluster ${cluster}, which uses the VPC: fleet why ${name} says what it waits for`,
    );
  const plan = planOf(cluster, name, found);
  const said = report(plan);
  const where = `${vpc} (account ${found.account}, ${sought.region})`;
  console.log(said.length === 0 ? `Nothing of the cluster is left in ${where}` : [`In ${where}:`, ...said].join("\n"));
  const isToDo = plan.interfaces.length + plan.groups.length > 0;
  if (isToDo && values.yes) {
    await aws.remove(sought, config, plan);
    console.log("Removed what was left behind. Crossplane tries again within a minute");
  } else if (isToDo) console.log("Nothing was changed: --yes does it");
  return plan.others.length > 0 || (isToDo && !values.yes) ? 1 : 0;
}
