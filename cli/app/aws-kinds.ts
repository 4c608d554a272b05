import { type Document, isMap, parseAllDocuments } from "yaml";
import { awsKindsAnnotation } from "../../lib/labels.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { type Files, textOf } from "../folder.ts";
import { UsageError } from "../usage.ts";

export const bucketKind = "s3.Bucket";
export const databaseKind = "rds.Instance";

/** What an application may order in AWS, as the admission policy tenant-resources writes it. */
export const awsKinds: readonly string[] = ["dynamodb.Table", databaseKind, bucketKind, "sqs.Queue"];

/** Of these, what it may order if nothing is said. */
export const defaultAwsKinds: readonly string[] = ["dynamodb.Table", "sqs.Queue"];

/** Stands for no kind at all. */
export const noAwsKinds = "none";

/** The problems of the kinds that an application may order. */
export function awsKindProblems(kinds: readonly string[]): Problem[] {
  const problem = (got: string, what: string, remedy: string): Problem => ({
    ...{ key: "--aws-kind", what, got, remedy },
    allowed: `${awsKinds.join(", ")}, or ${noAwsKinds} alone`,
  });
  const unknown = kinds.filter((kind) => kind !== noAwsKinds && !awsKinds.includes(kind));
  return [
    ...unknown.map((kind) =>
      problem(
        shown(kind),
        "is not a kind that applications order in AWS",
        `choose one, or leave it out for ${defaultAwsKinds.join(" and ")}`,
      ),
    ),
    ...(new Set(kinds).size > 1 && kinds.includes(noAwsKinds)
      ? [problem(kinds.join(", "), "is none beside other kinds", "leave out none, or the others")]
      : []),
  ];
}

const isNamespace = (document: Document): boolean => isMap(document.contents) && document.get("kind") === "Namespace";

/** The files of an application with the annotation that narrows what its namespace may order; comments stay. */
export function withAwsKinds(files: Files, kinds: readonly string[] | undefined): Files {
  if (kinds === undefined) return files;
  const documents = parseAllDocuments(files["namespace.yaml"] ?? "") as Document[];
  const namespace = documents.find(isNamespace);
  const value = [...new Set(kinds)].filter((kind) => kind !== noAwsKinds).join(" ");
  // Without the annotation the application could order every kind.
  if (namespace === undefined)
    throw new UsageError("templates/app/namespace.yaml has no Namespace to annotate. Add it");
  namespace.setIn(["metadata", "annotations", awsKindsAnnotation], value);
  return { ...files, "namespace.yaml": textOf(documents) };
}
