import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InitRequest } from "../../../cli/init/request.ts";
import { root } from "./fleet.ts";

/** A checkout of the project below `base`, a request for a folder beside it, and a machine with a Git configuration of its own. */
export function newProject(base: string): { project: string; request: InitRequest; env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(base, "case-"));
  const project = join(folder, "project");
  for (const part of ["Pulumi.yaml", "stacks", "repos"])
    cpSync(join(root, part), join(project, part), { recursive: true });
  const gitconfig = join(folder, "gitconfig");
  writeFileSync(gitconfig, "[user]\n\tname = Ada\n\temail = ada@example.com\n");
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
      admins: [],
      example: "dev",
    },
  };
}
