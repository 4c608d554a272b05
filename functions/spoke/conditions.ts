import { databasesAddon } from "../../lib/iam/databases.ts";
import { toolsLabel } from "../../lib/labels.ts";
import type { HubAccessReason, Spoke } from "./api.ts";
import { isAuto } from "./auto-mode.ts";
import type { Context } from "./context.ts";
import { originName } from "./facts.ts";
import { failureOf, isRetrying, summary } from "./failures.ts";
import { type Group, groups, type Part, parts } from "./groups.ts";
import { type HubAccess, hubAccessType } from "./hub-access.ts";
import type { KubeCondition, KubeObject } from "./kube.ts";
import { absenceOf, isMadeElsewhere } from "./made-elsewhere.ts";
import { type NodeGroup, nodeGroups, oldestNodes } from "./node-groups.ts";
import { isHealthy } from "./observed.ts";
import { isLetGo } from "./orphan.ts";
import { nodesRelease, nodesVersion } from "./parts/nodes.ts";
import { runningVersion } from "./plan.ts";
import { withPrecondition } from "./private-endpoint.ts";
import type { SpokeProblem } from "./problems.ts";
import { resources } from "./resources.ts";
import { type Remains, removable } from "./teardown.ts";
import { attachmentPending, pendingAttachment } from "./transit-gateway.ts";
import { compareVersions } from "./versions.ts";

