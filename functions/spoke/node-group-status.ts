import { crossplaneAnnotations } from "../../lib/labels.ts";
import type { NodeGroupStatus } from "./api.ts";
import type { Context } from "./context.ts";
import { known } from "./kube.ts";
import { nodeGroupOf, nodeGroups } from "./node-groups.ts";
import { failureMessage, isHealthy } from "./observed.ts";

/** Every node group that the hub knows, those that the Spoke asks for first. */
export function nodeGroupStatuses(context: Pick<Context, "names" | "observed" | "spoke">): readonly NodeGroupStatus[] {
  const { observed } = context;
  const { groups } = nodeGroups(context);
  const wanted = groups.map((group) => group.wanted.group.key as string);
  const others = [...observed.objects.keys()].filter((key) => !wanted.includes(key)).sort();
  return [...wanted, ...others].flatMap((key) => {
    const found = nodeGroupOf(key);
    const object = observed.objects.get(key);
    const nodeGroupName = object?.metadata.annotations?.[crossplaneAnnotations.externalName];
    if (found === undefined || object === undefined || nodeGroupName === undefined) return [];
    const { group: name, resource } = found;
    const working = isHealthy(object) ? "Ready" : failureMessage(object) === undefined ? "Creating" : "Failing";
    return [
      {
        name,
        nodeGroupName,
        state: wanted.includes(key) ? working : "Leaving",
        ...known({
          nodes: observed.number(resource, "scalingConfig", "desiredSize"),
          kubernetesVersion: observed.text(resource, "version"),
          releaseVersion: observed.text(resource, "releaseVersion"),
        }),
      },
    ];
  });
}
