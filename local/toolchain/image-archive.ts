import { createHash } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import {
  addEntry,
  type EntryHeader,
  imageArchitecture,
  imageConfig,
  type LayerSpec,
  layerEntries,
  type Platform,
  type RunSpec,
  writeLayer,
  writeTar,
} from "../product.ts";

/** A container image of one layer, made of programs and a few files. */
export interface ImageSpec extends LayerSpec, RunSpec {
  /** A layer below it, which several images share, and which has what every image needs. */
  readonly base?: Platform["base"];
}

/**
 * Writes the image as a `docker save` archive, which containerd imports. Nothing is compressed: an import then only copies.
 * The same spec and files give the same bytes. A killed run leaves no file under the final name.
 */
export async function writeImageArchive(spec: ImageSpec, path: string): Promise<void> {
  const layer = `${path}.layer`;
  const own = { tar: layer, digest: await writeLayer(layer, layerEntries(spec, spec.base === undefined)) };
  const layers = spec.base === undefined ? [own] : [spec.base, own];
  const digests = layers.map(({ digest }) => digest);
  const config = imageConfig(spec, digests, imageArchitecture());
  const configName = `${createHash("sha256").update(config).digest("hex")}.json`;
  const nameOf = (digest: string) => `${digest}/layer.tar`;
  const manifest = JSON.stringify([{ Config: configName, RepoTags: [spec.reference], Layers: digests.map(nameOf) }]);
  const header = (name: string): EntryHeader => ({ name, mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) });
  await writeTar(`${path}.new`, async (tar) => {
    await addEntry(tar, header("manifest.json"), { content: manifest });
    await addEntry(tar, header(configName), { content: config });
    for (const { tar: source, digest } of layers) await addEntry(tar, header(nameOf(digest)), { source });
  });
  await rm(layer);
  await rename(`${path}.new`, path);
}
