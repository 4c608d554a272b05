import { resolve } from "node:path";
import { foldersGuide } from "../fleet/folders.ts";
import { readLine } from "../line.ts";
import { finishMove, moveSpokes } from "./move.ts";

export const summary =
  "bring the folders of spokes up to date: spokes/<fleet>/<name>, each with the Kustomization that applies it";

export const help = `Usage: fleet move-spokes <fleet> [--finish] [--repository DIR]

Moves every spokes/<name> of a checkout of gitops-system to spokes/<fleet>/<name>, makes the folders of the fleet, and gives each
of its spokes the Kustomization that applies it, flux/sync.yaml. No spoke is made, changed or removed by it: Flux compares
objects, not paths. ${foldersGuide} says in which order the parts of a fleet take it over. Run it where
Git has the spokes of this one hub, before the branch of another hub is merged into this one.

  --finish               afterwards: removes what hubs and chains of the old layout still read
  --repository DIR       the checkout to write into; default: the current folder

Example:
  fleet move-spokes pilot --repository ../gitops-system
`;

export const options = {
  repository: { type: "string" },
  finish: { type: "boolean", default: false },
  help: { type: "boolean", short: "h" },
} as const;

export async function run(argv: readonly string[]): Promise<number> {
  const { values, args, problems } = readLine("move-spokes", argv, options, { arguments: ["fleet"] });
  const { fleet } = args;
  const checkout = resolve(values.repository ?? ".");
  if (values.finish) {
    const folders = finishMove(checkout, fleet, problems);
    console.log(
      folders.length === 0
        ? `Nothing is left of the old layout in ${checkout}.`
        : `Removed ${folders.join(", ")}. Next, in ${checkout}:
  git add --all && git commit -m "Finish the move of the spokes of ${fleet}" && git push`,
    );
    return 0;
  }
  const { spokes, made } = await moveSpokes(checkout, fleet, problems);
  if (spokes.length === 0 && made.length === 0)
    console.log(`Every spoke in ${checkout} is in the folder of a fleet and has its flux/sync.yaml: nothing to do.`);
  else if (spokes.length === 0)
    console.log(`Wrote ${made.join(", ")}. Next, in ${checkout}:
  fleet check, then git add --all && git commit -m "Give each spoke of ${fleet} a Kustomization" && git push`);
  else
    console.log(`Moved ${spokes.join(", ")} to spokes/${fleet}. Next, in ${checkout}:
  fleet check, then git add --all && git commit -m "Move the spokes of ${fleet} to its folder" && git push
Wait until the hub reads the new folder and every Spoke is Ready:
  kubectl -n flux-system get kustomization each-spoke -o jsonpath='{.spec.path} {.status.conditions[0].status}{"\\n"}'
  kubectl -n spokes get spokes
Then run pulumi up, and fleet move-spokes ${fleet} --finish.`);
  return 0;
}
