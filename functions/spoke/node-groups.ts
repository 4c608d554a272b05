import { type FixedNodeFields, nodeDigest, nodeGroupName, sameFixedFields } from "../../lib/node-groups.ts";
import type { Context } from "./context.ts";
import { at, type KubeObject } from "./kube.ts";
import { failure } from "./observed.ts";

/** The only node group of a Spoke had this key, and a name without a digest, before a change of its fields made another one. */
const firstKey = "node-group";

/** Whether a composition resource name is that of a node group. */
export const isNodeGroup = (key: string): boolean => /^node-group(-[0-9a-f]{8})?$/.test(key);

export interface NodeGroups {
  /** The group that the Spoke asks for: its composition resource name, and its name in AWS. */
  readonly wanted: { readonly key: string; readonly name: string };
  /** Composition resource names of groups with other fields: they serve until the wanted one does. */
  readonly former: readonly string[];
  /** The group whose nodes are the spoke's at this moment. */
  readonly serving: string;
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
  const first = observed.get(firstKey);
  const wanted =
    first !== undefined && sameFixedFields(fixedFields(first), fields)
      ? { key: firstKey, name: names.nodeGroup }
      : { key: `${firstKey}-${nodeDigest(fields)}`, name: nodeGroupName(names.nodeGroup, fields) };
  const inAws = (key: string) => observed.text(key, "status") !== undefined;
  // What AWS never took has no nodes to wait for.
  const former = [...observed.objects]
    .filter(([key, object]) => isNodeGroup(key) && key !== wanted.key && (inAws(key) || failure(object) === undefined))
    .map(([key]) => key)
    .sort();
  return { wanted, former, serving: [wanted.key, ...former].find(inAws) ?? wanted.key };
}

/** A fact for prerequisites: some node group works. */
export function anyNodes(context: Pick<Context, "names" | "observed" | "spoke">): true | undefined {
  const { wanted, former } = nodeGroups(context);
  return [wanted.key, ...former].some((key) => context.observed.ready(key)) || undefined;
}
