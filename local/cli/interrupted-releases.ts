import { type Instance, run } from "../instance/index.ts";
import { readPulumi } from "./pulumi.ts";

/** What `pulumi stack export` has of an operation that was interrupted. */
interface PendingOperation {
  readonly type: string;
  readonly resource: Resource;
}

interface Resource {
  readonly urn: string;
  readonly inputs?: { readonly name?: string; readonly namespace?: string };
}

interface Deployment {
  readonly resources?: readonly Resource[];
  readonly pending_operations?: readonly PendingOperation[];
}

/** A line of `helm list --pending`. */
interface PendingRelease {
  readonly name: string;
  readonly namespace: string;
}

const isRelease = ({ urn }: Resource): boolean => urn.includes("kubernetes:helm.sh/v3:Release");
const nameOf = ({ inputs: { name = "", namespace = "" } = {} }: Resource): PendingRelease => ({ name, namespace });
const holds = (releases: readonly PendingRelease[], { name, namespace }: PendingRelease): boolean =>
  releases.some((each) => each.name === name && each.namespace === namespace);

/**
 * The commands of helm that let an update go on from releases which an interrupted one left: what it was installing is uninstalled, as the
 * provider installs no release that is there ("cannot re-use a name that is still in use"), and what it was changing is rolled back, as
 * Helm changes none that is pending ("another operation is in progress"). Releases that Flux changes stay as they are.
 */
export function settlingCommands(
  { resources = [], pending_operations: operations = [] }: Deployment,
  pending: readonly PendingRelease[],
): string[][] {
  const recorded = new Set(resources.map(({ urn }) => urn));
  const installing = operations
    .filter(({ type, resource }) => type === "creating" && isRelease(resource) && !recorded.has(resource.urn))
    .map(({ resource }) => nameOf(resource));
  const changing = operations.filter(({ type }) => type !== "creating").map(({ resource }) => resource);
  const installed = [...resources, ...changing].filter(isRelease).map(nameOf);
  return [
    ...installing.map(({ name, namespace }) => ["uninstall", name, "-n", namespace, "--ignore-not-found", "--wait"]),
    ...pending
      .filter((release) => holds(installed, release))
      .map(({ name, namespace }) => ["rollback", name, "-n", namespace]),
  ];
}

/** Runs {@link settlingCommands}. @param helm the program with its flags for the stack's cluster */
export async function settleReleases(
  instance: Instance,
  stack: string,
  helm: readonly string[],
  report: (line: string) => void,
): Promise<void> {
  const { deployment } = JSON.parse(await readPulumi(instance, ["stack", "export", "--stack", stack])) as {
    deployment: Deployment;
  };
  const pending = await run([...helm, "list", "--all-namespaces", "--pending", "--output", "json"]);
  for (const command of settlingCommands(deployment, JSON.parse(pending) as PendingRelease[])) {
    report(`helm ${command.join(" ")}: for a release that an interrupted Pulumi left`);
    await run([...helm, ...command]);
  }
}
