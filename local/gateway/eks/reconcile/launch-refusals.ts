import { isStandard, quotas, vcpuQuotas } from "../../../product.ts";
import type { NodegroupRecord } from "../model.ts";
import { failUpdates, runningUpdates } from "../updates.ts";
import { changeGroup, type Work } from "./nodegroup-nodes.ts";
import { JOIN_SECONDS } from "./nodegroup-start.ts";

const capacityOf = ({ nodegroup }: NodegroupRecord) => nodegroup.capacityType ?? "ON_DEMAND";
const typeOf = ({ nodegroup }: NodegroupRecord): string => nodegroup.instanceTypes[0] ?? "";
const isSpot = (group: NodegroupRecord): boolean => capacityOf(group) === "SPOT";
const quotaOf = (group: NodegroupRecord) => quotas[vcpuQuotas[isSpot(group) ? "SPOT" : "ON_DEMAND"]];

/** Why Auto Scaling can't start instances with the keys of the group's volumes, in its words (terraform-provider-aws issue 39904); undefined where it can. */
async function keyRefusal({ context }: Work, { nodegroup }: NodegroupRecord): Promise<string | undefined> {
  if (nodegroup.launchTemplate === undefined) return undefined;
  const problem = await context.aws.volumeKeyProblem(nodegroup.launchTemplate);
  return (
    problem &&
    `Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: ${problem}`
  );
}

/** How many more nodes of a group EC2 launches: none with keys of volumes that Auto Scaling may not use. The faults decide whether nodes count against the quotas of vCPUs, as on AWS. */
export async function launchable(work: Work, group: NodegroupRecord): Promise<number> {
  const { context } = work;
  if ((await keyRefusal(work, group)) !== undefined) return 0;
  if (!isStandard(typeOf(group)) || !(await context.nodesTakeVcpus())) return Number.POSITIVE_INFINITY;
  const vcpus = async (type: string): Promise<number> =>
    isStandard(type) ? (await context.aws.instanceSize(type)).cpus : 0;
  const groups = context.store.list().flatMap(({ nodegroups }) => Object.values(nodegroups));
  const types = [
    ...groups
      .filter((other) => isSpot(other) === isSpot(group))
      .flatMap((other) => other.nodes.map(() => typeOf(other))),
    ...(await context.aws.launchedInstances()).filter(({ spot }) => spot === isSpot(group)).map(({ type }) => type),
  ];
  const used = (await Promise.all(types.map(vcpus))).reduce((sum, each) => sum + each, 0);
  const room = (await context.aws.quota(quotaOf(group))) - used;
  return Math.max(0, Math.floor(room / (await vcpus(typeOf(group)))));
}

/** As Auto Scaling words it (mludvig/aws-ethereum-miner#23), with EC2's codes and messages (scrapoxy/scrapoxy#202, aws-parallelcluster#1115). */
const refusalOf = (group: NodegroupRecord, limit: number): string =>
  isSpot(group)
    ? "Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded. Launching EC2 instance failed."
    : `Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU capacity than your current vCPU limit of ${limit} ` +
      "allows for the instance bucket that the specified instance type belongs to. Please visit " +
      "http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. Launching EC2 instance failed.";

/**
 * Records that EC2 launches no more nodes of a group. Its creation fails after a while, with the issue that EKS gives to such failures (EKS API
 * Reference, Issue). An update ends as NodeCreationFailure (EKS User Guide, "Understand each phase of node updates", scale up phase).
 */
export async function launchRefused(work: Work, group: NodegroupRecord): Promise<void> {
  const { context, name } = work;
  const message = (await keyRefusal(work, group)) ?? refusalOf(group, await context.aws.quota(quotaOf(group)));
  await changeGroup(work, ({ nodegroup }, stored) => {
    const resourceIds = nodegroup.resources?.autoScalingGroups?.map((each) => each.name ?? "") ?? [];
    nodegroup.health = { issues: [{ code: "AsgInstanceLaunchFailures", message, resourceIds }] };
    if (context.now() - (nodegroup.modifiedAt ?? 0) < JOIN_SECONDS) return;
    if (nodegroup.status === "CREATING") nodegroup.status = "CREATE_FAILED";
    if (runningUpdates(stored, { nodegroupName: name }).length === 0) return;
    nodegroup.status = "ACTIVE";
    failUpdates(stored, name, { errorCode: "NodeCreationFailure", errorMessage: message, resourceIds });
  });
}
