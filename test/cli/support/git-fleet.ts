import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fillTemplate } from "../../../lib/template.ts";
import { files } from "../../repos/support/kustomize.ts";
import { app, sealed } from "../../repos/support/spoke.ts";
import { root } from "./fleet.ts";

/** A Git repository with the project's repos/, and spokes in it, to make changes in. */

export const composition = "repos/gitops-system/platform/composition/composition.yaml";
const system = "repos/gitops-system";
const appFolder = (cluster: string) => `repos/gitops-workloads/clusters/${cluster}/${app.app}`;

export interface SpokeOfTest {
  readonly name: string;
  readonly environment: "dev" | "prod";
  readonly kubernetesVersion: string;
  /** Lines below `spec`. */
  readonly more?: string;
}

/** Two in dev and one in prod; one of them a Kubernetes version behind. */
const spokesOfTest: readonly SpokeOfTest[] = [
  { name: "blue", environment: "dev", kubernetesVersion: "1.36" },
  { name: "teal", environment: "dev", kubernetesVersion: "1.35" },
  { name: "green", environment: "prod", kubernetesVersion: "1.36", more: "  deletionProtection: true\n" },
];

export class GitFleet {
  readonly folder = mkdtempSync(join(tmpdir(), "fleet-diff-test-"));
  readonly #first: string;

  /** @param parts folders of the project that are in the repository */
  constructor(parts: readonly string[] = ["repos"]) {
    for (const part of parts) cpSync(join(root, part), join(this.folder, part), { recursive: true });
    this.git("init", "--quiet", "--initial-branch=main");
    this.#fill(`${system}/templates/fleet/clusters`, `${system}/clusters/fleet`, { fleet: "fleet" });
    for (const spoke of spokesOfTest) this.#addSpoke(spoke);
    this.#fill("repos/gitops-workloads/templates/app", appFolder("blue"), { ...app, path: "./overlays/dev" });
    this.write(`${appFolder("blue")}/credential.yaml`, sealed(`${app.app}-git`, app.app));
    this.#first = this.commit();
  }

  /** Takes back every change and commit of a test. */
  restart(): void {
    this.git("reset", "--quiet", "--hard", this.#first);
    this.git("clean", "--quiet", "--force", "-d");
  }

  git(...args: string[]): string {
    const author = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
    return execFileSync("git", ["-C", this.folder, ...author, ...args], { encoding: "utf8" }).trim();
  }

  /** @returns the commit. */
  commit(): string {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "--message", "a change");
    return this.git("rev-parse", "HEAD");
  }

  write(file: string, text: string): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), "utf8");
  }

  edit(file: string, ...changes: readonly (readonly [from: string, to: string])[]): void {
    for (const [from, to] of changes) {
      const before = this.read(file);
      if (!before.includes(from)) throw new Error(`${file} has no ${from}: the test is out of date`);
      this.write(
        file,
        before.replaceAll(from, () => to),
      );
    }
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(join(this.folder, to)), { recursive: true });
    renameSync(join(this.folder, from), join(this.folder, to));
  }

  delete(file: string): void {
    rmSync(join(this.folder, file), { recursive: true });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  #addSpoke({ name, environment, kubernetesVersion, more = "" }: SpokeOfTest): void {
    const folder = `${system}/spokes/fleet/${name}`;
    const values = { name, environment, kubernetesVersion, region: "eu-west-1", tenant: "payments", fleet: "fleet" };
    this.#fill(`${system}/templates/spoke`, folder, values);
    this.write(`${folder}/spoke.yaml`, `${this.read(`${folder}/spoke.yaml`).trimEnd()}\n${more}`);
    for (const repository of ["gitops-system", "gitops-workloads"])
      this.write(`${folder}/secrets/${repository}.yaml`, sealed(repository, "flux-system"));
  }

  #fill(template: string, folder: string, values: Readonly<Record<string, string>>): void {
    const to = join(this.folder, folder);
    cpSync(join(this.folder, template), to, { recursive: true });
    for (const file of files(to)) writeFileSync(file, fillTemplate(readFileSync(file, "utf8"), values));
  }
}
