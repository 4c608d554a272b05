import { existsSync, readFileSync, statSync } from "node:fs";
import { type Problem, shown } from "../../lib/problems.ts";
import { isObject } from "../render/files.ts";
import { UsageError } from "../usage.ts";

/** Reads the output of `pulumi preview --json` for a stack. */

export const resourceOperations = ["create", "update", "replace", "delete"] as const;
export type ResourceOperation = (typeof resourceOperations)[number];

export interface StackChange {
  readonly operation: ResourceOperation;
  readonly type: string;
  readonly name: string;
  readonly stateful: boolean;
  /** Properties that change; their values are not shown. */
  readonly properties: readonly string[];
  /** Properties that force a replacement. */
  readonly because: readonly string[];
}

export interface Stack {
  readonly name: string;
  readonly changes: readonly StackChange[];
  /** Resources that stay as they are. */
  readonly same: number;
  /** Errors of the preview. */
  readonly errors: readonly string[];
}

/** The operation that each of Pulumi's steps counts as: of the up to three steps of a replacement only one does. */
const operationOf: Readonly<Record<string, ResourceOperation>> = {
  create: "create",
  import: "create",
  update: "update",
  replace: "replace",
  delete: "delete",
  discard: "delete",
};

/** Types whose replacement or deletion loses data, keys, or everything that depends on them. */
const stateful =
  /^(aws:(backup|docdb|dynamodb|ebs|efs|elasticache|fsx|kinesis|kms\/key|memorydb|msk|neptune|opensearch|rds|redshift|s3|secretsmanager|sqs)\b|aws:(eks\/cluster:Cluster|ec2\/vpc:Vpc|cloudwatch\/logGroup:LogGroup)$|tls:index\/privateKey:|random:|kubernetes:(core\/v1:(PersistentVolume|PersistentVolumeClaim|Namespace)|apps\/v1:StatefulSet|apiextensions\.k8s\.io\/.*|helm\.sh\/v3:Release)$)/;

interface Step {
  readonly op: string;
  readonly urn: string;
  readonly detailedDiff?: unknown;
  readonly diffReasons?: unknown;
  readonly replaceReasons?: unknown;
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

function changeOf({ op, urn, detailedDiff, diffReasons, replaceReasons }: Step): StackChange[] {
  const operation = operationOf[op];
  if (operation === undefined) return [];
  const [, , types = "", name = ""] = urn.split("::");
  const type = types.split("$").at(-1) as string;
  const properties = isObject(detailedDiff) ? Object.keys(detailedDiff) : texts(diffReasons);
  return [
    {
      operation,
      type,
      name,
      stateful: stateful.test(type),
      properties: properties.sort(),
      because: operation === "replace" ? texts(replaceReasons) : [],
    },
  ];
}

const rank = ({ operation, stateful: keeps, type, name }: StackChange): string =>
  [
    keeps && ["delete", "replace"].includes(operation) ? 0 : 1,
    ["delete", "replace", "update", "create"].indexOf(operation),
    type,
    name,
  ].join(" ");

/** A stack's changes, from the text of its preview. @throws UsageError */
export function stackOf(name: string, text: string): Stack {
  const wrong = (why: string) =>
    new UsageError(
      `--preview ${name}: ${why}; it must be what pulumi preview --json --stack ${name} writes (with --non-interactive)`,
    );
  let preview: unknown;
  try {
    // Plugins may write a line or two before the document.
    preview = JSON.parse(text.slice(Math.max(0, text.search(/^\{/m))));
  } catch (error) {
    throw wrong((error as Error).message);
  }
  if (!isObject(preview) || !Array.isArray(preview["steps"] ?? [])) throw wrong("it has no steps");
  const { steps = [], diagnostics } = preview as {
    steps?: Step[];
    diagnostics?: { severity?: string; message?: string }[];
  };
  return {
    name,
    changes: steps.flatMap(changeOf).toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)),
    same: steps.filter(({ op }) => op === "same").length,
    errors: (diagnostics ?? []).flatMap(({ severity, message = "" }) => (severity === "error" ? [message.trim()] : [])),
  };
}

const partsOf = (flag: string): readonly [name: string, file: string] => {
  const [name = "", ...rest] = flag.split("=");
  return [name, rest.join("=")];
};

/** The problem of a `STACK=FILE` that has another form, or whose file is not there. */
export function previewProblems(flag: string): Problem[] {
  const [name, file] = partsOf(flag);
  const problem = (what: string, remedy: string): Problem[] => [
    { key: "--preview", what, got: shown(flag), allowed: "STACK=FILE", remedy },
  ];
  if (name === "" || file === "") return problem("has another form", "write the stack, = and the file");
  if (existsSync(file) && statSync(file).isFile()) return [];
  return problem(
    `names a file that does not exist: ${file}`,
    `pulumi preview --json --non-interactive --stack ${name} > ${file}`,
  );
}

/** @param flag `STACK=FILE` @throws UsageError when the file is not a preview */
export function readPreview(flag: string): Stack {
  const [name, file] = partsOf(flag);
  return stackOf(name, readFileSync(file, "utf8"));
}
