import { nodeDigest, nodeGroupName } from "../../lib/node-groups.ts";
import type { Taint } from "./api.ts";
import { type AskedGroup, askedGroups, firstGroup } from "./asked-groups.ts";
import { isAuto } from "./auto-mode.ts";
import type { Context } from "./context.ts";
import { type Fact, fact } from "./facts.ts";
import { at, worksInAws } from "./kube.ts";
import { isMadeElsewhere } from "./made-elsewhere.ts";
import { failureMessage } from "./observed.ts";
import { type Resource, resources } from "./resources.ts";
import { compareVersions } from "./versions.ts";

/** A node group or launch template, and the name of its group in `spec.nodeGroups`. */
interface OfGroup {
  readonly group: string;
  readonly resource: Resource;
}

/** The node group with a composition resource name; undefined for other resources. */
export function nodeGroupOf(key: string): OfGroup | undefined {
  const [isFirst, firstDigest] = /^node-group(?:-([0-9a-f]{8}))?$/.exec(key) ?? [];
  if (isFirst !== undefined) return { group: firstGroup, resource: resources.nodeGroup(firstDigest) };
  const [, group, digest] = /^node-group-(.+)-([0-9a-f]{8})$/.exec(key) ?? [];
  return group === undefined || digest === undefined
    ? undefined
    : { group, resource: resources.furtherGroup(group, digest) };
}

/** The launch template of the group that is called so. */
export const templateOf = (group: string): Resource =>
  group === firstGroup ? resources.launchTemplate : resources.furtherTemplate(group);

/** Likewise of a launch template. */
export function launchTemplateOf(key: string): OfGroup | undefined {
  const [found, group = firstGroup] = /^launch-template(?:-(.+))?$/.exec(key) ?? [];
  return found === undefined ? undefined : { group, resource: templateOf(group) };
}

/** A node group that the Spoke asks for. */
export interface NodeGroup {
  readonly asked: AskedGroup;
  /** The group in EKS that has what the Spoke asks for, and its name there. */
  readonly wanted: { readonly group: Resource; readonly name: string };
  /** Groups with other fields: they run the spoke's pods until the wanted one is ready. */
  readonly former: readonly Resource[];
  /** The group whose nodes run the spoke's pods at present. */
  readonly serving: Resource;
}

export interface NodeGroups {
  /** In the order of the Spoke. */
  readonly groups: readonly NodeGroup[];
  /** Groups that the Spoke asked for before: they go when all of `groups` are ready, and one of these takes all pods. */
  readonly leaving: readonly Resource[];
}

type Known = Pick<Context, "names" | "observed" | "spoke">;

function wantedOf({ names, spoke }: Known, asked: AskedGroup): NodeGroup["wanted"] {
  const { name, instanceTypes, amiType, capacityType } = asked;
  const fields = { instanceTypes, amiType, capacityType };
  const digest = nodeDigest(fields);
  if (name !== firstGroup)
    return { group: resources.furtherGroup(name, digest), name: nodeGroupName(names.furtherGroup(name), fields) };
  return isMadeElsewhere(spoke)
    ? { group: resources.nodeGroup(), name: names.nodeGroup }
    : { group: resources.nodeGroup(digest), name: nodeGroupName(names.nodeGroup, fields) };
}

/** Which node groups a spoke has and wants. A group whose fields did not change keeps its key and its name. */
export function nodeGroups(known: Known): NodeGroups {
  const { observed, spoke } = known;
  const asked = askedGroups(spoke.spec).map((group) => ({ asked: group, wanted: wantedOf(known, group) }));
  const wanted = new Set<string>(asked.map((group) => group.wanted.group.key));
  const works = (group: Resource) => worksInAws(observed.get(group)) === true;
  // A group that AWS never accepted, or failed to make, has no nodes to wait for.
  const others = [...observed.objects]
    .flatMap(([key, object]) => {
      const found = wanted.has(key) ? undefined : nodeGroupOf(key);
      return found !== undefined && (works(found.resource) || failureMessage(object) === undefined) ? [found] : [];
    })
    .sort((a, b) => (a.resource.key < b.resource.key ? -1 : 1));
  const otherOf = (name: string) => others.flatMap(({ group, resource }) => (group === name ? [resource] : []));
  return {
    groups: asked.map((group) => {
      const former = otherOf(group.asked.name);
      const all = [group.wanted.group, ...former];
      return { ...group, former, serving: all.find(works) ?? group.wanted.group };
    }),
    leaving: others.flatMap(({ group, resource }) =>
      asked.some((each) => each.asked.name === group) ? [] : [resource],
    ),
  };
}

/** The oldest Kubernetes version that nodes run; undefined while there are none. */
export const oldestNodes = (observed: Context["observed"], groups: readonly NodeGroup[]): string | undefined =>
  groups.flatMap(({ serving }) => observed.text(serving, "version") ?? []).sort(compareVersions)[0];

/** Whether a group lets pods in that tolerate nothing. What taints that of `spec.nodes` has is nobody's business. */
function isOpen({ observed, spoke }: Known, group: Resource): boolean {
  if (spoke.spec.nodeGroups === undefined) return true;
  const { spec, status } = observed.get(group) ?? {};
  // As AWS has them; before it tells, as they were requested.
  const taints = at(status, "atProvider", "taint") ?? at(spec, "forProvider", "taint") ?? [];
  return Array.isArray(taints) && taints.every((taint) => at(taint, "effect") === "PREFER_NO_SCHEDULE");
}

/** Whether a group works, and its nodes take pods that tolerate nothing. */
const takesAll = (known: Known, group: Resource): boolean => known.observed.ready(group) && isOpen(known, group);

const isSoft = ({ effect }: Taint): boolean => effect === "PreferNoSchedule";

/** Whether a group that is to be open to all pods is there: what else runs them may go, or get its taints. */
export const anyToStayOpen = (known: Known, groups: readonly NodeGroup[]): boolean =>
  groups.some(({ asked: { taints = [] }, wanted }) => taints.every(isSoft) && takesAll(known, wanted.group));

/** The taints that a group is to have now: one that is open stays so until one is there that is to be. */
export const presentTaints = (
  known: Known,
  { asked: { taints }, wanted: { group } }: NodeGroup,
  groups: readonly NodeGroup[],
): readonly Taint[] | undefined =>
  known.observed.has(group) && isOpen(known, group) && !anyToStayOpen(known, groups) ? taints?.filter(isSoft) : taints;

/**
 * Known once nodes are there that take what every cluster runs: CoreDNS, the EBS CSI driver, Flux. EKS Auto Mode starts some for the first pods
 * as soon as the control plane works.
 */
export function anyNodes(context: Known): Fact<true> {
  if (isAuto(context.spoke)) return fact("controlPlane", context.observed.ready(resources.cluster) || undefined);
  const { groups, leaving } = nodeGroups(context);
  const all = [...groups.flatMap(({ wanted, former }) => [wanted.group, ...former]), ...leaving];
  return fact("nodes", all.some((group) => takesAll(context, group)) || undefined);
}

/** Launch templates of groups that the Spoke asked for before. They go after these, whose nodes EKS drains meanwhile. */
export const leavingTemplates = ({ observed, spoke }: Pick<Known, "observed" | "spoke">): readonly OfGroup[] => {
  const asked = askedGroups(spoke.spec).map(({ name }) => name);
  return [...observed.objects.keys()].flatMap((key) => {
    const found = launchTemplateOf(key);
    return found === undefined || asked.includes(found.group) ? [] : [found];
  });
};
