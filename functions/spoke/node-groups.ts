import { type FixedNodeFields, nodeDigest, nodeGroupName, sameFixedFields } from "../../lib/node-groups.ts";
import type { Context } from "./context.ts";
import { type Fact, fact } from "./facts.ts";
import { at, type KubeObject } from "./kube.ts";
import { failureMessage } from "./observed.ts";
import { type Resource, resources } from "./resources.ts";

/** The only node group of a Spoke had a key and a name without a digest, before a change of its fields made another one. */
const first = resources.nodeGroup();

/** The node group with a composition resource name; undefined for what is none. */
export function nodeGroupOf(key: string): Resource | undefined {
  const [found, digest] = /^node-group(?:-([0-9a-f]{8}))?$/.exec(key) ?? [];
  return found === undefined ? undefined : resources.nodeGroup(digest);
}

export interface NodeGroups {
  /** The group that the Spoke asks for, and its name in AWS. */
  readonly wanted: { readonly group: Resource; readonly name: string };
  /** Groups with other fields: they serve until the wanted one does. */
  readonly former: readonly Resource[];
  /** The group whose nodes are the spoke's at this moment. */
  readonly serving: Resource;
}

/** The fields that AWS has; those that were asked for while it has not said them. */
function fixedFields({ spec, status }: KubeObject): FixedNodeFields {
  const field = (name: string) => at(status, "atProvider", name) ?? at(spec, "forProvider", name);
  return {
    instanceTypes: field("instanceTypes") as readonly string[],
    amiType: field("amiType") as string,
    capacityType: field("capacityType") as string,
  };
}

/** Which node groups a spoke has and wants. A group whose fields did not change keeps its key and its name. */
export function nodeGroups({ names, observed, spoke }: Pick<Context, "names" | "observed" | "spoke">): NodeGroups {
  const { instanceTypes, amiType, capacityType } = spoke.spec.nodes;
  const fields = { instanceTypes, amiType, capacityType };
  const undigested = observed.get(first);
  const wanted =
    undigested !== undefined && sameFixedFields(fixedFields(undigested), fields)
      ? { group: first, name: names.nodeGroup }
      : { group: resources.nodeGroup(nodeDigest(fields)), name: nodeGroupName(names.nodeGroup, fields) };
  const inAws = (group: Resource) => observed.text(group, "status") !== undefined;
  // What AWS never took has no nodes to wait for.
  const isServing = (group: Resource, object: KubeObject) =>
    group.key !== wanted.group.key && (inAws(group) || failureMessage(object) === undefined);
  const former = [...observed.objects]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, object]) => {
      const group = nodeGroupOf(key);
      return group !== undefined && isServing(group, object) ? [group] : [];
    });
  return { wanted, former, serving: [wanted.group, ...former].find(inAws) ?? wanted.group };
}

/** That some node group works. */
export function anyNodes(context: Pick<Context, "names" | "observed" | "spoke">): Fact<true> {
  const { wanted, former } = nodeGroups(context);
  return fact("nodes", [wanted.group, ...former].some((group) => context.observed.ready(group)) || undefined);
}
