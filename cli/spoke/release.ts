import { resolve } from "node:path";
import type { Spoke } from "../../functions/spoke/api.ts";
import { deletionAttempt } from "../../functions/spoke/kinds.ts";
import { wasHeld } from "../../functions/spoke/orphan.ts";
import { spokeFolder } from "../../lib/layout.ts";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { changesTo, type Proposal, removalOf } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { list } from "../change/removal.ts";
import { textOf } from "../folder.ts";
import { type Connect, connect } from "../kubernetes/connect.ts";
import { readLine } from "../line.ts";
import { refuse, together, UsageError } from "../usage.ts";
import { findSpoke, makerProblems, type SpokeFile } from "./file.ts";

export const summary = "let a spoke go, with everything in AWS and on the cluster left as it is";

export const help = `Usage: fleet release <spoke> [options]

Takes a spoke out of the fleet and leaves its cluster as it is: everything in AWS stays, and its applications and its own Flux go
on. Run it twice. The first run sets spec.deletionPolicy: Orphan in spokes/<fleet>/<spoke>/spoke.yaml of a checkout of
gitops-system. When the hub says that nothing would go with the Spoke (status.deletionPolicy), the second removes the folder; it
asks the hub, and refuses before. fleet adopt is the way back.

  --context NAME         the hub's context in the kubeconfig, for the second run; default: the current one
  --fleet NAME           needed where several fleets have a spoke of this name
  --repository DIR       the checkout of gitops-system; default: the current folder
${changeHelp}

Examples:
  fleet release green --dry-run
  fleet release green --push
`;

export const options = {
  ...changeOptions,
  context: { type: "string" },
  fleet: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

interface ReleasedSpec {
  readonly deletionPolicy?: string;
}

type ReleasedFile = SpokeFile<ReleasedSpec>;

/** The first step: nothing in AWS or on the cluster is to be removed with the Spoke. */
function marked(checkout: string, { spoke, path, document, documents }: ReleasedFile): Proposal {
  document.setIn(["spec", "deletionPolicy"], "Orphan");
  return {
    ...{ repository: "gitops-system", checkout, files: changesTo(checkout, { [path]: textOf(documents) }) },
    subject: `Let spoke ${spoke} go: leave what it is made of`,
  };
}

/** The second step: the folder goes, and with it the Spoke alone. */
async function removed(checkout: string, { spoke, fleet }: ReleasedFile): Promise<Proposal> {
  const folder = spokeFolder(fleet, spoke);
  const files = await removalOf(checkout, folder);
  return { repository: "gitops-system", checkout, places: [folder], files, subject: `Release spoke ${spoke}` };
}

/** @throws UsageError while something would still be removed with the Spoke, or the hub would keep it */
function refuseEarly(spoke: Spoke, path: string): void {
  const {
    metadata: { name },
    spec,
    status,
  } = spoke;
  if (wasHeld(spoke))
    throw new UsageError(
      `fleet release: somebody deleted spoke ${name} before, and spec.deletionProtection has kept it. The hub can't tell that from its release.\n` +
        `Withdraw it: kubectl -n spokes annotate spoke ${name} ${deletionAttempt}-, then run this again in a minute. Nothing was changed.`,
    );
  if (spec.deletionPolicy === "Orphan" && status?.deletionPolicy === "Orphan") return;
  const why =
    spec.deletionPolicy === "Orphan"
      ? `something that it is made of would still be removed with it${status?.message === undefined ? "" : `. The Spoke says: ${status.message}`}`
      : `the hub has spec.deletionPolicy ${spec.deletionPolicy ?? "Delete"}: the commit with ${path} has not arrived`;
  throw new UsageError(
    `fleet release: spoke ${name} can't be let go yet: ${why}.\n` +
      `Wait until it can: kubectl -n spokes get spoke ${name} -o jsonpath='{.status.deletionPolicy}' says Orphan. Nothing was changed.`,
  );
}

const consequences = (spoke: string): string => `When this is pushed, the hub forgets ${spoke}. What stays as it is:
${list([
  "everything in AWS, with its tags: VPC, control plane, nodes, roles, keys, logs",
  "everything on the cluster: Flux, which goes on to follow gitops-system and gitops-workloads, tools, applications and what they ordered",
  `the access entries of the hub's roles: remove them if the fleet is to have no part in it`,
  `clusters/${spoke} in gitops-workloads, which its Flux goes on to apply`,
])}
The hub upgrades nothing of it from now on: Kubernetes, nodes, EKS add-ons, Flux itself. Its own Flux takes what changes in the tools and applications.
To end that too, on the spoke first suspend the Kustomizations workloads and tools in flux-system. Removing clusters/${spoke} before
that deletes the applications and what they ordered in AWS, tables included.
The hub forgets that its network is taken, and a Spoke without spec.network.cidr may get it from the pool: the hub would then refuse to take ${spoke} in again.
Give Spokes that you add meanwhile another network. fleet adopt takes the spoke in again.`;

export async function run(
  argv: readonly string[],
  using = programs,
  its: { readonly connect: Connect } = { connect },
): Promise<number> {
  const { values, args, problems } = readLine("release", argv, options, { arguments: ["spoke"] });
  const { spoke } = args;
  const checkout = resolve(values.repository ?? ".");
  const { file, problems: unknown } = findSpoke<ReleasedSpec>(checkout, spoke, values.fleet);
  refuse("release", together([...problems, ...wishProblems(values, [checkout])], unknown));
  const opened = file as ReleasedFile;
  const keep = "keep it: its folder also holds the HelmRelease, whose removal deletes the cluster";
  refuse("release", makerProblems(opened, keep));
  const { fleet, path, spec } = opened;
  const carry = (proposal: Proposal, next: string) =>
    carryOut("release", [proposal], values, { fleet, next, programs: using });
  if (spec.deletionPolicy !== "Orphan") {
    const next = `Then wait until kubectl -n spokes get spoke ${spoke} -o jsonpath='{.status.deletionPolicy}' says Orphan, change nothing else of the spoke meanwhile, and run fleet release ${spoke} again.`;
    await carry(marked(checkout, opened), next);
    return 0;
  }
  const { hub } = await its.connect(values.context);
  const { findSpoke: onHub } = await import("../kubernetes/spokes.ts");
  refuseEarly(await onHub(hub, spoke), path);
  console.log(consequences(spoke));
  await carry(
    await removed(checkout, opened),
    `kubectl -n spokes get spoke ${spoke}     says that there is none when it is done`,
  );
  return 0;
}
