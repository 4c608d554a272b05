import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Clone } from "../../../../cli/rollouts/git.ts";

const author = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];

/** A bare repository as the Git host has it, a person's clone of it, and the clone that fleet rollouts works with. */
export class Repository {
  readonly #base = mkdtempSync(join(tmpdir(), "fleet-rollouts-"));
  readonly host = join(this.#base, "host.git");
  readonly person = join(this.#base, "person");
  readonly clone: Clone = { folder: join(this.#base, "clone"), remote: "origin", branch: "main" };

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.#run(this.#base, "init", "--quiet", "--bare", "--initial-branch=main", this.host);
    this.#run(this.#base, "clone", "--quiet", this.host, this.person);
    this.#run(this.person, "switch", "--quiet", "--create", "main");
    this.commit("first", { "platform/composition/composition.yaml": "1", "spoke-bootstrap/file": "1", ...files });
    this.#run(this.#base, "clone", "--quiet", this.host, this.clone.folder);
  }

  #run(folder: string, ...args: string[]): string {
    return execFileSync("git", ["-C", folder, ...author, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
  }

  git(...args: string[]): string {
    return this.#run(this.person, ...args);
  }

  inClone(...args: string[]): string {
    return this.#run(this.clone.folder, ...args);
  }

  /** Commits files and pushes them. @returns the commit. */
  commit(subject: string, files: Readonly<Record<string, string>>, branch = "main"): string {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.person, file)), { recursive: true });
      writeFileSync(join(this.person, file), text);
    }
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "--message", subject);
    this.git("push", "--quiet", "origin", `HEAD:refs/heads/${branch}`);
    return this.git("rev-parse", "HEAD");
  }

  /** The commit of a branch at the host; undefined if there is none. */
  at(branch: string): string | undefined {
    return this.#run(this.host, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`) || undefined;
  }

  remove(): void {
    rmSync(this.#base, { recursive: true });
  }
}
