import { createHash } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import {
  addEntry,
  type EntryHeader,
  imageArchitecture,
  imageConfig,
  type LayerSpec,
  layerEntries,
  type RunSpec,
  writeLayer,
  writeTar,
} from "../product.ts";

/** A container image of one layer, made of static programs and a few files. */
export type ImageSpec = LayerSpec & Omit<RunSpec, "env">;

/**
 * Writes the image as a `docker save` archive, which containerd imports. Nothing is compressed: an import then only copies.
 * The same spec and files give the same bytes. A killed run leaves no file under the final name.
 */
export async function writeImageArchive(spec: ImageSpec, path: string): Promise<void> {
  const layer = `${path}.layer`;
  const layerDigest = await writeLayer(layer, layerEntries(spec));
  const config = imageConfig(spec, [layerDigest], imageArchitecture());
  const configName = `${createHash("sha256").update(config).digest("hex")}.json`;
  const layerName = `${layerDigest}/layer.tar`;
  const manifest = JSON.stringify([{ Config: configName, RepoTags: [spec.reference], Layers: [layerName] }]);
  const header = (name: string): EntryHeader => ({ name, mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) });
  await writeTar(`${path}.new`, async (tar) => {
    await addEntry(tar, header("manifest.json"), { content: manifest });
    await addEntry(tar, header(configName), { content: config });
    await addEntry(tar, header(layerName), { source: layer });
  });
  await rm(layer);
  await rename(`${path}.new`, path);
}
