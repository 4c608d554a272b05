/** A Crossplane package whose program runs on Node: an image that is its own runtime (Crossplane 2, "xpkg" specification). */
import { join } from "node:path";
import { stringify } from "yaml";
import type { Published } from "../../registry/index.ts";
import { type Platform, writeLayout } from "../../registry/layout.ts";
import { contentKey, ensureEntry, readTexts } from "../../toolchain/cache.ts";
import { bundle } from "./bundle.ts";
import { NODE } from "./runtime.ts";

export interface PackageSpec {
  /** Upstream's repository, with its host. */
  readonly repository: string;
  /** Tag: `v1.2.3`. */
  readonly version: string;
  /** The program's entry. */
  readonly entry: string;
  /** Folders (from here) whose content the program is made of, besides its dependencies. */
  readonly sources: readonly string[];
  /** package.yaml: the metadata, and what Crossplane installs. */
  readonly objects: readonly object[];
}

const PROGRAM = "/program.mjs";
const CA_FILE = "/etc/ssl/certs/ca-certificates.crt";

export const packageYaml = (objects: readonly object[]): string =>
  objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join("---\n");

/** Makes the package's images, one for each platform, unless they are cached. */
export async function ensurePackage(
  root: string,
  spec: PackageSpec,
  platforms: readonly Platform[],
  say: (detail: string) => void,
): Promise<Published> {
  const name = spec.repository.split("/").at(-1) as string;
  const content = packageYaml(spec.objects);
  const key = contentKey({
    ...(await readTexts(import.meta.dirname, [
      ...spec.sources,
      ...["package.ts", "bundle.ts", "../../registry/layout.ts", "../../../package-lock.json"],
    ])),
    content,
    platforms: platforms.map(({ architecture, base }) => `${architecture} ${base.digest}`).join(", "),
  });
  const layout = await ensureEntry({ root, group: `package-${name}`, key }, async (folder) => {
    say(`${spec.repository}:${spec.version}`);
    await writeLayout(folder, {
      name: spec.repository,
      platforms,
      layers: [
        { files: { [PROGRAM]: { content: await bundle(spec.entry) } } },
        // Crossplane reads this layer alone.
        { files: { "/package.yaml": { content } }, annotations: { "io.crossplane.xpkg": "base" } },
      ],
      // The only roots that Node trusts are those in the file: an instance's CA, and none elsewhere.
      entrypoint: [NODE, "--use-openssl-ca", PROGRAM],
      env: { SSL_CERT_FILE: CA_FILE, NODE_ENV: "production" },
      user: "65532:65532",
    });
  });
  return { repository: spec.repository, tag: spec.version, layout: join(layout) };
}
