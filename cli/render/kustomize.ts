import { accessSync, constants } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { confinement, free } from "./confinement.ts";

/** kustomize, run as a program of this machine. */

/** What a build may read. */
export interface Scope {
  /** Folder outside which nothing is. */
  readonly checkout: string;
  /** Whether a kustomization reads files that are not in or below its own folder. */
  readonly reachesOut: boolean;
}

/**
 * What `kustomize build` makes of a folder: YAML documents.
 * @throws BuildError
 */
export interface Build {
  (folder: string, scope: Scope): string;
  /** What a reader of the report must know about how it was built. */
  readonly notes?: readonly string[];
}

/** kustomize refused a folder; the message is its own. */
export class BuildError extends Error {
  override name = "BuildError";
}

/** This machine has no kustomize. */
class KustomizeMissing extends Error {
  override name = "KustomizeMissing";
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function program(env: NodeJS.ProcessEnv): string {
  const { FLEET_KUSTOMIZE: named, PATH = "" } = env;
  if (named) {
    if (isExecutable(named)) return named;
    throw new KustomizeMissing(
      `FLEET_KUSTOMIZE is ${named}, which is not a program: it must be the path of kustomize or of kubectl`,
    );
  }
  const folders = PATH.split(delimiter).filter(Boolean);
  const candidates = ["kustomize", "kubectl"].flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = candidates.find(isExecutable);
  if (found) return found;
  throw new KustomizeMissing(
    "neither kustomize nor kubectl is on PATH: install one of them, set FLEET_KUSTOMIZE to its path, or take the local stack's (. .local/env)",
  );
}

const unconfined =
  "kustomize was not confined to the checkout: this system lets this user make no namespaces (unshare), or the program is a script " +
  "or needs libraries (FLEET_KUSTOMIZE can name another). References out of the checkout are refused before it runs; confinement would also hold where that has a gap";

/**
 * The kustomize of FLEET_KUSTOMIZE, or the first `kustomize`, then `kubectl`, on PATH; with the settings of Flux. It gets no environment,
 * and where the system can do that it sees nothing but the checkout ({@link confinement}).
 * @throws KustomizeMissing
 */
export function kustomize(env: NodeJS.ProcessEnv = process.env): Build {
  const path = program(env);
  const command = basename(path).startsWith("kubectl") ? "kustomize" : "build";
  const confined = confinement(path);
  const run = confined ?? free(path);
  const build = (folder: string, { checkout, reachesOut }: Scope): string => {
    const restrictor = reachesOut ? "LoadRestrictionsNone" : "LoadRestrictionsRootOnly";
    const { status, stdout, stderr, error } = run([command, `--load-restrictor=${restrictor}`, folder], checkout);
    if (error) throw new KustomizeMissing(`${path} can't be run: ${error.message}`);
    if (status === 0) return stdout;
    throw new BuildError(stderr.trim().replace(/^error: /i, "") || `${path} ended with exit code ${status}`);
  };
  return confined === undefined ? Object.assign(build, { notes: [unconfined] }) : build;
}
