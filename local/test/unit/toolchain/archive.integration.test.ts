import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { archiveName, offerIn, SIGNATURE, SUMS, takeArchive, writeArchive } from "../../../toolchain/archive.ts";
import { ensureEntry, isComplete } from "../../../toolchain/cache.ts";
import { scratch } from "../../support/scratch.ts";

const keys = generateKeyPairSync("ed25519");
const publicKey = keys.publicKey.export({ type: "spki", format: "pem" }).toString();

let root: string;
let server: Server;
let url: string;
/** What the release's server has, by name. */
let release: Map<string, Buffer>;
/** Where it sends those who ask, in place of an answer. */
let elsewhere: string | undefined;
/** Sends half of a file and then nothing. */
let stalls: boolean;
let asked: string[];

beforeEach(async () => {
  root = scratch("archive-");
  release = new Map();
  elsewhere = undefined;
  stalls = false;
  asked = [];
  server = createServer((request, response) => {
    const name = request.url?.replace(/^\/(v1|moved)\//, "") ?? "";
    asked.push(name);
    if (elsewhere !== undefined && request.url?.startsWith("/v1/"))
      return void response.writeHead(302, { location: `${elsewhere}/${name}` }).end();
    const file = release.get(name);
    if (stalls && file !== undefined)
      return void response.writeHead(200, { "content-length": file.length }).write(file.subarray(0, file.length / 2));
    // As Python's server does after each answer: a client that is still busy writing has to cope.
    response.writeHead(file === undefined ? 404 : 200, { connection: "close" }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const entriesIn = (cache: string, key = "0123456789abcdef") =>
  ["go-main", "charts"].map((group) => ({ root: join(root, cache), group, key }));

const sums = (text: string) => {
  release.set(SUMS, Buffer.from(text));
  release.set(SIGNATURE, sign(null, Buffer.from(text), keys.privateKey));
};

/** A release of a cache with two entries, each with one program, and as many bytes that don't compress. */
async function publish(extra = 0): Promise<string> {
  for (const entry of entriesIn("builder"))
    await ensureEntry(entry, async (dir) => {
      await writeFile(join(dir, "program"), entry.group, { mode: 0o755 });
      await writeFile(join(dir, "extra"), randomBytes(extra));
    });
  await mkdir(join(root, "release"));
  sums(await writeArchive(entriesIn("builder"), join(root, "release")));
  const name = archiveName(entriesIn("builder"));
  release.set(name, readFileSync(join(root, "release", name)));
  return name;
}

const take = (key?: string) => takeArchive({ url, publicKey }, entriesIn("cache", key), () => {});

/** That nothing of the archive is in the cache. */
async function expectNothing() {
  for (const entry of entriesIn("cache")) expect(await isComplete(entry)).toBe(false);
  expect(existsSync(join(root, "cache", "archive"))).toBe(false);
}

describe("a release's toolchain", () => {
  test("fills the cache with complete entries, and leaves nothing else there", async () => {
    await publish();
    const said: string[] = [];
    await takeArchive({ url, publicKey }, entriesIn("cache"), (detail) => said.push(detail));
    for (const entry of entriesIn("cache")) {
      expect(await isComplete(entry)).toBe(true);
      expect(readFileSync(join(entry.root, entry.group, entry.key, "program"), "utf8")).toBe(entry.group);
    }
    expect((await readdir(join(root, "cache"))).sort()).toEqual(["charts", "go-main"]);
    expect(said.some((line) => line.includes("MB downloaded"))).toBe(true);
  });

  test("comes whole when it is larger than any buffer", async () => {
    await publish(3_000_000);
    await take();
    for (const entry of entriesIn("cache")) expect(await isComplete(entry)).toBe(true);
  });

  test("may be elsewhere, where the server says", async () => {
    await publish();
    elsewhere = url.replace("/v1", "/moved");
    await take();
    for (const entry of entriesIn("cache")) expect(await isComplete(entry)).toBe(true);
  });

  test("is refused when the server sends one to a place without TLS", async () => {
    await publish();
    elsewhere = "http://example.org";
    await expect(take()).rejects.toThrow(/sends one to http:\/\/example\.org\/SHA256SUMS.*without TLS/);
    await expectNothing();
  });

  test("is given up when no more of it comes", async () => {
    await publish();
    stalls = true;
    const limits = { idleMs: 50, archiveBytes: 1e6 };
    await expect(takeArchive({ url, publicKey }, entriesIn("cache"), () => {}, limits)).rejects.toThrow(
      /was cut off after \d+ bytes: no byte came for 0\.05 s\. Try again, or unset FLEET_TOOLCHAIN_URL/,
    );
    await expectNothing();
  });

  test("is refused when it is larger than a toolchain is", async () => {
    const name = await publish(3_000_000);
    const limits = { idleMs: 60_000, archiveBytes: 1e6 };
    await expect(takeArchive({ url, publicKey }, entriesIn("cache"), () => {}, limits)).rejects.toThrow(
      `${name} has more than the 1000000 bytes that such a file of a release may have`,
    );
    await expectNothing();
  });

  test("is refused with checksums that never end", async () => {
    await publish();
    sums("0".repeat(100_000));
    await expect(take()).rejects.toThrow(/SHA256SUMS has more than the 65536 bytes that such a file/);
    await expectNothing();
  });

  test("keeps a password of its URL out of messages", async () => {
    await publish();
    const named = { publicKey, url: url.replace("//", "//fleet:hunter2@") };
    const refusals = [
      () => release.delete(SIGNATURE),
      () => sums(`${"0".repeat(64)}  other\n`),
      () => {
        elsewhere = "http://fleet:hunter2@example.org";
      },
      () => server.close().closeAllConnections(),
    ];
    for (const prepare of refusals) {
      prepare();
      const error: Error = await takeArchive(named, entriesIn("cache"), () => {}).then(
        () => expect.fail("it was taken"),
        (problem: Error) => problem,
      );
      expect(error.message).toContain("FLEET_TOOLCHAIN_URL");
      expect(error.message).not.toContain("hunter2");
    }
  });

  test("is asked for nothing once all is there", async () => {
    await publish();
    await take();
    asked = [];
    await take();
    expect(asked).toEqual([]);
  });

  test("is the same archive from the same content", async () => {
    const name = await publish();
    const first = createHash("sha256")
      .update(release.get(name) ?? "")
      .digest("hex");
    await rm(join(root, "builder"), { recursive: true });
    await rm(join(root, "release"), { recursive: true });
    await publish();
    expect(
      createHash("sha256")
        .update(release.get(name) ?? "")
        .digest("hex"),
    ).toBe(first);
  });

  test("is refused before anything is unpacked when the archive was changed", async () => {
    const name = await publish();
    const archive = release.get(name) ?? Buffer.alloc(0);
    release.set(name, Buffer.concat([archive.subarray(0, -1), Buffer.from([0x2a])]));
    await expect(take()).rejects.toThrow(
      /its release says [0-9a-f]{64}: it was changed or cut off.*unset FLEET_TOOLCHAIN_URL/,
    );
    await expectNothing();
  });

  test("is refused without a look at the archive when its checksums are signed by another key", async () => {
    const name = await publish();
    const other = generateKeyPairSync("ed25519").privateKey;
    release.set(SIGNATURE, sign(null, release.get(SUMS) ?? Buffer.alloc(0), other));
    await expect(take()).rejects.toThrow(/is not a signature of SHA256SUMS with the key in FLEET_TOOLCHAIN_KEY/);
    expect(asked).not.toContain(name);
    await expectNothing();
  });

  test("is refused when the checksums were changed after they were signed", async () => {
    const name = await publish();
    release.set(SUMS, Buffer.from(`${"0".repeat(64)}  ${name}\n`));
    await expect(take()).rejects.toThrow(/is not a signature of/);
    await expectNothing();
  });

  test("of other recipes is refused with what there is", async () => {
    const name = await publish();
    await expect(take("fedcba9876543210")).rejects.toThrow(
      new RegExp(`has no toolchain of this checkout.*it has ${name}: check out the release's tag`),
    );
  });

  test("that isn't there says what the server answered", async () => {
    await expect(take()).rejects.toThrow(/SHA256SUMS(\.sig)? answers 404 Not Found: look at FLEET_TOOLCHAIN_URL/);
  });

  test("isn't written of what isn't built", async () => {
    await expect(writeArchive(entriesIn("builder"), root)).rejects.toThrow("go-main isn't built");
  });
});

describe("what a person names", () => {
  const file = async () => {
    await writeFile(join(root, "key.pem"), publicKey);
    return join(root, "key.pem");
  };

  test("is a URL and a key", async () =>
    expect(
      await offerIn({ FLEET_TOOLCHAIN_URL: "https://example.org/v1/", FLEET_TOOLCHAIN_KEY: await file() }),
    ).toEqual({ url: "https://example.org/v1", publicKey }));

  test("may be nothing: then the toolchain is built", async () => expect(await offerIn({})).toBeUndefined());

  test.each([
    ["http of another machine", "http://example.org/v1", /must be an https URL .*got http:\/\/example\.org/],
    ["no URL", "v1", /must be an https URL .*got v1/],
    ["http with a password", "http://fleet:hunter2@example.org/v1", /got http:\/\/example\.org\/v1:/],
    ["no scheme, with a password", "fleet:hunter2@example.org/v1", /got example\.org\/v1:/],
    ["no URL, with a password", "https://fleet:hun/ter2@example.org/v1", /got example\.org\/v1:/],
  ])("is refused as %s", async (_, named, message) =>
    expect(offerIn({ FLEET_TOOLCHAIN_URL: named, FLEET_TOOLCHAIN_KEY: await file() })).rejects.toThrow(message),
  );

  test("is refused without a key, and with one that isn't there", async () => {
    await expect(offerIn({ FLEET_TOOLCHAIN_URL: url })).rejects.toThrow("FLEET_TOOLCHAIN_KEY isn't");
    await expect(offerIn({ FLEET_TOOLCHAIN_URL: url, FLEET_TOOLCHAIN_KEY: "/nowhere.pem" })).rejects.toThrow(
      "FLEET_TOOLCHAIN_KEY names /nowhere.pem, which isn't there",
    );
  });

  test.each([
    ["a key of another kind", generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey, "got rsa"],
    ["no key", undefined, "got no key"],
  ])("is refused with %s", async (_, key, message) => {
    const path = join(root, "other.pem");
    await writeFile(path, key?.export({ type: "spki", format: "pem" }) ?? "not a key\n");
    await expect(offerIn({ FLEET_TOOLCHAIN_URL: url, FLEET_TOOLCHAIN_KEY: path })).rejects.toThrow(
      `FLEET_TOOLCHAIN_KEY names ${path}, which must hold an Ed25519 public key in PEM, ${message}`,
    );
  });
});
