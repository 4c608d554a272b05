import type { Problem } from "../../lib/problems.ts";
import type { SpokeFacts } from "./clusters.ts";
import type { AppRequest } from "./rules.ts";

/** What an application needs besides the right to order a kind that an add-on of its Spoke brings. */

/** Such a kind. */
export interface AddonKind {
  /** As --aws-kind takes it. */
  readonly kind: string;
  readonly addon: string;
  /** One of what is ordered, in a sentence. */
  readonly one: string;
}

/** Whether an application orders the kind. */
export const isOrdered = ({ kind }: AddonKind, { awsKinds = [] }: Pick<AppRequest, "awsKinds">): boolean =>
  awsKinds.includes(kind);

/** The problem of --aws-kind with the kind. */
export const kindProblem = (
  { kind }: AddonKind,
  what: string,
  got: string,
  allowed: string,
  remedy: string,
): Problem => ({
  key: "--aws-kind",
  what: `${kind} ${what}`,
  ...{ got, allowed, remedy },
});

/** The problem of an application whose name leaves no room in names of the kind. @param shortest the name of one called x @param parts what names hold */
export function lengthProblems(of: AddonKind, shortest: string, most: number, parts: string): Problem[] {
  const excess = shortest.length - most;
  if (excess <= 0) return [];
  return [
    kindProblem(
      of,
      `is a kind whose names hold ${parts}, ${shortest.length} characters even for a ${of.one} called x`,
      shortest,
      `at most ${most} characters`,
      `shorten the name of the application by at least ${excess} characters, or leave ${of.kind} out`,
    ),
  ];
}

/** The problem of a Spoke without the add-on. @param facts what the Spoke says, if that is known */
export function addonProblems(of: AddonKind, cluster: string, facts: SpokeFacts | undefined): Problem[] {
  if (facts === undefined || facts.addons.includes(of.addon)) return [];
  return [
    kindProblem(
      of,
      `needs the add-on ${of.addon} on the spoke ${cluster}`,
      `spec.addons: [${facts.addons.join(", ")}] in ${facts.path}`,
      `a Spoke with ${of.addon} in spec.addons`,
      `add it there and push, or leave ${of.kind} out`,
    ),
  ];
}
