import { basename, dirname, join } from "node:path";
import { script } from "../instance/command.ts";
import { writeAtomic } from "../instance/files.ts";
import { ensureOwned } from "../instance/folder.ts";
import { CACHE_FOLDER, cacheRoot, contentKey, type Entry, ensureEntry, readTexts } from "./cache.ts";
import { run } from "./run.ts";
import { ensureSystem } from "./system.ts";
import { inTurn } from "./turn.ts";

const REQUIREMENTS = join(import.meta.dirname, "python", "requirements.txt");

/** An environment depends on its recipe, its pinned requirements and on the interpreter that it links to. */
async function pythonEntry(root: string, group: string, requirements: string): Promise<Entry> {
  const interpreter = await run(["python3", "-c", "import sys; print(sys.version, sys.base_prefix)"]);
  const recipe = await readTexts(import.meta.dirname, ["python.ts"]);
  const pins = await readTexts(dirname(requirements), [basename(requirements)]);
  return { root, group, key: contentKey({ ...recipe, ...pins, interpreter }) };
}

/**
 * A virtual environment in `dir`, each file checked against the hashes in `requirements`.
 * @param wheel pip as a wheel, for a python3 that makes environments without it (Debian's has no ensurepip).
 */
async function install(
  dir: string,
  requirements: string,
  wheel: string | undefined,
  say: (detail: string) => void,
): Promise<void> {
  say("python3 -m venv");
  await run(["python3", "-m", "venv", "--clear", ...(wheel === undefined ? [] : ["--without-pip"]), dir]);
  say("pip install");
  const pip = wheel === undefined ? ["-m", "pip"] : [join(wheel, "pip")];
  const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes"];
  await run([join(dir, "bin", "python"), ...pip, "install", ...options, "--only-binary", ":all:", "-r", requirements]);
}

/**
 * The environment of the local stack, with ministack and awscli.
 * @param wheel as for {@link install}
 * @returns its folder; the commands are in bin/.
 */
export async function ensurePython(
  root: string,
  wheel: string | undefined,
  say: (detail: string) => void,
): Promise<string> {
  return ensureEntry(await pythonEntry(root, "python", REQUIREMENTS), async (dir) => {
    await install(dir, REQUIREMENTS, wheel, say);
    // pip begins its scripts with the interpreter's path, where Linux takes no space and at most 256 bytes (fs/binfmt_script.c).
    await writeAtomic(join(dir, "bin", "aws"), script([join(dir, "bin", "python"), "-m", "awscli"]), 0o755);
  });
}

/**
 * A program from PyPI that tests alone need, in an environment in the cache.
 * @param requirements file with the exact version of the package of the same name, and its hashes
 * @returns its path
 */
export async function ensurePythonProgram(name: string, requirements: string): Promise<string> {
  const root = cacheRoot();
  const quietly = () => {};
  const dir = await inTurn(root, "toolchain", async () => {
    await ensureOwned(CACHE_FOLDER, root);
    const { pip } = await ensureSystem(root, quietly);
    return ensureEntry(await pythonEntry(root, name, requirements), (folder) =>
      install(folder, requirements, pip, quietly),
    );
  });
  return join(dir, "bin", name);
}
