import { createHash, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

/** `read` may fetch, `read-write` may also push. */
type Access = "read" | "read-write";

const repository = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "a repository is lower case letters, digits and dashes");
const access = z.enum(["read", "read-write"]);

const fileSchema = z.strictObject({
  /** SSH deploy keys: one key opens one repository, as at a Git host. */
  deployKeys: z
    .array(
      z.strictObject({
        repository,
        /** OpenSSH form, `ssh-ed25519 AAAA… comment`. */
        publicKey: z.string().regex(/^[a-z0-9@.-]+ [A-Za-z0-9+/]+=*( .*)?$/, "a public key is in OpenSSH form"),
        access,
      }),
    )
    .default([]),
  /** HTTP basic authentication; only a token's SHA-256 is stored (tokens are random, so no slow hash is needed). */
  tokens: z
    .array(z.strictObject({ repository, username: z.string().min(1), sha256: z.hex().length(64), access }))
    .default([]),
  /** GitHub Apps: their installation tokens open all of their repositories. */
  apps: z
    .array(
      z.strictObject({
        id: z.int().positive(),
        installationId: z.int().positive(),
        /** PEM. */
        publicKey: z.string().startsWith("-----BEGIN PUBLIC KEY-----"),
        repositories: z.array(repository).min(1),
        access,
      }),
    )
    .default([]),
});

/** Who may do what: the content of `<dir>/git/keys.json`. */
export type AccessList = z.infer<typeof fileSchema>;
export type DeployKey = AccessList["deployKeys"][number];
export type Token = AccessList["tokens"][number];
export type App = AccessList["apps"][number];

/** The rights that one authenticated client has. */
export type Grants = ReadonlyMap<string, Access>;

/** Reads the access list; a missing file grants nothing to anybody, a wrong one throws with everything that is wrong in it. */
export function readAccessList(file: string): AccessList {
  if (!existsSync(file)) return fileSchema.parse({});
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const detail = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`${file} is not a valid access list, nobody is let in until it is repaired:\n${detail}`);
  }
}

/** What an OpenSSH public key says behind type and blob: whose it is. */
const keyComment = (publicKey: string) => publicKey.split(" ").slice(2).join(" ");

/** Whether one deploy key takes the place of another: the same key, or a newer one of the same owner, for the same repository. */
export const replaces = (a: DeployKey, b: DeployKey): boolean =>
  a.repository === b.repository &&
  (isSameKey(a.publicKey, b.publicKey) || keyComment(a.publicKey) === keyComment(b.publicKey));

/** Whether two public keys are one, whatever their comments. */
export const isSameKey = (a: string, b: string): boolean => keyBlob(a) === keyBlob(b);

/** The base64 blob of an OpenSSH public key, without type and comment. */
const keyBlob = (publicKey: string) => publicKey.split(" ")[1] ?? "";

function grants(entries: readonly { repository: string; access: Access }[]): Grants {
  const found = new Map<string, Access>();
  for (const entry of entries)
    if (found.get(entry.repository) !== "read-write") found.set(entry.repository, entry.access);
  return found;
}

/** What the holder of an SSH key may do; empty for an unknown key. */
export function grantsOfKey(list: AccessList, blob: Buffer): Grants {
  const wanted = blob.toString("base64");
  return grants(list.deployKeys.filter((key) => keyBlob(key.publicKey) === wanted));
}

/** What the bearer of an HTTP basic credential may do; empty for a wrong one. */
export function grantsOfToken(list: AccessList, username: string, token: string): Grants {
  const digest = createHash("sha256").update(token).digest();
  return grants(
    list.tokens.filter(
      (entry) => entry.username === username && timingSafeEqual(Buffer.from(entry.sha256, "hex"), digest),
    ),
  );
}

/** The Git service behind a request; the one that writes needs `read-write`. */
export type Service = "git-upload-pack" | "git-receive-pack";

export const isService = (name: string): name is Service => name === "git-upload-pack" || name === "git-receive-pack";

/** Undefined when the request is allowed, else why it is not. */
export function refusal(granted: Grants, repositoryName: string, service: Service): string | undefined {
  const has = granted.get(repositoryName);
  if (has === undefined) return `this credential does not open the repository ${repositoryName}`;
  if (service === "git-receive-pack" && has === "read") {
    return `this credential may only read ${repositoryName}: register it with access "read-write" to push`;
  }
  return undefined;
}
