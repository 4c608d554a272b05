import { tagProblems } from "../lib/company-tags.ts";
import { type Problem, shown } from "../lib/problems.ts";
import type { Readable } from "./settings.ts";

/** A company's tags must be ones that AWS takes everywhere, beside the fleet's own. */
export const tagRules = ({ tags = {} }: Pick<Readable, "tags">): Problem[] =>
  tagProblems(tags).map(({ tag, what, got, allowed }) => ({
    key: tag === undefined ? "tags" : `tags.${tag}`,
    what,
    got: shown(got),
    allowed,
    remedy: "change or remove it under tags in the stack's file",
  }));
