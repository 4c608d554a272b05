import { dirname, join, resolve } from "node:path";
import { type Problem, shown } from "../../lib/problems.ts";
import { isSystemCheckout } from "../fleet/folders.ts";

/** The checkout of gitops-system that is given, or is beside that of gitops-workloads; undefined if there is none. */
export function systemBeside(workloads: string, named: string | undefined): string | undefined {
  const folder = named === undefined ? join(dirname(workloads), "gitops-system") : resolve(named);
  return isSystemCheckout(folder) ? folder : undefined;
}

/** The problem of a folder that is given and is not a checkout of gitops-system. */
export const systemProblems = (named: string | undefined): Problem[] =>
  named === undefined || isSystemCheckout(resolve(named))
    ? []
    : [
        {
          key: "--system",
          what: "is not a checkout of gitops-system",
          got: shown(named),
          allowed: "a folder with templates/fleet",
          remedy:
            "name a clone of gitops-system, or leave it out to use the one beside the checkout of gitops-workloads",
        },
      ];
