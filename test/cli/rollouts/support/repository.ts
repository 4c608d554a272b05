import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Clone } from "../../../../cli/rollouts/git.ts";
import { copies } from "../../../support/copies.ts";

type Files = Readonly<Record<string, string>>;

const author = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];

const run = (folder: string, ...args: string[]): string =>
  execFileSync("git", ["-C", folder, ...author, ...args], { encoding: "utf8", stdio: "pipe" }).trim();

function commit(folder: string, subject: string, files: Files, branch: string): string {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  run(folder, "add", "--all");
  run(folder, "commit", "--quiet", "--allow-empty", "--message", subject);
  run(folder, "push", "--quiet", "origin", `HEAD:refs/heads/${branch}`);
  return run(folder, "rev-parse", "HEAD");
}

const places = (base: string) => ({
  host: join(base, "host.git"),
  person: join(base, "person"),
  clone: join(base, "clone"),
});

const copy = copies((base, files: Files) => {
  const { host, person, clone } = places(base);
  run(base, "init", "--quiet", "--bare", "--initial-branch=main", host);
  run(base, "clone", "--quiet", host, person);
  run(person, "switch", "--quiet", "--create", "main");
  commit(
    person,
    "first",
    { "platform/composition/composition.yaml": "1", "spoke-bootstrap/file": "1", ...files },
    "main",
  );
  run(base, "clone", "--quiet", host, clone);
});

/** A bare repository as the Git host has it, a person's clone of it, and the clone that fleet rollouts works with. */
export class Repository {
  readonly #base = mkdtempSync(join(tmpdir(), "fleet-rollouts-"));
  readonly host = places(this.#base).host;
  readonly person = places(this.#base).person;
  readonly clone: Clone = { folder: places(this.#base).clone, remote: "origin", branch: "main" };

  constructor(files: Files = {}) {
    copy(this.#base, files);
  }

  git(...args: string[]): string {
    return run(this.person, ...args);
  }

  inClone(...args: string[]): string {
    return run(this.clone.folder, ...args);
  }

  /** Commits files and pushes them. @returns the commit. */
  commit(subject: string, files: Files, branch = "main"): string {
    return commit(this.person, subject, files, branch);
  }

  /** The commit of a branch at the host; undefined if there is none. */
  at(branch: string): string | undefined {
    return run(this.host, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`) || undefined;
  }

  remove(): void {
    rmSync(this.#base, { recursive: true });
  }
}
