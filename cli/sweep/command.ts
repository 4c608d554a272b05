import { autoModeTags } from "../../lib/labels.ts";
import { headed } from "../columns.ts";
import { type Connect, connect } from "../kubernetes/connect.ts";
import { readLine } from "../line.ts";
import { refuseOtherAccount, spokeAccountHelp, spokeAccountOptions } from "../spoke-account.ts";
import { refuse, UsageError } from "../usage.ts";
import type { Aws } from "./aws.ts";
import { type Item, isMadeFor, type Plan, planOf } from "./plan.ts";
import { targetOf } from "./target.ts";

export const summary = "remove what keeps the VPC of a spoke that is being removed";

export const help = `Usage: fleet sweep <spoke> [--yes] [options]

A removal can't end while something is in the spoke's VPC that nobody manages: load balancers, network interfaces that the VPC
CNI detached and did not delete any more, the security groups that EKS and controllers made, the endpoint and security group
of GuardDuty. This looks for them by the tags that EKS, its controllers and GuardDuty set, and removes them, load balancers
with their target groups. It names what else is there, which it leaves alone. Volumes that nothing uses and snapshots keep no
VPC, and hold data: they are named too, and each goes only if --data names it. Only for a spoke that is being removed, and
once EKS has deleted its cluster; of one that Cluster API made, when its Spoke is gone. Without --yes it says what it would
do. When the VPC is gone already it looks for the data alone. In a VPC that is not the spoke's own (spec.network.existing) it
names and removes only what carries the name of the cluster.

${spokeAccountHelp}
  --data ID              remove this volume or snapshot of the cluster too, with what is in it; may be given again

The hub is read with your own rights. AWS is asked with those in docs/reference/deployer-policy/fleet-sweep.json.

Exit code 0: nothing keeps the VPC, or what kept it was removed; 1: something else keeps it, AWS is still removing interfaces
of load balancers or endpoints that are gone (run it again in a few minutes), or without --yes there is something to do; 2: it
was called wrongly, or there is no such spoke, or it is not its time.

Examples:
  fleet sweep green
  fleet sweep green --profile spokes --yes
  fleet sweep green --yes --data vol-0123456789abcdef0
`;

export const options = {
  ...spokeAccountOptions,
  data: { type: "string", multiple: true, default: [] as string[] },
} as const;

// The clients of the AWS SDK take a moment to load, which a wrong command line need not wait for.
const inAws: Aws = {
  look: async (...args) => (await import("./aws.ts")).look(...args),
  remove: async (...args) => (await import("./aws.ts")).remove(...args),
};

const lines = (head: string, items: readonly Item[]): string[] =>
  headed(
    head,
    items.map(({ id, description }) => `${id}  ${description}`.trimEnd()),
  );

const report = ({ balancers, targetGroups, endpoints, leaving, interfaces, groups, others, data }: Plan): string[] => [
  ...lines("Load balancers that controllers left behind:", balancers),
  ...lines("Target groups that controllers left behind:", targetGroups),
  ...lines("VPC endpoints of GuardDuty Runtime Monitoring:", endpoints),
  ...lines("Network interfaces of load balancers and endpoints, which AWS removes some minutes after them:", leaving),
  ...lines("Network interfaces that the VPC CNI left behind:", interfaces),
  ...lines("Security groups that EKS, a controller or GuardDuty left behind:", groups),
  ...lines("Also there, and not removed by this. Look whose it is, and delete it in AWS:", others),
  ...lines("Volumes that nothing uses, and snapshots. They keep no VPC, and hold data; --data ID removes one:", data),
];

/** @throws UsageError where `ids` name something else than volumes and snapshots that the cluster's driver or Auto Mode made */
function chosen(ids: readonly string[], data: readonly Item[], cluster: string): readonly Item[] {
  const mayGo = data.filter((item) => isMadeFor(item, cluster));
  const wrong = ids.filter((id) => !mayGo.some((item) => item.id === id));
  if (wrong.length > 0)
    throw new UsageError(
      `--data ${wrong.join(", ")}: is no volume that nothing uses, and no snapshot, with the tags eks-cluster-name: ${cluster} and ebs.csi.aws.com/cluster: true, which the EBS CSI driver sets, or ${autoModeTags.cluster}: ${cluster} and ${autoModeTags.volume}, which EKS Auto Mode sets. Allowed: ${mayGo.map(({ id }) => id).join(", ") || "none"}. What is somebody else's is deleted in AWS. Nothing was changed`,
    );
  return mayGo.filter(({ id }) => ids.includes(id));
}

export async function run(
  argv: readonly string[],
  its: { readonly connect: Connect } = { connect },
  aws: Aws = inAws,
): Promise<number> {
  const { values, args, problems } = readLine("sweep", argv, options, { arguments: ["spoke"] });
  refuse("sweep", problems);
  const { spoke: name } = args;
  const { hub } = await its.connect(values.context);
  const { remover, account: known, isShared, ...sought } = await targetOf(hub, name);
  const { cluster, vpc } = sought;
  const config = values.profile === undefined ? {} : { profile: values.profile };
  const found = await aws.look(sought, config);
  refuseOtherAccount(name, known, found.account);
  if (found.hasCluster)
    throw new UsageError(
      `EKS still has the cluster ${cluster}, which uses the VPC: ${remover === "Crossplane" ? `fleet why ${name}` : "kubectl -n cluster-api-clusters describe awsmanagedcontrolplanes,machinepools"} says what it waits for`,
    );
  const plan = planOf(cluster, name, found, isShared);
  const { balancers, targetGroups, endpoints, interfaces, groups, others } = plan;
  const data = chosen(values.data, plan.data, cluster);
  const said = report(plan);
  const account = `account ${found.account}, ${sought.region}`;
  const where = vpc === undefined ? account : `${vpc} (${account})`;
  if (vpc === undefined) console.log(`${name} has no VPC any more`);
  console.log(said.length === 0 ? `Nothing of the cluster is left in ${where}` : [`In ${where}:`, ...said].join("\n"));
  const keepsVpc = [balancers, targetGroups, endpoints, interfaces, groups].some(({ length }) => length > 0);
  const isToDo = keepsVpc || data.length > 0;
  const goes = isToDo && values.yes;
  // Nothing is removed after these interfaces where nothing else keeps the VPC.
  const leaving = keepsVpc ? plan.leaving : [];
  if (goes) {
    if (leaving.length > 0) console.log("Waits until AWS has removed the interfaces of load balancers and endpoints …");
    await aws.remove(sought, config, { ...plan, leaving, data });
    console.log(
      keepsVpc
        ? `Removed what was left behind. ${remover} tries again within ${remover === "Crossplane" ? "a minute" : "some minutes"}`
        : "Removed what --data named, which kept no VPC",
    );
  } else if (isToDo) console.log("Nothing was changed: --yes does it");
  const isLate = plan.leaving.length > leaving.length;
  if (isLate)
    console.log("AWS is still removing the interfaces of load balancers and endpoints; run it again in a few minutes");
  return others.length > 0 || isLate || (isToDo && !goes) ? 1 : 0;
}
