import { join } from "node:path";
import type { ImageFile } from "../../functions/spoke/package/layer.ts";
import { type Platform, writeLayout } from "../../functions/spoke/package/layout.ts";
import { NODE } from "../../functions/spoke/package/runtime.ts";

/** The image of `fleet`: Node, the commands, and kubectl, by which they run kustomize. */

/** Where the commands are in the image. */
const FOLDER = "/usr/local/lib/fleet";

/** kubectl for a processor, out of a folder with `<processor>/kubectl`; it needs no library. */
export const kubectlIn =
  (folder: string) =>
  (architecture: string): Readonly<Record<string, ImageFile>> => ({
    "/usr/local/bin/kubectl": { source: join(folder, architecture, "kubectl") },
  });

/** Writes the image into `layout`, of the files of the npm package, for each platform. */
export const writeImage = (
  layout: string,
  files: Readonly<Record<string, string>>,
  platforms: readonly Platform[],
): Promise<void> =>
  writeLayout(layout, {
    name: "fleet",
    platforms,
    layers: [
      {
        files: Object.fromEntries(
          Object.entries(files).map(([path, content]) => [join(FOLDER, path), { content }] as const),
        ),
      },
    ],
    entrypoint: [NODE, join(FOLDER, "fleet.mjs")],
    user: "65532:65532",
  });
