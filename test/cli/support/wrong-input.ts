import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { filesBelow } from "../../../cli/render/files.ts";
import { fleet } from "../../../cli/run.ts";
import { certificate, root } from "./fleet.ts";
import { printing } from "./printing.ts";

/** Checkouts of the repositories, and what command lines name; `fleet` runs in this process. */
export async function machine() {
  const base = mkdtempSync(join(tmpdir(), "fleet-wrong-"));
  const system = join(base, "gitops-system");
  const workloads = join(base, "gitops-workloads");
  cpSync(join(root, "repos", "gitops-system"), system, { recursive: true });
  cpSync(join(root, "repos", "gitops-workloads"), workloads, { recursive: true });
  for (const part of ["clusters", "spokes"])
    cpSync(join(system, "templates", "fleet", part), join(system, part, "fleet"), { recursive: true });
  const write = (path: string, text: string): string => {
    mkdirSync(join(base, path, ".."), { recursive: true });
    writeFileSync(join(base, path), text);
    return join(base, path);
  };
  write("gitops-system/spokes/fleet/taken/spoke.yaml", "spec: { environment: dev, network: { cidr: 10.70.0.0/18 } }");
  const places: Readonly<Record<string, string>> = {
    system,
    workloads,
    repos: base,
    nowhere: join(base, "nowhere"),
    folder: join(base, "empty"),
    file: write("file", "not what was asked for"),
    certificate: write("certificate.pem", await certificate()),
    cwd: process.cwd(),
  };
  // Whoever runs the tests may have no Git identity.
  for (const who of ["GIT_AUTHOR", "GIT_COMMITTER"])
    for (const what of ["NAME", "EMAIL"]) vi.stubEnv(`${who}_${what}`, "ada@example.com");
  const byLength = Object.entries(places).sort(([, a], [, b]) => b.length - a.length);
  mkdirSync(join(base, "empty"));

  /** A digest of every file that a command could have written. */
  const digest = (): string => {
    const hash = createHash("sha256");
    for (const file of [...filesBelow(base), ...filesBelow(join(root, "stacks"))])
      hash.update(file).update(readFileSync(file));
    return hash.digest("hex");
  };

  /** Runs a line as a shell would; its paths are written and shown as `{system}`. */
  async function run(line: string) {
    const words = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word).slice(1);
    const argv = words.map((word) => word.replaceAll(/\{(\w+)\}/g, (text, name) => places[name] ?? text));
    const { code, said } = await printing(() => fleet(argv), ["error"]);
    let message = said;
    for (const [name, path] of byLength) message = message.replaceAll(path, `{${name}}`);
    return { code, message };
  }
  const remove = (): void => {
    vi.unstubAllEnvs();
    rmSync(base, { recursive: true });
  };
  return { run, digest, remove };
}
