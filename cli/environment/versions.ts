import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import semver from "semver";
import { type Document, isMap, isScalar, type Pair, parseDocument, type Scalar, type YAMLMap } from "yaml";
import type { Problem } from "../../lib/problems.ts";
import { environmentTools } from "./folders.ts";

/** The versions of an environment's tools, as tools/<environment>/versions.yaml has them. */

interface Version {
  readonly value: string;
  /** Why it is not to be changed, empty without a reason; undefined for one that is not pinned. */
  readonly pinned: string | undefined;
}

/** The file of an environment, opened to be changed: comments and order stay. */
export interface OpenVersions {
  /** From the top of the checkout. */
  readonly path: string;
  readonly document: Document;
  /** By the tool's name, which is its variable's without _version. */
  readonly versions: ReadonlyMap<string, Version>;
}

const suffix = "_version";
const place = ["spec", "postBuild", "substitute"];

/** The file, from the top of the checkout. */
export const versionsFile = (environment: string): string => join(environmentTools(environment), "versions.yaml");

/** A line of a comment that says that the version below it, or beside it, stays: `# pinned: why`, or nearly so: people write it by hand. */
const pin = /^ *pinned\b[: -]*(.*)$/im;

interface Entry {
  readonly key: Scalar<string>;
  readonly value: Scalar;
}

/** The comment of a map's first entry is the map's for the parser; it goes to the entry, where other entries have theirs. */
function withCommentsAtEntries(map: YAMLMap): YAMLMap {
  const [first] = map.items;
  if (map.commentBefore && first !== undefined && isScalar(first.key)) {
    first.key.commentBefore = map.commentBefore;
    map.commentBefore = null;
  }
  return map;
}

const mapOf = (document: Document): YAMLMap => document.getIn(place) as YAMLMap;

/** The entries of versions, by the tool's name; variables of another kind are each environment's own. */
const entriesOf = (document: Document): Map<string, Entry> =>
  new Map(
    (mapOf(document).items as unknown as Entry[])
      .filter(({ key, value }) => isScalar(value) && String(key.value).endsWith(suffix))
      .map((entry) => [entry.key.value.slice(0, -suffix.length), entry]),
  );

const pinOf = ({ key, value }: Entry): string | undefined => {
  const found = [key.commentBefore, value.comment].map((comment) => pin.exec(comment ?? "")).find(Boolean);
  return found ? (found[1] ?? "") : undefined;
};

/** The versions of an environment, or what hinders reading them. */
export function openVersions(checkout: string, environment: string): OpenVersions | Problem {
  const path = versionsFile(environment);
  const wrong = (what: string, got: string): Problem => ({
    ...{ key: path, what, got },
    allowed: `a Kustomization with each version in ${place.join(".")}, as <tool>${suffix}: "<version>"`,
    remedy: "correct the file first",
  });
  if (!existsSync(join(checkout, path))) return wrong("is not there", "(nothing)");
  const document = parseDocument(readFileSync(join(checkout, path), "utf8")) as Document;
  const [error] = document.errors;
  if (error !== undefined) return wrong(`is not YAML: ${error.message}`, "(not shown)");
  const map = document.getIn(place);
  if (!isMap(map)) return wrong(`has no ${place.join(".")}`, "(nothing)");
  withCommentsAtEntries(map);
  const entries = [...entriesOf(document)];
  const odd = entries.find(([, { value }]) => typeof value.value !== "string");
  if (odd !== undefined) return wrong(`has a version that is not a text: ${odd[0]}${suffix}`, String(odd[1].value));
  const versions = entries.map(
    ([name, entry]) => [name, { value: entry.value.value as string, pinned: pinOf(entry) }] as const,
  );
  return { path, document, versions: new Map(versions) };
}

/** What the file says besides versions, as plain values. */
export function otherThanVersions({ document, versions }: OpenVersions): unknown {
  const rest = document.clone() as Document;
  for (const name of versions.keys()) rest.deleteIn([...place, `${name}${suffix}`]);
  return rest.toJS();
}

/** Whether a version is newer or older than another one; unknown where one of them is no semantic version. */
export function direction(from: string, to: string): "up" | "down" | "same" | "unknown" {
  if (from === to) return "same";
  const [before, after] = [semver.parse(from), semver.parse(to)];
  if (before === null || after === null) return "unknown";
  const order = semver.compare(before, after);
  return order === 0 ? "unknown" : order < 0 ? "up" : "down";
}

/** A comment without the line that pins. */
const unpinned = (comment: string | null | undefined): string =>
  (comment ?? "")
    .split("\n")
    .filter((line) => !pin.test(line))
    .join("\n");

/** Adds an entry in the order of names, with its comment, which tells Renovate where the tool comes from. */
function add(document: Document, { key, value }: Entry): void {
  const map = mapOf(document);
  const made = document.createPair(key.value, value.value) as Pair<Scalar<string>, Scalar>;
  made.key.commentBefore = unpinned(key.commentBefore);
  const behind = map.items.findIndex(({ key: other }) => String((other as Scalar).value) > key.value);
  map.items.splice(behind < 0 ? map.items.length : behind, 0, made);
}

/** The text of `to` with the versions of these tools as `from` has them. */
export function withVersionsOf(from: OpenVersions, to: OpenVersions, names: readonly string[]): string {
  const [source, target] = [entriesOf(from.document), entriesOf(to.document)];
  for (const name of names) {
    const entry = source.get(name) as Entry;
    const own = target.get(name);
    if (own === undefined) add(to.document, entry);
    else own.value.value = entry.value.value;
  }
  return to.document.toString({ lineWidth: 0 });
}