/** A condition of the Spoke. */
export interface SpokeCondition {
  /** None of Crossplane's own types (Ready, Synced, Healthy, UpToDate, Responsive), which it does not accept from a function. */
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

const yes = (type: string, reason: string, message: string): SpokeCondition => ({
  type,
  status: "True",
  reason,
  message,
});
const no = (type: string, reason: string, message: string): SpokeCondition => ({
  type,
  status: "False",
  reason,
  message,
});

/** Names in one line: the first few, and how many more. */
function list(names: readonly string[], most = 4): string {
  const rest = names.length - most;
  return [...names.slice(0, most), ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
}

/** Whether the Spoke's specification is accepted. */
export function accepted(problems: readonly SpokeProblem[]): SpokeCondition {
  const [first] = problems;
  if (!first) return yes("SpecAccepted", "Accepted", "the specification is accepted");
  return no("SpecAccepted", first.reason, problems.map(({ message }) => message).join("; "));
}

/** Parts that EKS Auto Mode has in the place of the fleet. */
const ofAutoMode: Readonly<Partial<Record<Part, string>>> = {
  nodes: "EKS Auto Mode starts them as pods need them",
  addons: "none, EKS Auto Mode has them built in",
};

const ofPart =
  (part: Part) =>
  ([, { group }]: readonly [string, { readonly group: Group }]) =>
    groups[group].part === part;

/**
 * The state of one part of the spoke: available, in progress, waiting for another part, or failing. `said` are the Spoke's present
 * conditions.
 */
export function partCondition(
  part: Part,
  context: Context,
  chain: readonly KubeObject[],
  said: readonly KubeCondition[] = [],
): SpokeCondition {
  const { observed } = context;
  const { entries, waiting } = context.composer;
  const { condition: type, name } = parts[part];
  const keys = [...entries].filter(ofPart(part)).map(([key]) => key);
  const waits = [...waiting].filter(ofPart(part));
  const objects = keys.flatMap((key) => observed.objects.get(key) ?? []);
  // The chain's own objects come first: their messages are nearer to the cause than their parent's summary.
  const absence = absenceOf(context.spoke, observed.get(resources.cluster));
  const failures = [...(part === "bootstrap" ? chain : []), ...objects].flatMap(
    (object) => failureOf(object, absence) ?? [],
  );
  const found = summary(failures.map((each) => withPrecondition(context, each)));
  if (found) return no(type, found.reason, found.message);
  const before = said.find((condition) => condition.type === type && condition.status === "False");
  if (before && part === "bootstrap" && chain.some((step) => isRetrying(step, before.message ?? "")))
    return no(type, before.reason ?? "Failed", before.message ?? "");
  // Once the chain exists, the hub's admin policy is attached and removed without a meaning for the part's state.
  const lasting = observed.has(resources.bootstrap)
    ? keys.filter((key) => entries.get(key)?.group !== "hubAdmin")
    : keys;
  const unready = lasting.filter((key) => !isHealthy(observed.objects.get(key)));
  const pending = pendingAttachment(context.spoke, observed, unready);
  if (pending !== undefined) return no(type, attachmentPending, `${name}: ${pending}`);
  if (unready.length > 0) return no(type, "InProgress", `${name}: making ${list(unready)}`);
  if (waits.length > 0) {
    const missing = [...new Set(waits.flatMap(([, each]) => each.missing).map(originName))];
    const others = missing.filter((other) => other !== name);
    return no(type, "Waiting", `${name}: waiting for ${list(others.length > 0 ? others : missing)}`);
  }
  if (isAuto(context.spoke)) {
    const builtIn = ofAutoMode[part];
    if (builtIn !== undefined && observed.ready(resources.cluster))
      return yes(type, "Available", `${name}: ${builtIn}`);
  }
  return keys.length === 0 ? no(type, "Waiting", `${name}: not begun`) : yes(type, "Available", `${name}: ready`);
}

const administers: Readonly<Record<Exclude<HubAccessReason, "Narrow">, string>> = {
  Bootstrap: "until the bootstrap chain is ready and has given it rights of its own (its step access)",
  ChangeRefused: "until the chain is ready again, because a change needs more than the rights that the chain gives it",
  RoleTooNarrow:
    "until that changes in Git: the chain applies something that spoke-bootstrap/access does not cover; add it there",
  Removal: "while it is taken down",
};

/** Whether Flux on the hub has no more rights than the chain gives it, and if not, why. */
export function hubAccessCondition({ reason, refused }: HubAccess): SpokeCondition {
  if (reason === "Narrow") return yes(hubAccessType, reason, "Flux on the hub has the rights that the chain gives it");
  const causes = refused.map(({ attempt, message }) => `${attempt}: ${message}`);
  const text = `Flux on the hub has cluster-admin rights on the spoke ${administers[reason]}`;
  return no(hubAccessType, reason, causes.length > 0 ? `${text}; ${list(causes, 2)}` : text);
}

/** What a group's nodes still have to take, once control plane and add-ons have it; undefined when they have all. */
function nodesBehind(context: Context, group: NodeGroup, running: string, whose: string): string | undefined {
  const nodes = context.observed.text(group.serving, "version");
  if (nodes === undefined) return undefined;
  if (nodes !== running) return `the control plane runs ${running}; the nodes${whose} follow, they run ${nodes}`;
  const release = nodesRelease(context, group, nodes);
  const current = context.observed.text(group.serving, "releaseVersion");
  return release === undefined || current === undefined || current === release
    ? undefined
    : `the nodes${whose} run the AMI release ${current} and are being replaced by ${release}`;
}

/** Whether control plane, add-ons and nodes run the version in the Spoke's specification. */
export function versionCondition(context: Context): SpokeCondition {
  const type = "VersionCurrent";
  const { observed, spoke } = context;
  const running = runningVersion(observed);
  // What something else upgrades is as it is to be.
  const wanted = isMadeElsewhere(spoke) ? (running ?? spoke.spec.kubernetesVersion) : spoke.spec.kubernetesVersion;
  const { groups } = nodeGroups(context);
  const nodes = oldestNodes(observed, groups);
  if (running === undefined)
    return no(type, "NotRunning", `spec.kubernetesVersion is ${wanted}; there is no control plane yet`);
  if (compareVersions(running, wanted) > 0) {
    const message =
      `the control plane runs ${running}, spec.kubernetesVersion is ${wanted}: EKS upgrades a control plane at the end of a version's ` +
      `support, and the hub doesn't roll it back; set spec.kubernetesVersion to ${running}`;
    return no(type, "AheadOfSpec", message);
  }
  const { rolledBackFrom } = context.plan;
  if (rolledBackFrom !== undefined) {
    const message =
      `the control plane was rolled back in AWS from ${rolledBackFrom} to ${running}, spec.kubernetesVersion is ${wanted}: the hub doesn't ` +
      `upgrade it again before a commit; set spec.kubernetesVersion to ${running}, and to ${wanted} in a later commit to upgrade again`;
    return no(type, "RolledBack", message);
  }
  if (running !== wanted)
    return no(type, "UpgradingControlPlane", `the control plane runs ${running} and is being upgraded to ${wanted}`);
  // Its nodes follow by themselves (EKS User Guide, "Update the Kubernetes Version of an EKS Auto Mode cluster").
  if (isAuto(spoke)) return yes(type, "Current", `the control plane runs Kubernetes ${running}`);
  if (nodes === undefined) return no(type, "NotRunning", `the control plane runs ${running}; there are no nodes yet`);
  if (groups.some((group) => nodesVersion(context, group) !== running)) {
    return no(
      type,
      "UpgradingAddons",
      `the control plane runs ${running}; the EKS add-ons follow, then the nodes (${nodes})`,
    );
  }
  const behind = groups.flatMap(
    (group) => nodesBehind(context, group, running, groups.length > 1 ? ` of ${group.asked.name}` : "") ?? [],
  );
  if (behind.length > 0) return no(type, "UpgradingNodes", behind.join("; "));
  return yes(type, "Current", `everything runs Kubernetes ${running}`);
}

/** Longer than the removal of a step of the chain takes, applications aside: `timeout` in spoke-bootstrap/steps. */
const STUCK_MS = 15 * 60_000;

/** Whether for that long no further object of the chain has begun to go: each is deleted when its turn comes. */
function isStuck(objects: readonly KubeObject[], now: number): boolean {
  const begun = objects.flatMap(({ metadata: { deletionTimestamp: at } }) => (at === undefined ? [] : Date.parse(at)));
  return begun.length > 0 && now - Math.max(...begun) > STUCK_MS;
}

/** Whether the removal of the step `tools` has begun. kustomize-controller tells only in an event why the spoke refuses it. */
const waitsForTools = (objects: readonly KubeObject[]): boolean =>
  objects.some(
    ({ metadata: { labels = {}, deletionTimestamp } }) =>
      deletionTimestamp !== undefined && Object.entries(toolsLabel).every(([key, value]) => labels[key] === value),
  );

/** What to do about what keeps a spoke: databases that stay in AWS, volumes, and an API server that will never answer again. */
const wayOut = ({ metadata: { name }, spec }: Spoke, objects: readonly KubeObject[]): string =>
  `; the removal waits for what runs on the spoke. ` +
  (spec.addons.includes(databasesAddon)
    ? `Databases that applications left in AWS keep the group of its subnets: delete or move them (docs/guides/applications.md#onboard-an-application, "Databases that stay"). `
    : "") +
  (waitsForTools(objects)
    ? `Volumes that the EBS CSI driver can't delete may hold the tools: kubectl get pv on the spoke shows such ones as Released, kubectl describe pv why. ` +
      `Correct what AWS refuses, or leave them in AWS: kubectl patch pv <volume> -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'. `
    : "") +
  `If its API server is gone for good, abandon what runs there: ` +
  `kubectl -n spokes get kustomizations,helmreleases -o name -l fleet.internal/cluster=${name},fleet.internal/target=spoke | ` +
  `xargs -I{} kubectl -n spokes patch {} --type merge -p '{"spec":{"suspend":true}}'`;

/** How far the removal is, which failures delay it and, once it is stuck, the way out. */
export function deletingCondition(spoke: Spoke, remains: Remains, now: number): SpokeCondition {
  const turn = removable(remains);
  const current = [...remains.present].filter(([key]) => {
    const group = remains.groupOf(key);
    return group === undefined || turn.includes(group);
  });
  if (current.length === 0) return yes("Deleting", "Finishing", "everything is removed; the Spoke itself goes now");
  // The folder is gone from Git because the Spoke was removed.
  const absence = absenceOf(spoke, remains.present.get(resources.cluster.key));
  const failures = current
    .flatMap(([, object]) => failureOf(object, absence) ?? [])
    .filter(({ reason }) => reason !== "MissingInGit");
  const found = summary(failures);
  const keys = current.map(([key]) => key).sort();
  const left = `${list(keys)}; ${remains.present.size} resources are left`;
  const progress = isLetGo(spoke) ? `letting go of ${left}, and everything in AWS stays` : `removing ${left}`;
  const objects = current.map(([, object]) => object);
  const waitsForever = turn.includes("bootstrap") && (found?.reason === "SpokeUnreachable" || isStuck(objects, now));
  const message = `${progress}${found ? `; ${found.message}` : ""}${waitsForever ? wayOut(spoke, objects) : ""}`;
  return yes("Deleting", found?.reason ?? "InProgress", message);
}
