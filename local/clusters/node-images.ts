import { run } from "../instance/command.ts";
import { readJson, writeAtomic } from "../instance/files.ts";

/** An image of the toolchain: the archive's path names its content. */
export interface ImageArchive {
  readonly reference: string;
  readonly tar: string;
}

/**
 * Imports image archives into a node's containerd, all at once; those that the node has (by the list in `record`, with
 * the same archive) are skipped. An import that was cut short is simply done again.
 */
export async function importImages(
  ctr: string,
  socket: string,
  record: string,
  images: readonly ImageArchive[],
): Promise<void> {
  const imported = (await readJson<Record<string, string>>(record)) ?? {};
  const missing = images.filter(({ reference, tar }) => imported[reference] !== tar);
  if (missing.length === 0) return;
  // Without unpacking: that happens at first use, and most nodes use few of the images.
  const command = [ctr, "--address", socket, "--namespace", "k8s.io", "images", "import", "--no-unpack"] as const;
  await Promise.all(missing.map(({ tar }) => run([...command, tar])));
  const all = Object.fromEntries(images.map(({ reference, tar }) => [reference, tar]));
  await writeAtomic(record, `${JSON.stringify(all, null, 2)}\n`);
}
