// Makes the npm package of fleet and prints `<name>@<version> <its folder>`, or with --image its image, and prints `<name>:v<version>
// <folder of the OCI layout>`, for `crane push --index`. For --image it runs on Debian, as the composition function's package does.
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { writeRuntimes } from "../../functions/spoke/package/runtime.ts";
import packageJson from "../../package.json" with { type: "json" };
import { kubectlIn, writeImage } from "./image.ts";
import { originOf, packageFiles, packageName, writePackage } from "./package.ts";

const usage = "node scripts/cli-package/main.ts <folder> --repository OWNER/NAME [--image --kubectl FOLDER]";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { repository: { type: "string" }, image: { type: "boolean" }, kubectl: { type: "string" } },
});
const [given] = positionals;
if (given === undefined || values.repository === undefined) throw new Error(`usage: ${usage}`);
const folder = resolve(given);
const origin = originOf(values.repository);
const files = await packageFiles(origin);
if (values.image) {
  if (values.kubectl === undefined)
    throw new Error(`--kubectl is missing: the folder with kubectl for each processor; usage: ${usage}`);
  const layout = join(folder, "layout");
  const platforms = await writeRuntimes(join(folder, "runtime"), kubectlIn(resolve(values.kubectl)));
  await writeImage(layout, files, platforms);
  console.log(`fleet:v${packageJson.version} ${layout}`);
} else {
  const made = join(folder, "package");
  await writePackage(made, files);
  console.log(`${packageName(origin)}@${packageJson.version} ${made}`);
}
