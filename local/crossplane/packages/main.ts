// Makes Crossplane packages and prints `<repository>:<tag> <folder of the OCI layout>` for each, for `crane push`.
// Arguments: names (`function-spoke`, `provider-aws-ec2` …); without any, all packages.
import { cacheRoot } from "../../toolchain/cache.ts";
import { ensurePackages, packages } from "./index.ts";

const names = process.argv.slice(2);
const nameOf = (repository: string) => repository.split("/").at(-1) as string;
const unknown = names.filter((name) => !packages.some(({ repository }) => nameOf(repository) === name));
if (unknown.length > 0) {
  const known = packages.map(({ repository }) => nameOf(repository)).join(", ");
  console.error(`no package is called ${unknown.join(" or ")}: give any of ${known}`);
  process.exit(2);
}
const wanted = names.length === 0 ? packages : packages.filter(({ repository }) => names.includes(nameOf(repository)));
for (const { repository, tag, layout } of await ensurePackages(cacheRoot(), (line) => console.error(line), wanted))
  console.log(`${repository}:${tag} ${layout}`);
