import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureOwned } from "../instance/folder.ts";
import { distribution, hasApt, unpackPackages } from "../product.ts";
import { CHECKOUT, debianSource } from "../product-paths.ts";
import { CACHE_FOLDER, cacheRoot, contentKey, ensureEntry, readTexts } from "./cache.ts";
import { run } from "./run.ts";
import { commandPath } from "./system.ts";
import { inTurn, sayTurn } from "./turn.ts";
import { expectLibraries, libraryFolders } from "./unpacked.ts";

/** A browser for tests of pages: the machine's own Chromium, or Debian's out of its packages. No other part needs it. */
export interface Browser {
  readonly program: string;
  /** Variables that it needs besides those of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/** Chromium with its resources, and a font: without one a page has no text. */
const PACKAGES = ["chromium", "chromium-common", "fonts-dejavu-core"];

/** Only the unpacked fonts: the same page looks the same on each machine. */
const fontSettings = (root: string, dir: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>${join(root, "usr", "share", "fonts")}</dir>
<cachedir>${join(dir, "font-cache")}</cachedir>
<alias><family>system-ui</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
</fontconfig>
`;

/**
 * Unpacks the browser into the cache at the first time: 200 MB to download, 650 MB on the disk. Nothing is installed.
 * @throws where the machine has neither Chromium nor apt
 */
export async function ensureBrowser(write: (line: string) => void): Promise<Browser> {
  const own = commandPath("chromium");
  if (own !== undefined) return { program: own, env: {} };
  if (!hasApt())
    throw new Error(
      "chromium is not on this machine, and there is no apt-get to take it from the distribution: install it",
    );
  const root = cacheRoot();
  const texts = await readTexts(CHECKOUT, [debianSource, "local/toolchain/browser.ts", "local/toolchain/unpacked.ts"]);
  const key = contentKey({ ...texts, release: await distribution() });
  await sayTurn(root, "browser", write);
  const dir = await inTurn(root, "browser", async () => {
    await ensureOwned(CACHE_FOLDER, root);
    return ensureEntry({ root, group: "browser", key }, async (folder) => {
      await unpackPackages(folder, PACKAGES, { say: (detail) => write(`the browser: ${detail}`), run });
    });
  });
  const unpacked = join(dir, "root");
  const program = join(unpacked, "usr", "lib", "chromium", "chromium");
  // libpulse looks for a part of its own in a folder below that is named in full.
  const folders = (await libraryFolders(unpacked)).flatMap((folder) => [folder, join(folder, "pulseaudio")]);
  const libraries = folders.filter((folder) => existsSync(folder));
  await expectLibraries(program, libraries);
  await mkdir(join(dir, "font-cache"), { recursive: true });
  const fonts = join(dir, "fonts.conf");
  await writeFile(fonts, fontSettings(unpacked, dir));
  return { program, env: { LD_LIBRARY_PATH: libraries.join(":"), FONTCONFIG_FILE: fonts } };
}
