// Makes Crossplane packages and prints `<repository>:<tag> <folder of the OCI layout>` for each, for `crane push`.
// Arguments: names (`function-spoke`, `provider-aws-ec2` …); without any, all packages. With --architecture, which may be repeated,
// each is an index of images to publish (`crane push --index`).
import { parseArgs } from "node:util";
import { cacheRoot } from "../../toolchain/cache.ts";
import { ensurePackages, packages } from "./index.ts";
import { ARCHITECTURES } from "./runtime.ts";

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: { architecture: { type: "string", multiple: true, default: [] } },
});
const nameOf = (repository: string) => repository.split("/").at(-1) as string;
const unknown = names.filter((name) => !packages.some(({ repository }) => nameOf(repository) === name));
if (unknown.length > 0) {
  const known = packages.map(({ repository }) => nameOf(repository)).join(", ");
  console.error(`no package is called ${unknown.join(" or ")}: give any of ${known}`);
  process.exit(2);
}
const foreign = values.architecture.filter((name) => !ARCHITECTURES.includes(name));
if (foreign.length > 0) {
  console.error(`no image is made for ${foreign.join(" or ")}: give --architecture any of ${ARCHITECTURES.join(", ")}`);
  process.exit(2);
}
const wanted = names.length === 0 ? packages : packages.filter(({ repository }) => names.includes(nameOf(repository)));
const made = await ensurePackages(cacheRoot(), (line) => console.error(line), wanted, values.architecture);
for (const { repository, tag, layout } of made) console.log(`${repository}:${tag} ${layout}`);
