import { commentLimit } from "./fit.ts";
import type { Report } from "./report.ts";
import { commentStyle, textStyle } from "./style.ts";
import { written } from "./words.ts";

/** The report for whoever reads it. */

/** The workflow finds its former comment by this marker. */
export const marker = "<!-- eks-gitops-fleet: fleet diff -->";

/** One comment of a pull request, within the size that GitHub accepts; the summary is always complete. */
export const markdown = (report: Report, limit = commentLimit): string => {
  const first = `${marker}\n`;
  return `${first}${written(commentStyle, report, limit - first.length)}`;
};

/** Text for a terminal, whole. */
export const terminalText = (report: Report): string => written(textStyle, report, Number.POSITIVE_INFINITY);
