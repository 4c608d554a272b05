/** Node processes that the language host runs: programs, policy packs, TypeScript providers. */

import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import type { ProgramInfo } from "@pulumi/pulumi/proto/language_pb.js";
import { textOf } from "../framework/values.ts";

/** Options of `runtime:` in Pulumi.yaml that this host knows. */
export interface RuntimeOptions {
  /** False: Node strips the types itself. Anything else: ts-node through @pulumi/pulumi, Pulumi's default. */
  readonly typescript: boolean;
  /** Arguments for Node, e.g. `--max-old-space-size=4096`. */
  readonly nodeargs: readonly string[];
  /** A tsconfig.json for ts-node. */
  readonly tsconfig: string | undefined;
}

/** The runtime options. @throws for a packagemanager that this host cannot run. */
export function runtimeOptions(info: ProgramInfo | undefined): RuntimeOptions {
  const options = (info?.getOptions()?.toJavaScript() ?? {}) as Record<string, unknown>;
  const manager = options["packagemanager"];
  if (manager !== undefined && manager !== "npm" && manager !== "auto")
    throw new Error(`runtime option packagemanager: got ${textOf(manager)}, this language host knows npm`);
  const nodeargs = typeof options["nodeargs"] === "string" ? options["nodeargs"].split(/\s+/).filter(Boolean) : [];
  const tsconfig = typeof options["tsconfig"] === "string" ? options["tsconfig"] : undefined;
  return { typescript: options["typescript"] !== false, nodeargs, tsconfig };
}

/** Environment that makes @pulumi/pulumi's runners obey the options. */
export function optionEnvironment(options: RuntimeOptions): Record<string, string> {
  return {
    PULUMI_NODEJS_TYPESCRIPT: String(options.typescript),
    ...(options.tsconfig ? { PULUMI_NODEJS_TSCONFIG_PATH: options.tsconfig } : {}),
  };
}

/**
 * File of a runner in the program's own @pulumi/pulumi.
 * @throws with what to do when the dependencies are not installed.
 */
export function runner(directory: string, name: "run" | "run-policy-pack" | "run-plugin"): string {
  try {
    return createRequire(path.join(directory, "package.json")).resolve(`@pulumi/pulumi/cmd/${name}/index.js`);
  } catch (error) {
    throw new Error(`${directory} has no @pulumi/pulumi in reach: run npm install there first`, { cause: error });
  }
}

/** Child processes by start; all of them end with the host. */
export class Children {
  readonly #running = new Set<ChildProcess>();

  /** Starts Node; with `piped`, its output is read by the caller, else it goes to the terminal. */
  start(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, piped: boolean): ChildProcess {
    const child = spawn(process.execPath, args, {
      cwd,
      env,
      stdio: piped ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"],
    });
    this.#running.add(child);
    child.once("exit", () => this.#running.delete(child));
    child.once("error", () => this.#running.delete(child));
    return child;
  }

  /** Ends every child that still runs. */
  stop(): void {
    for (const child of this.#running) child.kill("SIGTERM");
  }
}

/** Waits for the end of a child: its exit code, or a text that says which signal ended it. */
export function ended(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? `signal ${signal}`));
  });
}
