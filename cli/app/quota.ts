import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Document, isMap, parseAllDocuments } from "yaml";
import { type Problem, shown } from "../../lib/problems.ts";
import { workloadsTemplate } from "../fleet/folders.ts";
import { type Files, textOf } from "../folder.ts";

/** `--quota limits.memory=8Gi`: what an application's namespace may use instead of what the template's ResourceQuota says. */

const FILE = "namespace.yaml";
/** Kubernetes' quantities that are not negative: kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity. */
const quantity = /^[0-9]+(\.[0-9]+)?(m|[kMGTPE]|[KMGTPE]i|e[0-9]+)?$/;

const quotasIn = (text: string): { documents: Document[]; quotas: Document[] } => {
  const documents = parseAllDocuments(text) as Document[];
  return {
    documents,
    quotas: documents.filter((each) => isMap(each.contents) && each.get("kind") === "ResourceQuota"),
  };
};

/** What the quotas of a template limit, by name. */
const limitedBy = (quotas: readonly Document[]): string[] =>
  quotas.flatMap((each) => Object.keys((each.toJS() as { spec?: { hard?: object } }).spec?.hard ?? {}));

/** Name and quantity of one `--quota`; both empty where there is no `=`. */
function read(text: string): readonly [name: string, quantity: string] {
  const at = text.indexOf("=");
  return at < 0 ? ["", ""] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * The problems of what an application is to get instead of the template's quota.
 * @param checkout of gitops-workloads, with the template
 */
export function quotaProblems(checkout: string, wanted: readonly string[] = []): Problem[] {
  if (wanted.length === 0) return [];
  const limited = limitedBy(quotasIn(readFileSync(join(checkout, workloadsTemplate, FILE), "utf8")).quotas);
  const problem = (got: string, what: string, allowed: string): Problem => ({
    ...{ key: "--quota", what, got: shown(got), allowed, remedy: "change it, or leave it out for the template's" },
  });
  const names = wanted.map((text) => read(text)[0]);
  return wanted.flatMap((text, index) => {
    const [name, value] = read(text);
    if (!limited.includes(name))
      return [
        problem(
          text,
          "is not one of the limits in the template's ResourceQuota",
          `NAME=QUANTITY, NAME of ${limited.join(", ") || "(none)"}`,
        ),
      ];
    if (!quantity.test(value))
      return [problem(text, "is not a quantity of Kubernetes", `${name}=QUANTITY, such as 4, 500m or 8Gi`)];
    return names.indexOf(name) < index ? [problem(text, "is given twice", "each limit once")] : [];
  });
}

/** The files of an application with these limits in its quota; comments stay. */
export function withQuota(files: Files, wanted: readonly string[] = []): Files {
  if (wanted.length === 0) return files;
  const { documents, quotas } = quotasIn(files[FILE] ?? "");
  for (const [name, value] of wanted.map(read))
    quotas.find((each) => each.hasIn(["spec", "hard", name]))?.setIn(["spec", "hard", name], value);
  return { ...files, [FILE]: textOf(documents) };
}
