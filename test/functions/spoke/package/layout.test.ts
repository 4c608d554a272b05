import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { layerEntries, writeLayer } from "../../../../functions/spoke/package/layer.ts";
import { type LayoutSpec, type Platform, writeLayout } from "../../../../functions/spoke/package/layout.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "layout-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const read = async (name: string) => JSON.parse(await readFile(join(folder, name), "utf8"));
const blob = (layout: string, digest: string) => join(layout, "blobs", digest.replace(":", "/"));

async function specWith(layer: string): Promise<LayoutSpec> {
  const tar = join(folder, `${layer}.tar`);
  const digest = await writeLayer(tar, layerEntries({ reference: "base", files: { "/bin/run": { content: layer } } }));
  return {
    name: "example.org/one",
    platforms: [{ architecture: "amd64", base: { tar, digest } }],
    layers: [
      { files: { "/package.yaml": { content: "kind: Provider\n" } }, annotations: { "io.crossplane.xpkg": "base" } },
    ],
    entrypoint: ["/bin/run", "--flag"],
    user: "65532:65532",
    env: { A: "b" },
  };
}

describe("an image layout", () => {
  test("is a valid image: every blob has its digest and size, in the order of the layers", async () => {
    await writeLayout(join(folder, "one"), await specWith("a"));
    const index = await read("one/index.json");
    const manifest = JSON.parse(await readFile(blob(join(folder, "one"), index.manifests[0].digest), "utf8"));
    const blobs = [index.manifests[0], manifest.config, ...manifest.layers] as { digest: string; size: number }[];
    for (const { digest, size } of blobs) {
      const content = await readFile(blob(join(folder, "one"), digest));
      expect(`sha256:${createHash("sha256").update(content).digest("hex")}`).toBe(digest);
      expect(content.length).toBe(size);
    }
    const config = JSON.parse(await readFile(blob(join(folder, "one"), manifest.config.digest), "utf8"));
    expect(config.rootfs.diff_ids).toEqual(manifest.layers.map(({ digest }: { digest: string }) => digest));
    expect(config.config).toMatchObject({ Entrypoint: ["/bin/run", "--flag"], User: "65532:65532" });
    expect(config.config.Env).toContain("A=b");
    expect(manifest.layers[1].annotations).toEqual({ "io.crossplane.xpkg": "base" });
  });

  test("is the same for the same content, and shares a layer instead of copying it", async () => {
    const spec = await specWith("b");
    await writeLayout(join(folder, "two"), spec);
    await writeLayout(join(folder, "three"), spec);
    expect(await read("two/index.json")).toEqual(await read("three/index.json"));
    const [{ base: shared }] = spec.platforms as [Platform];
    const inode = (path: string) => stat(path).then(({ ino }) => ino);
    expect(await inode(blob(join(folder, "two"), `sha256:${shared.digest}`))).toBe(await inode(shared.tar));
  });
});

describe("a layout for several processors", () => {
  test("has an image for each, told apart by its platform, which differ in their own layer only", async () => {
    const [amd64, arm64] = [await specWith("x86"), await specWith("graviton")];
    const [base] = arm64.platforms as [Platform];
    await writeLayout(join(folder, "both"), {
      ...amd64,
      platforms: [...amd64.platforms, { ...base, architecture: "arm64" }],
    });
    const index = await read("both/index.json");
    expect(index.mediaType).toBe("application/vnd.oci.image.index.v1+json");
    const images = await Promise.all(
      (index.manifests as { digest: string; platform: object }[]).map(async ({ digest, platform }) => {
        const json = async (name: string) => JSON.parse(await readFile(blob(join(folder, "both"), name), "utf8"));
        const manifest = await json(digest);
        const config = await json(manifest.config.digest);
        expect(platform).toEqual({ os: config.os, architecture: config.architecture });
        expect(config.rootfs.diff_ids).toEqual(manifest.layers.map((layer: { digest: string }) => layer.digest));
        return { architecture: config.architecture, layers: manifest.layers };
      }),
    );
    expect(images.map(({ architecture }) => architecture)).toEqual(["amd64", "arm64"]);
    const [first, second] = images.map(({ layers }) => layers);
    expect(first[0].digest).not.toBe(second[0].digest);
    expect(first.slice(1)).toEqual(second.slice(1));
    // Where Crossplane finds package.yaml, in whichever image it takes.
    expect(first.at(-1).annotations).toEqual({ "io.crossplane.xpkg": "base" });
  });
});
