import { createHash, createPublicKey, verify } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { readText } from "../instance/files.ts";
import { contentKey, type Entry, ensureEntry, isComplete } from "./cache.ts";
import { run } from "./run.ts";

/** The files of a release beside its archives: their checksums, as sha256sum writes them, and the Ed25519 signature of these. */
export const SUMS = "SHA256SUMS";
export const SIGNATURE = "SHA256SUMS.sig";

/** A release that offers the toolchain. */
export interface Offer {
  /** Where its files are: a URL without their names. */
  readonly url: string;
  /** The public key that its signature is checked with, in PEM. */
  readonly publicKey: string;
}

const WITHOUT = "unset FLEET_TOOLCHAIN_URL to build the toolchain on this machine";

/** What a download may take. */
export interface Limits {
  /** Milliseconds without a byte. */
  readonly idleMs: number;
  /** Bytes of the archive: it is written to disk before its checksum is known. */
  readonly archiveBytes: number;
}

// The programs of today take 1.4 GB before they are compressed. `npm start` asks for 6 GiB of disk for archive and content.
const LIMITS: Limits = { idleMs: 60_000, archiveBytes: 2 * 1024 ** 3 };

/** Bytes of the checksums and of their signature, which are held in memory. */
const SUMS_BYTES = 64 * 1024;

/** Milliseconds for a whole download. */
const DOWNLOAD_MS = 3600_000;

/** The release in FLEET_TOOLCHAIN_URL, with the key in the file FLEET_TOOLCHAIN_KEY; undefined when none is named. */
export async function offerIn(env: NodeJS.ProcessEnv = process.env): Promise<Offer | undefined> {
  const { FLEET_TOOLCHAIN_URL: url, FLEET_TOOLCHAIN_KEY: file } = env;
  if (!url) return undefined;
  if (!URL.canParse(url) || !isTrustworthy(new URL(url)))
    throw new Error(
      `FLEET_TOOLCHAIN_URL must be an https URL (http only of this machine's 127.0.0.1), got ${shown(url)}: name the folder of a release's files, or ${WITHOUT}`,
    );
  if (!file)
    throw new Error(
      `FLEET_TOOLCHAIN_URL is set, but FLEET_TOOLCHAIN_KEY isn't: name the file with the public key that the release is signed with, or ${WITHOUT}`,
    );
  const publicKey = await readText(file);
  if (publicKey === undefined)
    throw new Error(
      `FLEET_TOOLCHAIN_KEY names ${file}, which isn't there: name the release's public key, or ${WITHOUT}`,
    );
  const found = keyType(publicKey);
  if (found !== "ed25519")
    throw new Error(
      `FLEET_TOOLCHAIN_KEY names ${file}, which must hold an Ed25519 public key in PEM, got ${found ?? "no key"}: name the release's public key (release.pem, not SHA256SUMS.sig), or ${WITHOUT}`,
    );
  return { url: url.replace(/\/$/, ""), publicKey };
}

/** What kind of public key a PEM file holds, such as `rsa`; undefined when it holds none. */
function keyType(pem: string): string | undefined {
  try {
    return createPublicKey(pem).asymmetricKeyType;
  } catch {
    return undefined; // OpenSSL's words for it name neither the file nor what to do
  }
}

/** A URL as messages name it: without a password in it, and without the query of a signed address. */
function shown(url: string): string {
  if (URL.canParse(url) && new URL(url).host !== "") return `${new URL(url).origin}${new URL(url).pathname}`;
  return url.replace(/^.*@/, "");
}

const isTrustworthy = ({ protocol, hostname }: URL) =>
  protocol === "https:" || (protocol === "http:" && hostname === "127.0.0.1");

/** The name of the archive with these entries: another recipe or processor has another name. */
export const archiveName = (entries: readonly Entry[]): string =>
  `toolchain-${contentKey(Object.fromEntries(entries.map(({ group, key }) => [group, key])))}-${process.arch}.tar.gz`;

/**
 * Writes the archive of complete entries of one cache into a folder, and returns its line of SHA256SUMS.
 * @throws when one of them is incomplete
 */
