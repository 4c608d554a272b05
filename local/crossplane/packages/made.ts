/** The product's Crossplane packages and their runtime, made once and kept in the toolchain's cache. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readText } from "../../instance/index.ts";
import {
  imageArchitecture,
  NODE_VERSION,
  ownNode,
  type PackageSpec,
  type Platform,
  packageYaml,
  writePackage,
  writeRuntime,
} from "../../product.ts";
import { CHECKOUT, packageSources } from "../../product-paths.ts";
import type { Published } from "../../registry/index.ts";
import { contentKey, ensureEntry, readTexts } from "../../toolchain/cache.ts";
import { run } from "../../toolchain/run.ts";

/** A package with what it is made of. */
export interface MadePackage extends PackageSpec {
  /** Files and folders (from the checkout) whose content the program is made of, besides its dependencies. */
  readonly sources: readonly string[];
}

type Say = (detail: string) => void;

/** The package's image for this machine. `root` is the toolchain's cache. */
export async function ensurePackage(root: string, spec: MadePackage, platform: Platform, say: Say): Promise<Published> {
  const name = spec.repository.split("/").at(-1) as string;
  const key = contentKey({
    ...(await readTexts(CHECKOUT, [...new Set([...spec.sources, ...packageSources])])),
    content: packageYaml(spec.objects),
    platform: `${platform.architecture} ${platform.base.digest}`,
  });
  const layout = await ensureEntry({ root, group: `package-${name}`, key }, async (folder) => {
    say(`${spec.repository}:${spec.version}`);
    await writePackage(folder, spec, [platform]);
  });
  return { repository: spec.repository, tag: spec.version, layout };
}

/** The layer with Node for this machine. */
export async function ensureRuntime(root: string, say: Say): Promise<Platform> {
  const sources = await readTexts(CHECKOUT, packageSources);
  const key = contentKey({ ...sources, version: NODE_VERSION, binary: ownNode.node });
  const folder = await ensureEntry({ root, group: "node-runtime", key }, async (dir) => {
    const { base } = await writeRuntime(dir, { say, run });
    await writeFile(join(dir, "digest"), base.digest);
  });
  const digest = await readText(join(folder, "digest"));
  if (digest === undefined) throw new Error(`${folder} has no digest: remove the folder and run again`);
  return { architecture: imageArchitecture(), base: { tar: join(folder, "layer.tar"), digest } };
}
