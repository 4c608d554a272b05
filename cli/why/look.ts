import type { Spoke } from "../../functions/spoke/api.ts";
import { condition } from "../../functions/spoke/kube.ts";
import { isPlatformNamespace } from "../../lib/names.ts";
import { ask } from "../kubernetes/ask.ts";
import type { Fleet } from "../kubernetes/fleet.ts";
import { accessOf, clusterKind } from "../kubernetes/spokes.ts";
import { UsageError } from "../usage.ts";
import { type Finding, findingsOf, findingsOfSpoke, unreachedFinding } from "./findings.ts";
import { type Node, type Path, pathsOf } from "./paths.ts";
import { type Details, readDetails, readHub, readSpoke } from "./read.ts";

/** Milliseconds that a spoke may take for all that it is asked at once. */
const DEADLINE = 15_000;

/** Paths whose ends are looked into: each takes some calls. */
const MOST = 10;

/** The application that something on a spoke belongs to: its namespace; undefined for the platform's own. */
function applicationOf({ side, object }: Node): string | undefined {
  const { namespace } = object.metadata;
  return side === "hub" || namespace === undefined || isPlatformNamespace(namespace) ? undefined : namespace;
}

/** The application that a path leads to; undefined where the spoke itself is hindered. */
const leadsTo = (path: Path): string | undefined => path.map(applicationOf).find((name) => name !== undefined);

/** Paths that matter for an application: its own, and those of the spoke. @throws UsageError when the spoke has no such application */
function concerning(spoke: string, application: string, paths: readonly Path[], nodes: readonly Node[]): Path[] {
  const ofSpoke = paths.filter((path) => leadsTo(path) === undefined);
  const known = [...new Set(nodes.flatMap((node) => applicationOf(node) ?? []))].sort();
  // While its folder can't be applied, an application is not there.
  if (!known.includes(application) && ofSpoke.length === 0)
    throw new UsageError(
      `the spoke has no application ${application}; it has ${known.join(", ") || "none"}. An application has the name of its namespace. One that was pushed just now may not be applied yet: kubectl --context <cluster> -n flux-system get kustomizations shows which commit is, and fleet why ${spoke} what hinders the spoke`,
    );
  return [...paths.filter((path) => leadsTo(path) === application), ...ofSpoke];
}

/** Everything that hinders a spoke, or one of its applications. */
export async function hindrances(
  { hub, reach }: Fleet,
  spoke: Spoke,
  application: string | undefined,
): Promise<Finding[]> {
  const { name } = spoke.metadata;
  const [ofHub, clusters] = await Promise.all([readHub(hub, spoke), hub.list(clusterKind)]);
  const access = accessOf(spoke, clusters);
  const asked = typeof access === "string" ? undefined : access;
  const question = <T>(work: Parameters<typeof ask<T>>[2]) =>
    asked === undefined ? Promise.reject(new Error("no API server")) : ask(reach, [name, asked], work, DEADLINE);

  let unreached: string | undefined;
  let onSpoke: readonly Node[] = [];
  if (asked !== undefined) {
    try {
      onSpoke = await question(readSpoke);
    } catch (error) {
      unreached = (error as Error).message;
    }
  }
  const nodes = [...ofHub.nodes, ...onSpoke];
  const all = pathsOf(nodes);
  const wanted = application === undefined || unreached !== undefined ? all : concerning(name, application, all, nodes);
  const isAsked = asked !== undefined && unreached === undefined;
  const nothing = { objects: [], troubles: [], events: [] };
  /** What is at the end of a path; a question that fails takes nothing away from what is known. */
  const lookInto = async (path: Path): Promise<{ readonly details: Details; readonly failure?: string }> => {
    const last = path.at(-1);
    if (!isAsked || last === undefined) return { details: nothing };
    try {
      return { details: await question((api) => readDetails(api, last)) };
    } catch (error) {
      return { details: nothing, failure: (error as Error).message };
    }
  };
  const looks = await Promise.all(wanted.slice(0, MOST).map(async (path) => ({ path, ...(await lookInto(path)) })));
  const own = looks.flatMap(({ path, details }) => findingsOf(path, details, ofHub.events));
  const failure = unreached ?? looks.find((each) => each.failure !== undefined)?.failure;
  const isReady = condition(spoke, "Ready")?.status === "True";
  return [
    ...(own.length === 0 && !isReady ? findingsOfSpoke(spoke) : own),
    ...(failure === undefined || asked === undefined ? [] : [unreachedFinding(asked.name, failure)]),
  ];
}
