import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Document, parseAllDocuments } from "yaml";
import type { SpokeSpec } from "../../functions/spoke/api.ts";
import { spokeFolder } from "../../lib/layout.ts";
import type { Problem } from "../../lib/problems.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { closest } from "../closest.ts";
import { fleetsOf, spokesOfAll } from "../fleet/folders.ts";
import { checkoutProblems } from "../folder.ts";
import type { Manifest } from "../render/files.ts";
import { nameProblems } from "./rules.ts";

/** A Spoke's file in a checkout of gitops-system, opened to be changed: comments and order stay. */
export interface SpokeFile<S = Readonly<Record<string, unknown>>> {
  readonly spoke: string;
  readonly fleet: string;
  /** From the top of the checkout. */
  readonly path: string;
  readonly documents: readonly Document[];
  readonly document: Document;
  readonly manifest: Manifest;
  readonly spec: Partial<S>;
}

const fileOf = (fleet: string, spoke: string): string => join(spokeFolder(fleet, spoke), "spoke.yaml");

/** The file of a spoke, or the problem that it is not a Spoke in YAML. */
export function openSpoke<S>(checkout: string, fleet: string, spoke: string, key: string): SpokeFile<S> | Problem {
  const path = fileOf(fleet, spoke);
  const documents = parseAllDocuments(readFileSync(join(checkout, path), "utf8")) as Document[];
  const error = documents.flatMap(({ errors }) => errors)[0];
  const document = documents.find((each) => each.get("kind") === spokeApi.kind);
  if (error !== undefined || document === undefined)
    return {
      key,
      what: error === undefined ? "has no Spoke in its file" : `has a file that is not YAML: ${error.message}`,
      got: path,
      allowed: "a manifest of the kind Spoke",
      remedy: "correct the file first",
    };
  const manifest: Manifest = document.toJS();
  return { spoke, fleet, path, documents, document, manifest, spec: manifest.spec ?? {} };
}

/** Who makes the cluster of a spoke, where the hub does not. */
const makerOf = ({ spec }: SpokeFile<object>): string | undefined =>
  (spec as Partial<Pick<SpokeSpec, "existing">>).existing?.madeBy;

/** Whether something else than the hub makes the cluster of a spoke. */
export const hasOtherMaker = (file: SpokeFile<object>): boolean => makerOf(file) !== undefined;

/**
 * The problem of a spoke whose cluster the hub does not make: what the Spoke says of that has no effect.
 * @param remedy what to do in place of the command
 */
export function makerProblems(file: SpokeFile<object>, remedy: string): Problem[] {
  const madeBy = makerOf(file);
  if (madeBy === undefined) return [];
  return [
    {
      ...{
        key: "<spoke>",
        what: "has a cluster that the hub does not make",
        got: `existing.madeBy ${madeBy} in ${file.path}`,
      },
      ...{ allowed: "a Spoke whose cluster the hub makes", remedy },
    },
  ];
}

/** The problem of a name that no spoke has. @param key the flag or argument that gives it */
export function noSpoke(got: string, known: readonly string[] = [], key = "<spoke>"): Problem {
  const similar = closest(got, known);
  return {
    key,
    what: "is not the name of a spoke in this checkout",
    got,
    allowed: "a folder in spokes/<fleet> with the spoke.yaml of a Spoke",
    remedy: `${similar === undefined ? "correct the name or the fleet" : `did you mean ${similar}? If not, correct the fleet`}, or pull the checkout; fleet new-cluster makes a new spoke`,
  };
}

/** The problem of a name that no spoke of any fleet in the checkout has. @param key the flag or argument that gives it */
export function spokeProblems(checkout: string, name: string, key: string): Problem[] {
  const wrong = nameProblems(name, key);
  const isThere = wrong.length > 0 || !existsSync(join(checkout, "spokes")) || fleetsOf(checkout, name).length > 0;
  return isThere ? wrong : [noSpoke(name, spokesOfAll(checkout), key)];
}

/** A spoke that a command line names, or why it is not found. */
export type Found<S> =
  | { readonly file: SpokeFile<S>; readonly problems: readonly never[] }
  | { readonly file: undefined; readonly problems: readonly Problem[] };

/** Finds a spoke by its name, and its fleet by that where only one has such a spoke. */
export function findSpoke<S = Readonly<Record<string, unknown>>>(
  checkout: string,
  name: string,
  fleet: string | undefined,
): Found<S> {
  const wrong = [...checkoutProblems(checkout, "gitops-system", "spokes"), ...nameProblems(name, "<spoke>")];
  if (wrong.length > 0) return { file: undefined, problems: wrong };
  const all = fleetsOf(checkout, name).filter((each) => existsSync(join(checkout, fileOf(each, name))));
  const fleets = all.filter((each) => fleet === undefined || each === fleet);
  const [only] = fleets;
  if (only === undefined)
    return {
      file: undefined,
      problems: [all.length === 0 ? noSpoke(name, spokesOfAll(checkout)) : noSpoke(`${name} of fleet ${fleet}`)],
    };
  if (fleets.length > 1)
    return {
      file: undefined,
      problems: [
        {
          key: "--fleet",
          what: `is needed: several fleets have a spoke ${name}`,
          got: "(nothing)",
          allowed: fleets.join(", "),
          remedy: "name one of them",
        },
      ],
    };
  const file = openSpoke<S>(checkout, only, name, "<spoke>");
  return "remedy" in file ? { file: undefined, problems: [file] } : { file, problems: [] };
}
