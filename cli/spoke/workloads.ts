import { dirname, join, resolve } from "node:path";
import { type Problem, shown } from "../../lib/problems.ts";
import { isWorkloadsCheckout } from "../fleet/folders.ts";

/** The checkout of gitops-workloads that is given, or is beside that of gitops-system; undefined if there is none. */
export function workloadsBeside(system: string, named: string | undefined): string | undefined {
  const folder = named === undefined ? join(dirname(system), "gitops-workloads") : resolve(named);
  return isWorkloadsCheckout(folder) ? folder : undefined;
}

/** The problem of a folder that is given and is not a checkout of gitops-workloads. */
export function workloadsProblems(named: string | undefined): Problem[] {
  if (named === undefined || isWorkloadsCheckout(resolve(named))) return [];
  return [
    {
      key: "--workloads",
      what: "is not a checkout of gitops-workloads",
      got: shown(named),
      allowed: "a clone of gitops-workloads, with its folder templates/app",
      remedy: "correct the path, or leave --workloads out",
    },
  ];
}
