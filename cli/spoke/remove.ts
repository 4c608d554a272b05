import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { spokeFolder } from "../../lib/layout.ts";
import { clusterScopePrefix } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import { carryOut } from "../change/carry-out.ts";
import { pushedText } from "../change/commit.ts";
import { programs } from "../change/effect.ts";
import { type Proposal, removalOf } from "../change/files.ts";
import { changeHelp, changeOptions, isCommitted, wishProblems } from "../change/options.ts";
import { confirmationProblems, keptOfOrders, list, removalHelp, removalOptions } from "../change/removal.ts";
import { fleetsOf, foldersIn } from "../fleet/folders.ts";
import { readLine } from "../line.ts";
import { refuse, together } from "../usage.ts";
import { findSpoke, hasOtherMaker, type SpokeFile } from "./file.ts";
import { readOffer } from "./rules.ts";
import { workloadsBeside, workloadsProblems } from "./workloads.ts";

export const summary = "remove a spoke from gitops-system, and its applications from gitops-workloads";

export const help = `Usage: fleet remove <spoke> --yes [options]

Removes spokes/<fleet>/<spoke> from a checkout of gitops-system, and clusters/<spoke> from one of gitops-workloads. Refuses while
the deletion protection is on, as the hub would, and says what goes in AWS, in which order, and what stays.

  --workloads DIR        the checkout of gitops-workloads; default: gitops-workloads beside the checkout of gitops-system, if it
                         is there
  --fleet NAME           needed where several fleets have a spoke of this name
  --repository DIR       the checkout of gitops-system; default: the current folder
${removalHelp}
${changeHelp}

Examples:
  fleet remove green --dry-run
  fleet remove green --yes --push
`;

