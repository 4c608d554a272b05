import { cp, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHECKOUT } from "@eks-gitops-fleet/local/pulumi";
import { parse, stringify } from "yaml";

const FOLDERS = ["infra", "components", "lib"];

/**
 * A copy of the program for Pulumi's default TypeScript runner, in a new temporary folder.
 *
 * That runner is ts-node inside @pulumi/pulumi: CommonJS, with a type check at every start. So the copy is a CommonJS
 * package, its imports lose the extension `.ts`, and `runtime.options.typescript` is gone; nothing else differs.
 */
export async function defaultRunnerCopy(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "fleet-default-runner-"));
  const project = parse(await readFile(join(CHECKOUT, "Pulumi.yaml"), "utf8")) as Record<string, unknown>;
  await writeFile(join(copy, "Pulumi.yaml"), stringify({ ...project, runtime: "nodejs" }));
  const { dependencies, main } = JSON.parse(await readFile(join(CHECKOUT, "package.json"), "utf8")) as Record<
    string,
    unknown
  >;
  await writeFile(
    join(copy, "package.json"),
    JSON.stringify({ name: "default-runner", type: "commonjs", main, dependencies }),
  );
  await symlink(join(CHECKOUT, "node_modules"), join(copy, "node_modules"));
  for (const folder of FOLDERS) await copySources(folder, copy);
  // The runner looks in the project's root only, and without one ts-node takes the library of an older ECMAScript.
  await writeFile(join(copy, "tsconfig.json"), JSON.stringify({ compilerOptions: await compilerOptions() }));
  return copy;
}

/** The checkout's compiler options, less those that need `.ts` in imports or forbid output. */
async function compilerOptions(): Promise<Record<string, unknown>> {
  const { compilerOptions: own } = JSON.parse(await readFile(join(CHECKOUT, "tsconfig.json"), "utf8")) as {
    compilerOptions: Record<string, unknown>;
  };
  const dropped = ["allowImportingTsExtensions", "noEmit", "verbatimModuleSyntax", "incremental", "tsBuildInfoFile"];
  const kept = Object.entries(own).filter(([name]) => !dropped.includes(name));
  return Object.fromEntries(kept);
}

async function copySources(folder: string, copy: string): Promise<void> {
  await cp(join(CHECKOUT, folder), join(copy, folder), { recursive: true });
  for (const entry of await readdir(join(copy, folder), { recursive: true })) {
    if (!entry.endsWith(".ts")) continue;
    const file = join(copy, folder, entry);
    const source = await readFile(file, "utf8");
    await writeFile(file, source.replaceAll(/(from ")(\.[^"]*)\.ts(")/g, "$1$2$3"));
  }
}
