/** Images and charts of ACK's controllers, of which nothing can be built here: one program of ours in them, on Node, under upstream's names. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { chartFiles } from "../ack/chart.ts";
import { ensureRuntime } from "../crossplane/packages/made.ts";
import { bundle, NODE } from "../product.ts";
import { CHECKOUT, packageSources } from "../product-paths.ts";
import type { StandInAddon } from "./addon-table.ts";
import { contentKey, type Entry, ensureEntry, readTexts } from "./cache.ts";
import { writeImageArchive } from "./image-archive.ts";

const ack = join(import.meta.dirname, "..", "ack");
export const PROGRAM_ENTRY = join(ack, "main.ts");
/** Where the program is in the images. */
const PROGRAM = "/program.mjs";

/** What the program is made of, besides its dependencies. */
export const sources = [
  "local/ack",
  "local/aws",
  "local/crossplane/provider-aws/cluster",
  "local/program.ts",
  "local/work-queue.ts",
] as const;

/** The controller's image. Its program knows its version by the environment, as upstream's knows its own from its build. */
export async function standInImage(root: string, addon: StandInAddon, version: string) {
  const { image, chart } = addon;
  const name = image.split("/").at(-1) as string;
  const reference = `${image}:${chart.version}`;
  const texts = await readTexts(CHECKOUT, [...sources, ...packageSources, "local/toolchain/stand-ins.ts"]);
  const entry: Entry = {
    root,
    group: `image-${name}`,
    key: contentKey({ ...texts, reference, architecture: process.arch }),
  };
  const make = async (_programs: unknown, begins: () => void): Promise<string> => {
    const folder = await ensureEntry(entry, async (dir) => {
      begins();
      const { base } = await ensureRuntime(root, () => {});
      const spec = {
        ...{ reference, base },
        files: { [PROGRAM]: { content: await bundle(PROGRAM_ENTRY) } },
        // The only roots that Node trusts are those in the file: an instance's CA, and none elsewhere.
        entrypoint: [NODE, "--use-openssl-ca", PROGRAM],
        env: {
          CONTROLLER_VERSION: version,
          NODE_ENV: "production",
          SSL_CERT_FILE: "/etc/ssl/certs/ca-certificates.crt",
        },
        user: "65532:65532",
      };
      await writeImageArchive(spec, join(dir, "image.tar"));
    });
    return join(folder, "image.tar");
  };
  return { name, reference, entry, make };
}

/** What the charts are made of. */
export const standInChartSources = (): Promise<Record<string, string>> =>
  readTexts(ack, ["chart", "chart.ts", "definitions.ts"]);

export async function writeStandInChart(folder: string, { standIn, chart }: StandInAddon): Promise<void> {
  for (const [path, text] of Object.entries(chartFiles(standIn, chart.version))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
