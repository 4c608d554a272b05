/** A Crossplane package whose program runs on Node: an image that is its own runtime (Crossplane 2, "xpkg" specification). */
import { stringify } from "yaml";
import { bundle } from "./bundle.ts";
import { type Platform, writeLayout } from "./layout.ts";
import { NODE } from "./runtime.ts";

export interface PackageSpec {
  /** The repository that it is published in, with its host. */
  readonly repository: string;
  /** Tag: `v1.2.3`. */
  readonly version: string;
  /** The program's entry. */
  readonly entry: string;
  /** Entries of further programs that the image has, by their paths in it: for pods that name one as their command. */
  readonly programs?: Readonly<Record<string, string>>;
  /** package.yaml: the metadata, and what Crossplane installs. */
  readonly objects: readonly object[];
}

const PROGRAM = "/program.mjs";
const CA_FILE = "/etc/ssl/certs/ca-certificates.crt";

export const packageYaml = (objects: readonly object[]): string =>
  objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join("---\n");

const programs = async (entries: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    await Promise.all(Object.entries(entries).map(async ([path, entry]) => [path, { content: await bundle(entry) }])),
  ) as Readonly<Record<string, { readonly content: string }>>;

/** Writes the package into `folder` as an OCI image layout, with an image for each platform. */
export async function writePackage(folder: string, spec: PackageSpec, platforms: readonly Platform[]): Promise<void> {
  await writeLayout(folder, {
    name: spec.repository,
    platforms,
    layers: [
      { files: await programs({ [PROGRAM]: spec.entry, ...spec.programs }) },
      // Crossplane reads this layer alone.
      {
        files: { "/package.yaml": { content: packageYaml(spec.objects) } },
        annotations: { "io.crossplane.xpkg": "base" },
      },
    ],
    // The only roots that Node trusts are those in the file: an instance's CA, and none elsewhere.
    entrypoint: [NODE, "--use-openssl-ca", PROGRAM],
    env: { SSL_CERT_FILE: CA_FILE, NODE_ENV: "production" },
    user: "65532:65532",
  });
}
