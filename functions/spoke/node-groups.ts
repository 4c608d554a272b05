import { type FixedNodeFields, nodeDigest, nodeGroupName, sameFixedFields } from "../../lib/node-groups.ts";
import type { Context } from "./context.ts";
import { existingIds } from "./existing.ts";
import { type Fact, fact } from "./facts.ts";
import { at, type KubeObject, worksInAws } from "./kube.ts";
import { isMadeElsewhere } from "./made-elsewhere.ts";
import { failureMessage } from "./observed.ts";
import { type Resource, resources } from "./resources.ts";

/** The node group of a Spoke from before names had a digest, and of a cluster that is made elsewhere. */
const first = resources.nodeGroup();

/** The node group with a composition resource name; undefined for other resources. */
export function nodeGroupOf(key: string): Resource | undefined {
  const [found, digest] = /^node-group(?:-([0-9a-f]{8}))?$/.exec(key) ?? [];
  return found === undefined ? undefined : resources.nodeGroup(digest);
}

export interface NodeGroups {
  /** The group that the Spoke asks for, and its name in AWS. */
  readonly wanted: { readonly group: Resource; readonly name: string };
  /** Groups with other fields: they run the spoke's pods until the wanted one is ready. */
  readonly former: readonly Resource[];
  /** The group whose nodes run the spoke's pods at present. */
  readonly serving: Resource;
}

/** The fields as AWS reports them; before that, as they were requested. */
function fixedFields({ spec, status }: KubeObject): FixedNodeFields {
  const field = (name: string) => at(status, "atProvider", name) ?? at(spec, "forProvider", name);
  return {
    instanceTypes: field("instanceTypes") as readonly string[],
    amiType: field("amiType") as string,
    capacityType: field("capacityType") as string,
  };
}

/** Whether the hub knows any node group of the spoke. */
const anyObserved = ({ objects }: Context["observed"]): boolean =>
  [...objects.keys()].some((key) => nodeGroupOf(key) !== undefined);

/** Which node groups a spoke has and wants. A group whose fields did not change keeps its key and its name. */
export function nodeGroups({ names, observed, spoke }: Pick<Context, "names" | "observed" | "spoke">): NodeGroups {
  const { instanceTypes, amiType, capacityType } = spoke.spec.nodes;
  const fields = { instanceTypes, amiType, capacityType };
  const undigested = observed.get(first);
  const isFirst =
    isMadeElsewhere(spoke) ||
    (undigested === undefined
      ? existingIds(spoke).has(first.key) && !anyObserved(observed)
      : sameFixedFields(fixedFields(undigested), fields));
  const wanted = isFirst
    ? { group: first, name: names.nodeGroup }
    : { group: resources.nodeGroup(nodeDigest(fields)), name: nodeGroupName(names.nodeGroup, fields) };
  const works = (group: Resource) => worksInAws(observed.get(group)) === true;
  // A group that AWS never accepted, or failed to make, has no nodes to wait for.
  const isServing = (group: Resource, object: KubeObject) =>
    group.key !== wanted.group.key && (works(group) || failureMessage(object) === undefined);
  const former = [...observed.objects]
    .flatMap(([key, object]) => {
      const group = nodeGroupOf(key);
      return group !== undefined && isServing(group, object) ? [group] : [];
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return { wanted, former, serving: [wanted.group, ...former].find(works) ?? wanted.group };
}

/** Known once some node group works. */
export function anyNodes(context: Pick<Context, "names" | "observed" | "spoke">): Fact<true> {
  const { wanted, former } = nodeGroups(context);
  return fact("nodes", [wanted.group, ...former].some((group) => context.observed.ready(group)) || undefined);
}
