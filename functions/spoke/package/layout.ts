/** Container images of several layers, for one processor or several, as OCI image layouts, which `crane push` takes (https://github.com/opencontainers/image-spec). */
import { createHash } from "node:crypto";
import { link, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ImageFile, imageConfig, layerEntries, type RunSpec, writeLayer } from "./layer.ts";

interface Layer {
  /** Path in the image to what is there. */
  readonly files: Readonly<Record<string, ImageFile>>;
  /** Annotations in the manifest. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A layer that is there already; several layouts share it by hard links. */
interface SharedLayer {
  readonly tar: string;
  /** SHA-256 in hex. */
  readonly digest: string;
}

/** A processor, by its name in images (GOARCH), and the layer that is its own. */
export interface Platform {
  readonly architecture: string;
  readonly base: SharedLayer;
}

export interface LayoutSpec extends RunSpec {
  /** The image's name without tag, for messages. */
  readonly name: string;
  /** An image for each, in this order. */
  readonly platforms: readonly Platform[];
  /** What every image has above its platform's layer. */
  readonly layers: readonly Layer[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
// Not compressed: on one machine that costs more than the bytes it saves.
const LAYER = "application/vnd.oci.image.layer.v1.tar";

/** Writes the layout into `folder`. The same content gives the same digests. */
export async function writeLayout(folder: string, spec: LayoutSpec): Promise<void> {
  const blobs = join(folder, "blobs", "sha256");
  await mkdir(blobs, { recursive: true });

  const blob = async (mediaType: string, content: object): Promise<Descriptor> => {
    const text = JSON.stringify(content);
    const digest = createHash("sha256").update(text).digest("hex");
    await writeFile(join(blobs, digest), text);
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
  };
  const shared = async ({ tar, digest }: SharedLayer): Promise<Descriptor> => {
    await rm(join(blobs, digest), { force: true });
    await link(tar, join(blobs, digest));
    return { mediaType: LAYER, digest: `sha256:${digest}`, size: (await stat(tar)).size };
  };
  const layer = async ({ files, annotations }: Layer): Promise<Descriptor> => {
    const temporary = join(blobs, "layer.new");
    const digest = await writeLayer(temporary, layerEntries({ reference: spec.name, files }, false));
    await rename(temporary, join(blobs, digest));
    const { size } = await stat(join(blobs, digest));
    return { mediaType: LAYER, digest: `sha256:${digest}`, size, ...(annotations && { annotations }) };
  };

  const common: Descriptor[] = [];
  for (const each of spec.layers) common.push(await layer(each));
  const image = async ({ architecture, base }: Platform) => {
    const layers = [await shared(base), ...common];
    const digests = layers.map(({ digest }) => digest.replace("sha256:", ""));
    const config = await blob(CONFIG, JSON.parse(imageConfig(spec, digests, architecture)) as object);
    const manifest = await blob(MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config, layers });
    return { ...manifest, platform: { os: "linux", architecture } };
  };
  const manifests: object[] = [];
  for (const platform of spec.platforms) manifests.push(await image(platform));
  await writeFile(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  await writeFile(join(folder, "index.json"), JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests }));
}
