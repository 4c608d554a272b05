import { join } from "node:path";
import { writeLayout } from "../../functions/spoke/package/layout.ts";
import { NODE, writeRuntimes } from "../../functions/spoke/package/runtime.ts";

/** Where the commands are in the image. */
const FOLDER = "/usr/local/lib/fleet";

/**
 * Writes the image of `fleet` into `layout`, for each processor: Node, the commands, and kubectl, by which they run kustomize.
 * @param folder for what is made on the way
 * @param files of the npm package
 * @param kubectl folder with `<processor>/kubectl`, which needs no library
 */
export async function writeImage(
  folder: string,
  layout: string,
  files: Readonly<Record<string, string>>,
  kubectl: string,
): Promise<void> {
  const platforms = await writeRuntimes(join(folder, "runtime"), (architecture) => ({
    "/usr/local/bin/kubectl": { source: join(kubectl, architecture, "kubectl") },
  }));
  const commands = Object.entries(files).map(([path, content]) => [join(FOLDER, path), { content }] as const);
  await writeLayout(layout, {
    name: "fleet",
    platforms,
    layers: [{ files: Object.fromEntries(commands) }],
    entrypoint: [NODE, join(FOLDER, "fleet.mjs")],
    user: "65532:65532",
  });
}