export async function writeArchive(entries: readonly Entry[], folder: string): Promise<string> {
  for (const entry of entries)
    if (!(await isComplete(entry))) throw new Error(`${entry.group} isn't built: build the toolchain first`);
  const name = archiveName(entries);
  const path = join(folder, name);
  const paths = entries.map(({ group, key }) => join(group, key));
  const fixed = ["--exclude=.complete", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  await run(["tar", "-czf", path, ...fixed, "-C", entries[0]?.root ?? "", ...paths]);
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return `${hash.digest("hex")}  ${name}\n`;
}

/**
 * Takes entries that are not in the cache from a release. Nothing is unpacked before its checksum and the signature of the
 * checksums are found right.
 * @throws with what is wrong and what to do; the cache is then as it was
 */
export async function takeArchive(
  offer: Offer,
  entries: readonly Entry[],
  say: (detail: string) => void,
  limits: Limits = LIMITS,
): Promise<void> {
  const [first] = entries;
  const complete = await Promise.all(entries.map(isComplete));
  if (first === undefined || complete.every(Boolean)) return;
  const name = archiveName(entries);
  const wanted = await checksum(offer, name, limits);
  const work = join(first.root, "archive");
  await rm(work, { recursive: true, force: true });
  await mkdir(join(work, "unpacked"), { recursive: true });
  try {
    const path = join(work, name);
    const got = await download(`${offer.url}/${name}`, path, limits, say);
    if (got !== wanted)
      refuse(
        `${shown(offer.url)}/${name} has the SHA-256 ${got}, its release says ${wanted}: it was changed or cut off. Try again`,
      );
    say("unpacking");
    await run(["tar", "-xzf", path, "--no-same-owner", "-C", join(work, "unpacked")]);
    for (const entry of entries)
      await ensureEntry(entry, async (dir) => {
        await rm(dir, { recursive: true });
        await rename(join(work, "unpacked", entry.group, entry.key), dir);
      });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** What the release says of an archive, once its signature is found right. */
async function checksum({ url, publicKey }: Offer, name: string, { idleMs }: Limits): Promise<string> {
  const get = (file: string) => buffer(body(`${url}/${file}`, idleMs, SUMS_BYTES));
  const [sums, signature] = await Promise.all([get(SUMS), get(SIGNATURE)]);
  if (!verify(null, sums, createPublicKey(publicKey), signature))
    refuse(
      `${shown(url)}/${SIGNATURE} is not a signature of ${SUMS} with the key in FLEET_TOOLCHAIN_KEY: another key signed the release, or it was changed. Don't use it`,
    );
  const lines = sums
    .toString()
    .split("\n")
    .map((line) => line.split("  "));
  const [found] = lines.find(([, file]) => file === name) ?? [];
  if (found === undefined)
    refuse(
      `the release at ${shown(url)} has no toolchain of this checkout and processor (${name}), it has ${lines.flatMap(([, file]) => file ?? []).join(", ")}: check out the release's tag`,
    );
  return found;
}

function refuse(problem: string): never {
  throw new Error(`${problem}, or ${WITHOUT}.`);
}

/** The answer to a GET. By node:http, because a large body whose server hangs up at its end fails an assertion in Node 22's fetch. */
async function answer(url: string, idleMs: number, redirects = 5): Promise<IncomingMessage> {
  const at = new URL(url);
  const get = at.protocol === "https:" ? https.get : http.get;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    let stalled: { destroy(error: Error): unknown };
    const request = get(at, { signal: AbortSignal.timeout(DOWNLOAD_MS) }, (got) => {
      stalled = got;
      resolve(got);
    });
    stalled = request;
    request.on("error", reject);
    request.setTimeout(idleMs, () => stalled.destroy(new Error(`no byte came for ${idleMs / 1000} s`)));
  }).catch((error: Error) => refuse(`${shown(url)} can't be reached: ${error.message}. Try again`));
  const { statusCode = 0, statusMessage, headers } = response;
  if (statusCode === 200) return response;
  response.resume();
  if (headers.location === undefined || redirects === 0)
    refuse(`${shown(url)} answers ${statusCode} ${statusMessage}: look at FLEET_TOOLCHAIN_URL`);
  const next = new URL(headers.location, at);
  if (!isTrustworthy(next)) refuse(`${shown(url)} sends one to ${shown(next.href)}, without TLS: take another release`);
  return answer(next.href, idleMs, redirects - 1);
}

/** The body of an answer, of at most `limit` bytes; `onChunk` gets how many have come, and of how many (NaN: not known). */
async function* body(
  url: string,
  idleMs: number,
  limit: number,
  onChunk: (received: number, total: number) => void = () => {},
): AsyncGenerator<Buffer> {
  const response = await answer(url, idleMs);
  let received = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      received += chunk.length;
      if (received > limit) break;
      onChunk(received, Number(response.headers["content-length"]));
      yield chunk;
    }
  } catch (error) {
    refuse(`${shown(url)} was cut off after ${received} bytes: ${(error as Error).message}. Try again`);
  }
  if (received > limit)
    refuse(`${shown(url)} has more than the ${limit} bytes that such a file of a release may have. Don't use it`);
}

/** Downloads an archive and returns its SHA-256 in hex. */
async function download(
  url: string,
  path: string,
  { idleMs, archiveBytes }: Limits,
  say: (detail: string) => void,
): Promise<string> {
  const hash = createHash("sha256");
  const told = (received: number, total: number) =>
    say(`${megabytes(received)} of ${total > 0 ? megabytes(total) : "?"} MB downloaded`);
  await pipeline(
    body(url, idleMs, archiveBytes, told),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(path),
  );
  return hash.digest("hex");
}

const megabytes = (size: number) => Math.round(size / 1e6);
