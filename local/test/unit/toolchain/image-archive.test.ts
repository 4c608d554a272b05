import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { extract, type Header } from "tar-stream";
import { beforeEach, describe, expect, test } from "vitest";
import { layerEntries, writeLayer } from "../../../product.ts";
import { type ImageSpec, writeImageArchive } from "../../../toolchain/image-archive.ts";
import { scratch } from "../../support/scratch.ts";

const spec: ImageSpec = {
  reference: "example.org/app:v1",
  entrypoint: ["/usr/local/bin/app"],
  user: "65532:65532",
  files: { "/usr/local/bin/app": { source: "/nowhere" }, "/crds/a.yaml": { content: "a: 1\n" } },
};

describe("an image's archive", () => {
  let dir: string;
  let source: string;
  beforeEach(async () => {
    dir = scratch("image-");
    source = join(dir, "app");
    await writeFile(source, "#!program\n".repeat(100_000));
  });

  const own = (): ImageSpec => ({ ...spec, files: { ...spec.files, "/usr/local/bin/app": { source } } });

  test("names the image and holds a layer whose digest is the configuration's", async () => {
    const path = join(dir, "image.tar");
    await writeImageArchive(own(), path);
    const files = await readTar(createReadStream(path));
    const [manifest] = JSON.parse(text(files, "manifest.json"));
    expect(manifest.RepoTags).toEqual(["example.org/app:v1"]);
    const config = JSON.parse(text(files, manifest.Config));
    expect(config.config).toMatchObject({ Entrypoint: ["/usr/local/bin/app"], User: "65532:65532" });
    const layer = files.get(manifest.Layers[0])?.body ?? Buffer.alloc(0);
    expect(config.rootfs.diff_ids).toEqual([`sha256:${createHash("sha256").update(layer).digest("hex")}`]);
    const content = await readTar(Readable.from([layer]));
    expect(content.get("usr/local/bin/app")?.body.equals(await readFile(source))).toBe(true);
    expect(content.get("usr/local/bin/app")?.header.mtime).toEqual(new Date(0));
  });

  test("has a layer that others share below its own, which then lacks what every image needs, and the variables of its program", async () => {
    const tar = join(dir, "base.tar");
    const digest = await writeLayer(tar, layerEntries({ reference: "base", files: { "/base": { content: "b" } } }));
    const path = join(dir, "image.tar");
    await writeImageArchive({ ...own(), base: { tar, digest }, env: { VERSION: "v1" } }, path);
    const files = await readTar(createReadStream(path));
    const [manifest] = JSON.parse(text(files, "manifest.json"));
    const [first, second] = manifest.Layers.map((name: string) => files.get(name)?.body ?? Buffer.alloc(0));
    const { rootfs, config } = JSON.parse(text(files, manifest.Config));
    const digests = [first, second].map((layer) => `sha256:${createHash("sha256").update(layer).digest("hex")}`);
    expect([rootfs.diff_ids, digests[0]]).toEqual([digests, `sha256:${digest}`]);
    expect(config.Env).toContain("VERSION=v1");
    expect([...(await readTar(Readable.from([first]))).keys()]).toEqual(expect.arrayContaining(["base", "etc/passwd"]));
    expect([...(await readTar(Readable.from([second]))).keys()]).not.toContain("etc/passwd");
  });

  test("is the same for the same content, and leaves nothing else behind", async () => {
    for (const name of ["one.tar", "two.tar"]) await writeImageArchive(own(), join(dir, name));
    expect((await readFile(join(dir, "one.tar"))).equals(await readFile(join(dir, "two.tar")))).toBe(true);
    expect((await readdir(dir)).sort()).toEqual(["app", "one.tar", "two.tar"]);
  });

  test("is not made when a program is missing, and the error names it", async () => {
    await expect(writeImageArchive(spec, join(dir, "image.tar"))).rejects.toThrow("/nowhere");
    expect(await readdir(dir)).not.toContain("image.tar");
  });
});

type Files = Map<string, { header: Header; body: Buffer }>;

async function readTar(stream: Readable): Promise<Files> {
  const files: Files = new Map();
  const unpacked = stream.pipe(extract());
  for await (const entry of unpacked) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    files.set(entry.header.name, { header: entry.header, body: Buffer.concat(chunks) });
  }
  return files;
}

const text = (files: Files, name: string): string => files.get(name)?.body.toString("utf8") ?? "";
