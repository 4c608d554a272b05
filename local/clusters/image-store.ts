import { globSync } from "node:fs";
import { chmod, mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Instance } from "../instance/addresses.ts";
import { run } from "../instance/command.ts";
import { readJson, readText, writeAtomic } from "../instance/files.ts";
import { withLock } from "../instance/lock.ts";
import { supervisorOf } from "../supervisor/client.ts";
import { cacheRoot, contentKey, ensureEntry } from "../toolchain/cache.ts";
import type { Image, Toolchain } from "../toolchain/index.ts";

const PROCESS = "image-store";
const LOCK_SECONDS = 600;

/**
 * Gives a node the toolchain's images before its containerd starts. They are imported and unpacked once per machine
 * and toolchain, into a store in the cache; a node's own store is made of hard links to it (copies, where the cache is
 * on another file system), which costs neither time nor disk, nor memory for the same program on several nodes.
 * `record` tells which images a node has. Nothing happens to a node that has a store.
 */
export async function ensureNodeStore(
  instance: Instance,
  tools: Toolchain,
  root: string,
  record: string,
): Promise<void> {
  if ((await readText(record)) !== undefined) return;
  const store = await ensureImageStore(instance, tools);
  await rm(root, { recursive: true, force: true });
  await mkdir(dirname(root), { recursive: true, mode: 0o700 });
  const sameDevice = (await stat(store)).dev === (await stat(dirname(root))).dev;
  await run(["cp", "--archive", sameDevice ? "--link" : "--reflink=auto", store, root]);
  // What containerd writes to must be the node's own.
  for (const file of globSync("*/*.db", { cwd: store }))
    await run(["cp", "--archive", "--remove-destination", join(store, file), join(root, file)]);
  await writeRecord(record, tools.images());
}

/** Imports those of the images that a node got from an older toolchain, or lacks; returns whether there were any. Its containerd must run. */
export async function importMissing(
  tools: Toolchain,
  images: readonly Image[],
  socket: string,
  record: string,
): Promise<boolean> {
  const imported = (await readJson<Record<string, string>>(record)) ?? {};
  // The path of an archive names its content.
  const missing = images.filter(({ reference, tar }) => imported[reference] !== tar);
  if (missing.length === 0) return false;
  await importInto(tools, socket, missing);
  await writeRecord(record, images);
  return true;
}

async function ensureImageStore(instance: Instance, tools: Toolchain): Promise<string> {
  const archives = Object.fromEntries(tools.images().map(({ reference, tar }) => [reference, tar]));
  const version = await run([tools.bin("containerd"), "--version"]);
  const entry = { root: cacheRoot(), group: PROCESS, key: contentKey({ ...archives, version }) };
  return await withLock(PROCESS, () => ensureEntry(entry, (dir) => build(instance, tools, dir)), LOCK_SECONDS);
}

async function build(instance: Instance, tools: Toolchain, dir: string): Promise<void> {
  const supervisor = supervisorOf(instance);
  // Of an earlier build that was cut short.
  await supervisor.stop(PROCESS);
  for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true, force: true });
  const socket = join(instance.paths.run, `${PROCESS}.sock`);
  const config = join(instance.paths.run, `${PROCESS}.toml`);
  await writeAtomic(config, storeConfig(dir, join(instance.paths.run, PROCESS), socket));
  await supervisor.start({
    id: PROCESS,
    argv: [tools.bin("containerd"), "--config", config, "--log-level", "warn"],
    ready: { command: [tools.bin("ctr"), "--address", socket, "version"] },
  });
  try {
    await importInto(tools, socket, tools.images());
  } finally {
    await supervisor.stop(PROCESS);
  }
  await chmod(dir, 0o700);
}

async function importInto(tools: Toolchain, socket: string, images: readonly Image[]): Promise<void> {
  const command = [tools.bin("ctr"), "--address", socket, "--namespace", "k8s.io", "images", "import"] as const;
  await Promise.all(images.map(({ tar }) => run([...command, tar])));
}

function storeConfig(root: string, state: string, socket: string): string {
  return `version = 2
root = ${JSON.stringify(root)}
state = ${JSON.stringify(state)}
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = ${JSON.stringify(socket)}
`;
}

async function writeRecord(record: string, images: readonly Image[]): Promise<void> {
  const content = Object.fromEntries(images.map(({ reference, tar }) => [reference, tar]));
  await writeAtomic(record, `${JSON.stringify(content, null, 2)}\n`);
}