export const options = {
  ...changeOptions,
  ...removalOptions,
  workloads: { type: "string" },
  fleet: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

interface RemovedSpec {
  readonly deletionPolicy: string;
  readonly deletionProtection: boolean;
  readonly kmsDeletionWindowDays: number;
  readonly sealing: string;
}

type RemovedFile = SpokeFile<RemovedSpec>;

const isProtected = (spec: unknown): boolean =>
  (spec as Partial<RemovedSpec> | null | undefined)?.deletionProtection === true;

/** The words of the hub's admission policy (platform/api/protection.yaml), before anything is written. */
function protectionProblems({ spoke, path, spec }: RemovedFile, pushed: string | undefined): Problem[] {
  const remedy = `fleet protect ${spoke} --off --push, wait until it has arrived, then remove it`;
  const problem = (what: string, got: string): Problem => ({
    key: "<spoke>",
    what,
    got,
    allowed: "a Spoke with deletionProtection: false, in a commit of its own that is pushed before",
    remedy,
  });
  if (isProtected(spec)) return [problem("is protected: the hub would refuse to delete it", path)];
  if (pushed === undefined || !isProtected(parse(pushed)?.spec)) return [];
  return [problem("is still protected at the remote: the hub would refuse to delete it", `${path} of the upstream`)];
}

/** A spoke that is to be let go: its applications would go, and everything in AWS would stay. */
function releaseProblems({ spoke, path, spec }: RemovedFile): Problem[] {
  if (spec.deletionPolicy !== "Orphan") return [];
  return [
    {
      key: "<spoke>",
      what: "is to be let go (spec.deletionPolicy: Orphan): what it is made of would stay in AWS",
      got: path,
      allowed: "a Spoke without it",
      remedy: `fleet release ${spoke} lets it go; to remove everything, take spec.deletionPolicy out, push that, and wait until it has arrived`,
    },
  ];
}

/** What makes both repositories have no such spoke: gitops-system first, because applications are gone at once when the other one is pushed. */
async function proposals(
  checkout: string,
  { spoke, fleet }: RemovedFile,
  workloads: string | undefined,
): Promise<Proposal[]> {
  const folder = spokeFolder(fleet, spoke);
  const own: Proposal = {
    ...{ repository: "gitops-system", checkout, places: [folder], files: await removalOf(checkout, folder) },
    subject: `Remove spoke ${spoke}`,
  };
  const apps = join("clusters", spoke);
  if (workloads === undefined || !existsSync(join(workloads, apps))) return [own];
  const files = await removalOf(workloads, apps);
  const subject = `Remove the applications of spoke ${spoke}`;
  return [own, { repository: "gitops-workloads", checkout: workloads, places: [apps], files, subject }];
}

/** What goes of a cluster with its network, and what becomes of the key of its Kubernetes secrets. */
interface Parts {
  readonly gone: readonly string[];
  readonly key: string;
}

const ownParts = (days: number): Parts => ({
  gone: [
    "access entries, EKS add-ons, nodes",
    "the control plane, then its log group with the logs, and its roles",
    "NAT gateways, subnets, the VPC; its block of the pool is free again",
  ],
  key: `the KMS key of its Kubernetes secrets, which can't be used any more, for ${days} days`,
});

/** Of one that Cluster API made (templates/cluster-api/flux/sync.yaml). */
const partsOfOthers: Parts = {
  gone: [
    "access entries and roles of the Spoke, then the Spoke; Flux uninstalls the cluster's HelmRelease",
    "nodes, EKS add-ons, the control plane with its roles, NAT gateways, subnets, the VPC, all by Cluster API",
    "the log group with the logs",
  ],
  key: "the KMS key of its Kubernetes secrets, which is that of all clusters that Cluster API makes, and goes with none of them",
};

/** What goes in AWS and what stays, from docs/concepts/deletion.md and functions/spoke/groups.ts. */
function consequences(file: RemovedFile, applications: readonly string[], defaultDays: number): string {
  const { spoke, spec } = file;
  const named = applications.length === 0 ? "" : ` (${applications.join(", ")})`;
  const parts = hasOtherMaker(file) ? partsOfOthers : ownParts(spec.kmsDeletionWindowDays ?? defaultDays);
  return `When this is pushed, the hub removes ${spoke}, each step when the one before is gone:
${list([
  `applications${named}, with what they ordered in AWS`,
  "tools, Flux, External Secrets, namespaces",
  ...parts.gone,
])}
What stays in AWS:
${list([
  parts.key,
  ...keptOfOrders,
  ...(spec.sealing === "cluster"
    ? [
        `its sealing keys in Secrets Manager: take ${clusterScopePrefix}${spoke} out of sealingKeys in the hub's stack, then pulumi up`,
      ]
    : []),
])}
At the Git host: deploy keys and webhooks of its own, if it has any.`;
}

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, args, problems } = readLine("remove", argv, options, { arguments: ["spoke"] });
  const { spoke } = args;
  const checkout = resolve(values.repository ?? ".");
  // Fleets with a spoke of the same name have repositories of their own for applications, and which one lies there is not known.
  const isShared = fleetsOf(checkout, spoke).length > 1 && values.workloads === undefined;
  const workloads = isShared ? undefined : workloadsBeside(checkout, values.workloads);
  const { file, problems: unknown } = findSpoke<RemovedSpec>(checkout, spoke, values.fleet);
  const hasApps = workloads !== undefined && spoke !== "" && existsSync(join(workloads, "clusters", spoke));
  const pushed = file !== undefined && isCommitted(values) ? pushedText(checkout, file.path) : undefined;
  refuse(
    "remove",
    together(
      [
        ...problems,
        ...wishProblems(values, [checkout, ...(hasApps ? [workloads] : [])]),
        ...confirmationProblems(values, "a cluster with everything on it"),
        ...workloadsProblems(values.workloads),
      ],
      file === undefined ? unknown : [...releaseProblems(file), ...protectionProblems(file, pushed)],
    ),
  );
  const found = file as RemovedFile;
  const { schema } = await readOffer(checkout);
  const defaultDays = Number(schema.properties?.["kmsDeletionWindowDays"]?.["default"]);
  const applications = hasApps ? foldersIn(join(workloads, "clusters", spoke)) : [];
  console.log(consequences(found, applications, defaultDays));
  if (workloads === undefined)
    console.log(
      `Note: no checkout of gitops-workloads was changed; a spoke that is made again as ${spoke} would run what clusters/${spoke} there names. Name one with --workloads, or remove that folder by hand`,
    );
  const watch = `kubectl -n spokes get spoke ${spoke} --watch --output wide     what is being removed, and what is in its way`;
  const after =
    "kubectl -n cluster-api-clusters get clusters,awsmanagedcontrolplanes,awsmanagedmachinepools     the same of the cluster, when the Spoke is gone";
  const next = hasOtherMaker(found) ? `${watch}\n${after}` : watch;
  const { fleet } = found;
  await carryOut("remove", await proposals(checkout, found, workloads), values, { fleet, next, programs: using });
  return 0;
}
