import { existsSync, globSync, readFileSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bundleInParts } from "../../functions/spoke/package/bundle.ts";
import packageJson from "../../package.json" with { type: "json" };

/** The npm package of `fleet`: the commands and all that they import, so that it depends on no other package. */

const root = join(import.meta.dirname, "..", "..");
const PROGRAM = "fleet.mjs";

/** Whose package it is: a repository of this project, `owner/name`. */
export interface Origin {
  readonly owner: string;
  readonly repository: string;
}

/** @throws Error for anything else than `owner/name` */
export function originOf(repository: string): Origin {
  const [, owner] = /^([\w.-]+)\/[\w.-]+$/.exec(repository) ?? [];
  if (owner !== undefined) return { owner: owner.toLowerCase(), repository };
  throw new Error(`--repository is "${repository}"; it must be the owner and the name of a repository, as acme/fleets`);
}

export const packageName = ({ owner }: Origin): string => `@${owner}/fleet`;

/** npm compares `repository` with the repository of the workflow that publishes the package. */
const manifest = (origin: Origin) => ({
  name: packageName(origin),
  version: packageJson.version,
  description: "The commands of eks-gitops-fleet: a fleet of EKS clusters run from Git.",
  license: packageJson.license,
  repository: { type: "git", url: `git+https://github.com/${origin.repository}.git` },
  type: "module",
  bin: { fleet: PROGRAM },
  engines: packageJson.engines,
});

const readme = (origin: Origin): string => `# ${packageName(origin)}

The commands of [eks-gitops-fleet](https://github.com/${origin.repository}), a fleet of EKS clusters run from Git. They need Node
${packageJson.engines.node} and no other package:

\`\`\`
npm install --global ${packageName(origin)}
fleet --help
\`\`\`

\`fleet\` reads checkouts of the fleet's repositories, the hub and the spokes with your own rights, and changes nothing but files, unless
it is told to commit or push. It runs \`git\`, and for some commands \`kustomize\` or \`kubectl\`, \`helm\`, \`kubeseal\`, \`pulumi\` and \`ssh\`: the
help of a command says which. \`fleet doctor\`, \`init\`, \`rotate-key\`, \`rotate-deploy-key hub\`, \`upgrade-platform\`, \`add-environment --stack\`,
\`node-releases --stack\`, \`costs --stack\`, and \`diff\` between states of the project work on the project's own files: call them in a checkout of the same version. Where a command asks for outputs of the hub's
stack, name it in full elsewhere: \`--stack <organization>/<project>/<stack>\`.

[The reference of the commands](https://github.com/${origin.repository}/blob/v${packageJson.version}/docs/reference/cli.md)
`;

/** The folders of the packages that sources are of. */
const packagesOf = (sources: readonly string[]): string[] => [
  ...new Set(sources.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])),
];

/** What the licences of the packages ask for that are part of the bundle: their own texts. */
function licences(packages: readonly string[]): string {
  const texts = packages.toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const [file] = globSync("{LICENSE,LICENCE,license,License}*", { cwd: join(root, folder) }).sort();
    const text =
      file === undefined ? "(the package has no text of its licence)" : readFileSync(join(root, folder, file), "utf8");
    return `${name} ${version}, ${license}\n\n${text.trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

/** Every file of the package by its path. */
export async function packageFiles(origin: Origin): Promise<Readonly<Record<string, string>>> {
  const { files, sources } = await bundleInParts(root, "cli/main.ts", "fleet");
  return {
    ...files,
    "package.json": `${JSON.stringify(manifest(origin), undefined, 2)}\n`,
    "README.md": readme(origin),
    LICENSE: readFileSync(join(root, "LICENSE"), "utf8"),
    "THIRD-PARTY-LICENSES.txt": licences(packagesOf(sources)),
  };
}

/** Writes the package into a folder, in the place of an earlier one. @throws Error when something else is there */
export async function writePackage(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  if (existsSync(folder) && !existsSync(join(folder, PROGRAM)))
    throw new Error(`${folder} is there and is no package of fleet; name a new folder`);
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await chmod(join(folder, PROGRAM), 0o755);
}
