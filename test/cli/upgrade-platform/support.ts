import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { run } from "../../../cli/upgrade-platform/command.ts";
import { UsageError } from "../../../cli/usage.ts";
import { copies } from "../../support/copies.ts";
import { printing } from "../support/printing.ts";

/** Files by path: text that is written, or undefined for one that is removed. */
type Edits = Readonly<Record<string, string | Buffer | undefined>>;

const copy = copies((folder) => {
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args]);
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "ada");
  git("config", "user.email", "ada@example.com");
});

/** A Git repository in a temporary folder. */
class Repository {
  readonly folder: string;
  constructor(folder: string) {
    this.folder = folder;
    copy(folder);
  }
  git(...args: string[]): string {
    return execFileSync("git", ["-C", this.folder, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
  }
  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }
  write(edits: Edits): void {
    for (const [path, text] of Object.entries(edits)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      if (text === undefined) rmSync(join(this.folder, path));
      else writeFileSync(join(this.folder, path), text);
    }
  }
  commit(message: string, edits: Edits = {}): string {
    this.write(edits);
    this.git("add", "--all", "--force");
    this.git("commit", "--quiet", "--allow-empty", "--message", message);
    return this.git("rev-parse", "HEAD");
  }
}

export interface World {
  readonly project: Repository;
  readonly fleet: Repository;
  readonly folder: string;
}

/** Two repositories without anything in them. */
export function emptyWorld(): World {
  const folder = mkdtempSync(join(tmpdir(), "fleet-upgrade-platform-test-"));
  return {
    folder,
    project: new Repository(join(folder, "project")),
    fleet: new Repository(join(folder, "gitops-system")),
  };
}

/** What the command prints and ends with, for a project. */
export async function upgrade(
  project: string,
  checkout: string,
  ...argv: string[]
): Promise<{ code: number; said: string }> {
  const kustomize = () => {
    throw new Error("no kustomize here");
  };
  try {
    return await printing(() => run(["--repository", checkout, ...argv], project, { kustomize }));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { code: 2, said: error.message };
  }
}
