import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect } from "vitest";
import { parse } from "yaml";
import { runner } from "../../../cli/doctor/process.ts";
import type { InitRequest } from "../../../cli/init/request.ts";
import { init, type Part } from "../../../cli/init/write.ts";
import { UsageError } from "../../../cli/usage.ts";
import { root } from "./fleet.ts";

/** A checkout of the project below `base`, a request for a folder beside it, and a machine with a Git configuration of its own. */
export function newProject(base: string): { project: string; request: InitRequest; env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(base, "case-"));
  const project = join(folder, "project");
  for (const part of ["Pulumi.yaml", "stacks", "repos"])
    cpSync(join(root, part), join(project, part), { recursive: true });
  const gitconfig = join(folder, "gitconfig");
  writeFileSync(
    gitconfig,
    `[include]\n\tpath = ${process.env["GIT_CONFIG_GLOBAL"]}\n[user]\n\tname = Ada\n\temail = ada@example.com\n`,
  );
  return {
    project,
    env: { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_GLOBAL: gitconfig, GIT_CONFIG_NOSYSTEM: "1" },
    request: {
      folder: join(folder, "fleet"),
      stack: "pilot",
      fleet: "pilot",
      environment: "dev",
      spokeEnvironments: ["dev"],
      account: "123456789012",
      region: "eu-west-1",
      systemUrl: "ssh://git@github.com/acme/gitops-system.git",
      workloadsUrl: "ssh://git@github.com/acme/gitops-workloads.git",
      knownHosts: "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
      publicAccessCidrs: ["1.2.3.4/32"],
      privateAccessCidrs: [],
      privateSubnetIds: [],
      egressCidrs: [],
      admins: [],
      viewers: [],
      example: "dev",
    },
  };
}

/** What of the request differs where Git is read over HTTPS with a token. */
export const byToken = {
  systemUrl: "https://github.com/acme/gitops-system.git",
  workloadsUrl: "https://github.com/acme/gitops-workloads.git",
  gitAuthentication: "token",
  knownHosts: undefined,
} as const;

/** A new project for each test of a file, and what the tests ask of it. */
export function inNewProjects(prefix: string) {
  const base = mkdtempSync(join(tmpdir(), prefix));
  const at = {} as ReturnType<typeof newProject>;
  beforeEach(() => void Object.assign(at, newProject(base)));
  afterAll(() => rmSync(base, { recursive: true }));

  const make = (change: Partial<InitRequest> = {}) =>
    init(at.project, { ...at.request, ...change }, runner(at.project, at.env));
  const refusal = (change: Partial<InitRequest>) =>
    make(change).then(
      () => expect.fail("it was not refused"),
      (error: unknown) => {
        expect(error).toBeInstanceOf(UsageError);
        return (error as Error).message;
      },
    );
  const inFolder = (...path: string[]) => join(at.request.folder, ...path);
  const git = (repository: string, ...args: string[]) =>
    execFileSync("git", ["-C", inFolder(repository), ...args], { encoding: "utf8", env: at.env }).trim();
  const stackFile = () => join(at.project, "stacks", "Pulumi.pilot.yaml");
  const config = () => parse(readFileSync(stackFile(), "utf8")).config as Record<string, unknown>;
  const named = (parts: readonly Part[]) =>
    Object.fromEntries(parts.map(({ path, ...part }) => [path.split("/").at(-1), part]));
  return { base, at, make, refusal, inFolder, git, stackFile, config, named };
}
