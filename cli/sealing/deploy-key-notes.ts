import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseDocument } from "yaml";
import { deployKeyAnnotations } from "../../lib/labels.ts";
import type { Manifest } from "../render/files.ts";

/** What the SealedSecrets of deploy keys say of them: nobody but the cluster sees what is in one. */

/** What a SealedSecret says of the deploy key in it. */
export interface NotedKey {
  /** In OpenSSH's form, with its comment. */
  readonly publicKey: string;
  /** A day, as 2026-01-31; undefined for the fleet's keys, which Pulumi makes. */
  readonly made?: string | undefined;
  /** The key that it replaced, which is still to be removed at the Git host. */
  readonly former?: string | undefined;
}

/** A SealedSecret's text with what is noted of its deploy key, in place of what was noted before. */
export function withNote(sealed: string, { publicKey, made, former }: NotedKey): string {
  const document = parseDocument(sealed);
  const notes = { publicKey: publicKey.trim(), made, former };
  for (const member of ["publicKey", "made", "former"] as const) {
    const path = ["metadata", "annotations", deployKeyAnnotations[member]];
    if (notes[member] !== undefined) document.setIn(path, notes[member]);
    else if (document.hasIn(path)) document.deleteIn(path);
  }
  return document.toString({ lineWidth: 0 });
}

/** What a SealedSecret notes of its deploy key; undefined where it has none, such as for a token. */
export function noteOf({ metadata }: Partial<Manifest>): NotedKey | undefined {
  const annotations = metadata?.annotations ?? {};
  const publicKey = annotations[deployKeyAnnotations.publicKey];
  const [made, former] = [annotations[deployKeyAnnotations.made], annotations[deployKeyAnnotations.former]];
  return publicKey === undefined ? undefined : { publicKey, made, former };
}

/** The SealedSecret of a file of its own; nothing of it where the file is empty. */
export const readSealed = (path: string): Partial<Manifest> => parseDocument(readFileSync(path, "utf8")).toJS() ?? {};

/** What the SealedSecret in a file notes of its deploy key. */
export const noteAt = (path: string): NotedKey | undefined => noteOf(readSealed(path));

/** A day as it is noted. */
export const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

const blobOf = (publicKey: string): string => publicKey.split(" ")[1] ?? "";

/** Whether two public keys are one, whatever their comments. */
export const isSameKey = (a: string, b: string): boolean => blobOf(a) === blobOf(b);

/** A public key's fingerprint as ssh-keygen and the Git hosts show it. */
export const fingerprintOf = (publicKey: string): string =>
  `SHA256:${createHash("sha256")
    .update(Buffer.from(blobOf(publicKey), "base64"))
    .digest("base64")
    .replace(/=+$/, "")}`;

/** Whose key it is, as its comment says. */
export const ownerOf = (publicKey: string): string => publicKey.split(" ").slice(2).join(" ");

const folder = "next";

/** Where the SealedSecret of the key lies that is to take the place of the one in a file: no kustomization lists it. */
export const nextFile = (file: string): string => join(dirname(file), folder, basename(file));

/** Whether a file is where {@link nextFile} has it: an application may be called like the folder. */
export const isNextFile = (file: string): boolean =>
  basename(dirname(file)) === folder && existsSync(join(dirname(dirname(file)), basename(file)));
