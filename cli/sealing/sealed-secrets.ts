import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { sealedAnnotations } from "../../lib/labels.ts";
import { filesBelow, isManifest, isObject, type Manifest } from "../render/files.ts";
import { type NotedKey, noteOf } from "./deploy-key-notes.ts";

/** A SealedSecret in a checkout. */
export interface Sealed {
  /** Path of its file. */
  readonly file: string;
  readonly namespace: string | undefined;
  /** Undefined where the file is not YAML, so that nobody can tell what is in it. */
  readonly name: string | undefined;
  /** Scope that it says it was sealed for; undefined where it does not say. */
  readonly scope: string | undefined;
  /** SHA-256 of the certificate that it says it was sealed with; undefined where it does not say. */
  readonly certificate: string | undefined;
  /** The deploy key in it, if it notes one. */
  readonly deployKey?: NotedKey;
}

/** Objects of a document: of a list, its items. */
const objectsIn = (content: unknown): unknown[] =>
  isObject(content) && Array.isArray(content["items"]) ? content["items"] : [content];

export const isSealedSecret = (value: unknown): value is Manifest =>
  isManifest(value) && value.kind === "SealedSecret" && value.apiVersion.startsWith("bitnami.com/");

function sealedFrom(file: string, { metadata }: Manifest): Sealed {
  const deployKey = noteOf({ metadata });
  return {
    file,
    namespace: metadata?.namespace,
    name: metadata?.name,
    scope: metadata?.annotations?.[sealedAnnotations.scope],
    certificate: metadata?.annotations?.[sealedAnnotations.certificate],
    ...(deployKey === undefined ? {} : { deployKey }),
  };
}

/** The SealedSecrets of a file; one of which nothing is known, if it should have some and is not YAML. */
export function sealedOf(file: string): Sealed[] {
  const text = readFileSync(file, "utf8");
  if (!/\bkind["']?\s*:\s*["']?SealedSecret\b/.test(text)) return [];
  const documents = parseAllDocuments(text);
  if (documents.some(({ errors }) => errors.length > 0))
    return [{ file, namespace: undefined, name: undefined, scope: undefined, certificate: undefined }];
  const objects = documents.flatMap((document) => objectsIn(document.toJS()));
  return objects.filter(isSealedSecret).map((object) => sealedFrom(file, object));
}

/** Every SealedSecret in checkouts, hidden folders aside. */
export const sealedIn = (checkouts: readonly string[]): Sealed[] =>
  [...new Set(checkouts.flatMap(filesBelow))].filter((file) => /\.(ya?ml|json)$/.test(file)).flatMap(sealedOf);
