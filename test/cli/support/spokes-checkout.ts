import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { vi } from "vitest";
import { fleet } from "../../../cli/run.ts";
import { root } from "./fleet.ts";
import { printing } from "./printing.ts";

/** A Spoke's file with comments of a person's. */
export const spokeText = (name: string, more = "") => `# Ours.
apiVersion: fleet.internal/v1alpha1
kind: Spoke
metadata:
  name: ${name}
  namespace: spokes
spec:
  region: eu-west-1 # near the users
  kubernetesVersion: "1.35"
  environment: dev
  tenant: payments
${more}`;

/** Checkouts of both repositories in a temporary folder, with the spoke blue of a fleet called fleet; `fleet` runs in this process. */
export class SpokesCheckout {
  readonly folder = mkdtempSync(join(tmpdir(), "fleet-change-test-"));
  readonly system = join(this.folder, "gitops-system");
  readonly workloads = join(this.folder, "gitops-workloads");

  constructor() {
    for (const part of ["templates", "platform", "tools", "spoke-bootstrap"])
      cpSync(join(root, "repos", "gitops-system", part), join(this.system, part), { recursive: true });
    cpSync(join(root, "repos", "gitops-workloads"), this.workloads, { recursive: true });
    mkdirSync(join(this.system, "clusters", "fleet"), { recursive: true });
    this.write("spokes/fleet/README.md", "Spokes.\n");
    this.write("spokes/fleet/blue/spoke.yaml", spokeText("blue"));
  }

  write(path: string, text: string, checkout = this.system): void {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  }

  read(path: string, checkout = this.system): string {
    return readFileSync(join(checkout, path), "utf8");
  }

  has(path: string, checkout = this.system): boolean {
    return existsSync(join(checkout, path));
  }

  /** Runs a command in gitops-system. @returns its exit code, and what it printed on both outputs */
  run(...argv: string[]): Promise<{ code: number; said: string }> {
    return this.runIn(this.system, ...argv);
  }

  async runIn(checkout: string, ...argv: string[]): Promise<{ code: number; said: string }> {
    // No kustomize: a unit test may start no program.
    vi.stubEnv("FLEET_KUSTOMIZE", "/nowhere");
    try {
      return await printing(() => fleet([...argv, "--repository", checkout]), ["log", "error"]);
    } finally {
      vi.unstubAllEnvs();
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
