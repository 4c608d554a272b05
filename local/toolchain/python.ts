import { join } from "node:path";
import { script } from "../instance/command.ts";
import { writeAtomic } from "../instance/files.ts";
import { contentKey, type Entry, ensureEntry, readTexts } from "./cache.ts";
import { run } from "./run.ts";

const REQUIREMENTS = join("python", "requirements.txt");

/** The environment depends on its recipe, its pinned requirements and on the interpreter that it links to. */
async function pythonEntry(root: string): Promise<Entry> {
  const interpreter = await run(["python3", "-c", "import sys; print(sys.version, sys.base_prefix)"]);
  const texts = await readTexts(import.meta.dirname, ["python.ts", REQUIREMENTS]);
  return { root, group: "python", key: contentKey({ ...texts, interpreter }) };
}

/**
 * A virtual environment with ministack, awscli and zizmor, each file checked against the hashes in requirements.txt.
 * @param wheel pip as a wheel, for a python3 that makes environments without it (Debian's has no ensurepip).
 * @returns its folder; the commands are in bin/.
 */
export async function ensurePython(
  root: string,
  wheel: string | undefined,
  say: (detail: string) => void,
): Promise<string> {
  return ensureEntry(await pythonEntry(root), async (dir) => {
    say("python3 -m venv");
    await run(["python3", "-m", "venv", "--clear", ...(wheel === undefined ? [] : ["--without-pip"]), dir]);
    say("pip install");
    const python = join(dir, "bin", "python");
    const pip = wheel === undefined ? ["-m", "pip"] : [join(wheel, "pip")];
    const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes"];
    const requirements = join(import.meta.dirname, REQUIREMENTS);
    await run([python, ...pip, "install", ...options, "--only-binary", ":all:", "-r", requirements]);
    // pip begins its scripts with the interpreter's path, where Linux takes no space and at most 256 bytes (fs/binfmt_script.c).
    await writeAtomic(join(dir, "bin", "aws"), script([python, "-m", "awscli"]), 0o755);
  });
}
