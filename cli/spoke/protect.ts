import { resolve } from "node:path";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { changesTo } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { textOf } from "../folder.ts";
import { readLine } from "../line.ts";
import { refuse, together } from "../usage.ts";
import { findSpoke, hasOtherMaker, type SpokeFile } from "./file.ts";

export const summary = "put the deletion protection of a spoke on or off, in gitops-system";

export const help = `Usage: fleet protect <spoke> [--off] [options]

Sets spec.deletionProtection in spokes/<fleet>/<spoke>/spoke.yaml of a checkout of gitops-system; comments and order stay. The hub
refuses to delete a protected Spoke, also when its folder vanishes from Git, and EKS its cluster; EKS does not where Cluster API
made it: there the hub refuses to delete the cluster while its Spoke is there, protected or not.

  --off                  take the protection off: in a commit of its own, pushed before fleet remove
  --fleet NAME           needed where several fleets have a spoke of this name
  --repository DIR       the checkout to write into; default: the current folder
${changeHelp}

Example:
  fleet protect green --off --push
`;

export const options = {
  ...changeOptions,
  off: { type: "boolean", default: false },
  fleet: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

interface ProtectedSpec {
  readonly deletionProtection: boolean;
}

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, args, problems } = readLine("protect", argv, options, { arguments: ["spoke"] });
  const { spoke } = args;
  const checkout = resolve(values.repository ?? ".");
  const { file, problems: unknown } = findSpoke<ProtectedSpec>(checkout, spoke, values.fleet);
  refuse("protect", together([...problems, ...wishProblems(values, [checkout])], unknown));
  const found = file as SpokeFile<ProtectedSpec>;
  const { fleet, path, spec, document, documents } = found;
  const isOn = !values.off;
  if ((spec.deletionProtection ?? false) === isOn) {
    console.log(`Nothing to change: the deletion protection of ${spoke} is ${isOn ? "on" : "off"}`);
    return 0;
  }
  document.setIn(["spec", "deletionProtection"], isOn);
  const files = changesTo(checkout, { [path]: textOf(documents) });
  const subject = isOn ? `Protect spoke ${spoke} from deletion` : `Take deletion protection off spoke ${spoke}`;
  const next = `It is off when the commit has arrived: kubectl -n spokes get spoke ${spoke} -o jsonpath='{.spec.deletionProtection}' says false`;
  if (isOn && hasOtherMaker(found))
    console.log(
      "Note: this protects the Spoke. EKS would still delete the cluster, whose maker knows no such protection: the hub refuses that while the Spoke is there, but not whoever has rights in AWS",
    );
  await carryOut("protect", [{ repository: "gitops-system", checkout, files, subject }], values, {
    ...{ fleet, programs: using },
    ...(isOn ? {} : { next }),
  });
  return 0;
}
