/** Small translations between protocol messages and the framework's own types. */
import type { DiffResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import provpb from "@pulumi/pulumi/proto/provider_pb.js";
import type { CheckFailure } from "./accepts.ts";
import type { Diff, PropertyDiff } from "./diff.ts";

/** Puts the failures into a response. */
export function setFailures<R extends { setFailuresList(list: ReturnType<typeof failureOf>[]): R }>(
  response: R,
  failures: readonly CheckFailure[],
): R {
  return response.setFailuresList(failures.map(failureOf));
}

function failureOf(failure: CheckFailure) {
  return new provpb.CheckFailure().setProperty(failure.property).setReason(failure.reason);
}

/** Puts a diff into a response, detailed and by top-level name. */
export function setDiff(response: DiffResponse, diff: Diff): DiffResponse {
  const { DIFF_NONE, DIFF_SOME } = provpb.DiffResponse.DiffChanges;
  const entries = Object.entries(diff.properties);
  const replaces = entries.filter(([, property]) => property.replace).map(([path]) => path);
  for (const [path, property] of entries) {
    const message = new provpb.PropertyDiff().setKind(kindOf(property)).setInputdiff(true);
    response.getDetaileddiffMap().set(path, message);
  }
  return response
    .setChanges(entries.length > 0 ? DIFF_SOME : DIFF_NONE)
    .setDiffsList([...new Set(entries.map(([path]) => topLevel(path)))])
    .setReplacesList([...new Set(replaces.map(topLevel))])
    .setHasdetaileddiff(true)
    .setDeletebeforereplace(replaces.length > 0 && (diff.deleteBeforeReplace ?? false));
}

function kindOf({ kind, replace }: PropertyDiff) {
  const name = kind.toUpperCase() as "ADD" | "DELETE" | "UPDATE";
  return provpb.PropertyDiff.Kind[replace ? (`${name}_REPLACE` as const) : name];
}

function topLevel(path: string): string {
  return path.split(/[.[]/, 1)[0] as string;
}
