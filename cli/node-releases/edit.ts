import { type Document, isMap, isScalar, parseDocument } from "yaml";
import { compareReleases } from "../../lib/node-releases.ts";
import { channelOf, channelPrefix } from "../environment/composition.ts";
import { type AmiParameter, isAmiType, parameters, standardTypes } from "./aws.ts";

/** The new text of a file, and its changes, each as a line for a person. */
export interface Edited {
  readonly text: string;
  readonly changes: readonly string[];
}

const table = ["spec", "pipeline", 0, "input", "kubernetesVersions"];

/** Whether there is no release yet, or an older one. EKS rolls none back (UpdateNodegroupVersion, API reference). */
const isOlder = (release: unknown, than: string, amiType: string): boolean =>
  typeof release !== "string" || compareReleases(amiType, release, than) < 0;

const change = (where: string, before: unknown, after: string): string =>
  `${where}: ${typeof before === "string" && before !== "" ? before : "none"} -> ${after}`;

const written = (document: Document): string => document.toString({ lineWidth: 0, flowCollectionPadding: false });

/**
 * The Composition with the newest releases for each of its Kubernetes versions, of the AMI types of `spec.nodes` and of those that it names
 * there already. With `channels` only these environments get it.
 * @throws Error for a file of another form, or a channel that it does not have
 */
export async function raised(
  text: string,
  channels: readonly string[],
  newest: (wanted: readonly AmiParameter[]) => Promise<ReadonlyMap<AmiParameter, string>>,
): Promise<Edited> {
  const document = parseDocument(text);
  const versions = document.getIn(table);
  if (document.errors.length > 0 || !isMap(versions))
    throw new Error(
      "platform/composition/composition.yaml has no table kubernetesVersions in the input of its first step",
    );
  const wanted = versions.items.flatMap(({ key }) => {
    const nodes = document.getIn([...table, String(key), "nodes"]);
    const named = isMap(nodes) ? nodes.items.map((item) => String(item.key)).filter(isAmiType) : [];
    return parameters([String(key)], [...new Set([...standardTypes, ...named])]);
  });
  const releases = await newest(wanted);
  const changes: string[] = [];
  for (const [{ kubernetesVersion, amiType }, release] of releases) {
    const path = [...table, kubernetesVersion, "nodes", amiType];
    const before = document.getIn(path);
    if (!isOlder(before, release, amiType)) continue;
    const version = document.getIn([...table, kubernetesVersion]);
    // One without add-on versions is written as {}.
    if (isMap(version)) version.flow = false;
    document.setIn(path, release);
    changes.push(change(`Kubernetes ${kubernetesVersion}, ${amiType}`, before, release));
  }
  if (changes.length === 0) return { text, changes };
  changes.push(...promoted(document, channels));
  return { text: written(document), changes };
}

function promoted(document: Document, channels: readonly string[]): string[] {
  const labels = document.getIn(["metadata", "labels"]);
  const known = isMap(labels)
    ? labels.items.flatMap(({ key }) => (String(key).startsWith(channelPrefix) ? [String(key)] : []))
    : [];
  const environments = known.map((key) => key.slice(channelPrefix.length));
  const unknown = channels.filter((channel) => !environments.includes(channel));
  if (unknown.length > 0)
    throw new Error(`--channel ${unknown.join(", ")}: the Composition has the channels ${environments.join(", ")}`);
  if (channels.length === 0) return [];
  return environments.flatMap((environment) => {
    const path = ["metadata", "labels", channelOf(environment)];
    const value = String(channels.includes(environment));
    if (document.getIn(path) === value) return [];
    document.setIn(path, value);
    return [
      `channel ${environment}: ${value === "true" ? "takes this now" : "takes this when its label is true again"}`,
    ];
  });
}

const nodeReleaseVersion = "eks-gitops-fleet:nodeReleaseVersion";

/** The file of a hub's stack with the newest release. In the text: the file belongs to a person and to `pulumi config set`. */
export function raisedHub(text: string, stack: string, release: string): Edited {
  const document = parseDocument(text);
  const node = document.getIn(["config", nodeReleaseVersion], true);
  const before = isScalar(node) ? node.value : undefined;
  // A release of another minor can't be compared.
  const isOfMinor = typeof before === "string" && minor(before) === minor(release);
  if (isOfMinor && !isOlder(before, release, "AL2023")) return { text, changes: [] };
  const [start, end] = (isScalar(node) && node.range) || [];
  const changed =
    start === undefined || end === undefined
      ? text.replace(/^config:[ \t]*\n(?:[ \t]*(?:#.*)?\n)*([ \t]+)/m, `$&${nodeReleaseVersion}: ${release}\n$1`)
      : text.slice(0, start) + release + text.slice(end);
  if (parseDocument(changed).getIn(["config", nodeReleaseVersion]) !== release)
    throw new Error(
      `the file of stack ${stack} has no map config in lines of its own: pulumi config set nodeReleaseVersion ${release}`,
    );
  return { text: changed, changes: [change(`hub of stack ${stack}`, before, release)] };
}

const minor = (release: string): string => release.split(".").slice(0, 2).join(".");
