import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { createVitest, type Vitest } from "vitest/node";
import { patience } from "../support/patience.ts";

export const root = join(import.meta.dirname, "..", "..");

/** What tests don't read, and the packages, to which a link leads. */
const left = new Set([".git", ".local", ".cache", "node_modules"]);

/** A copy of the project in which tests run while its files are changed. */
export class Sandbox {
  readonly dir: string;
  readonly #vitest: Vitest;

  private constructor(dir: string, vitest: Vitest) {
    this.dir = dir;
    this.#vitest = vitest;
  }

  /** @param tests globs, relative to the project */
  static async create(tests: readonly string[]): Promise<Sandbox> {
    const dir = await mkdtemp(join(tmpdir(), "fleet-mutation-"));
    const isKept = (path: string) =>
      !relative(root, path)
        .split(sep)
        .some((name) => left.has(name));
    await cp(root, dir, { recursive: true, filter: isKept });
    await symlink(join(root, "node_modules"), join(dir, "node_modules"));
    const vitest = await createVitest("test", {
      root: dir,
      config: false,
      include: [...tests],
      watch: false,
      maxWorkers: 1,
      bail: 1,
      reporters: [{}],
      ...patience,
    });
    return new Sandbox(dir, vitest);
  }

  /** Whether all tests pass. */
  async passes(): Promise<boolean> {
    const specifications = await this.#vitest.globTestSpecifications();
    if (specifications.length === 0) throw new Error("there is no such test");
    const { testModules, unhandledErrors } = await this.#vitest.runTestSpecifications(specifications);
    return unhandledErrors.length === 0 && testModules.every((module) => module.ok());
  }

  async remove(): Promise<void> {
    await this.#vitest.close();
    await rm(this.dir, { recursive: true, force: true });
  }
}
