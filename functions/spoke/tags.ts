import { tagProblems } from "../../lib/company-tags.ts";
import type { Tags } from "../../lib/labels.ts";
import type { Spoke } from "./api.ts";
import type { Hub } from "./hub.ts";
import type { SpokeProblem } from "./problems.ts";

interface Question {
  readonly spoke: Pick<Spoke, "spec">;
  readonly hub: Pick<Hub, "tags">;
}

/** The company's tags of a spoke: those of the stack, and those of the Spoke, which override them. Sorted: a map has no order of its own. */
export const companyTags = ({ spoke, hub }: Question): Tags =>
  Object.fromEntries(
    Object.entries({ ...hub.tags, ...spoke.spec.tags }).sort(([one], [other]) => (one < other ? -1 : 1)),
  );

/** Why the tags of the stack and of a Spoke can't apply together; of each alone, the stack's program and the definition check it. */
export const companyTagProblems = (question: Question): SpokeProblem[] =>
  tagProblems(companyTags(question)).map(({ tag, what, got, allowed }) => ({
    reason: "TagsNotAllowed",
    message:
      `spec.tags${tag === undefined ? "" : `[${tag}]`}, with tags of the hub's stack, ${what}: got ${got}, allowed: ${allowed}. ` +
      "Change spec.tags, or tags of the stack",
  }));
