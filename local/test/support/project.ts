/** A small Pulumi project in a temporary folder, run by the real engine with our language host and plugins. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { CHECKOUT } from "../../product-paths.ts";
import { installPulumi, pulumiPaths, runPulumi } from "../../pulumi/cli/index.ts";
import type { ProgramPath } from "../../pulumi/cli/install.ts";

/** What an operation did. */
interface Outcome {
  readonly code: number;
  /** Number of resources by operation, e.g. `{ same: 4, replace: 1 }`. */
  readonly changes: Readonly<Record<string, number>>;
  /** `operation name: changed paths` of every resource that is not the same. */
  readonly steps: readonly string[];
  /** Everything that was printed. */
  readonly text: string;
}

/** A project with one stack. */
export interface Project {
  readonly dir: string;
  /** Text of the state file. */
  state(): Promise<string>;
  /** Writes the program (a module that exports the stack's outputs). */
  write(program: string): Promise<void>;
  /** `up`, `preview`, `refresh` or `destroy`, unattended. */
  run(operation: "up" | "preview" | "refresh" | "destroy", ...flags: string[]): Promise<Outcome>;
  /** Any other command; its output. @throws when it fails. */
  command(...args: string[]): Promise<string>;
  outputs(): Promise<Record<string, unknown>>;
  remove(): Promise<void>;
}

/** Lays out a project in a folder, with the configuration of a stack `test` if it has one; the folder of its Pulumi.yaml. */
export type Layout = (root: string) => Promise<string>;

/** An empty project. */
const empty: Layout = async (root) => {
  const home = path.join(root, "project");
  await mkdir(path.join(home, "infra"), { recursive: true });
  await symlink(path.join(CHECKOUT, "node_modules"), path.join(home, "node_modules"));
  const runtime = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";
  await writeFile(path.join(home, "Pulumi.yaml"), `name: proof\n${runtime}`);
  const manifest = { name: "proof", private: true, type: "module", main: "infra/index.ts" };
  await writeFile(path.join(home, "package.json"), JSON.stringify(manifest));
  return home;
};

/** Makes a project. `env` is that of the engine and its plugins. */
export async function makeProject(
  program: ProgramPath,
  env: Readonly<Record<string, string>> = {},
  layout: Layout = empty,
): Promise<Project> {
  // In a URL, as Pulumi names its backend, all of these characters have another form.
  const root = await mkdtemp(path.join(tmpdir(), "fleet-project ä's #1 %41-"));
  const dir = path.join(root, "instance");
  const home = await layout(root);
  await installPulumi(pulumiPaths(dir).home, program);
  const pulumiRun = async (args: readonly string[]) => {
    const lines: string[] = [];
    const onLine = (line: string) => void lines.push(line);
    const { code } = await runPulumi({ dir, args: [...args, "--non-interactive"], cwd: home, env, onLine });
    return { code, text: lines.join("\n") };
  };
  const command = async (...args: string[]) => {
    const { code, text } = await pulumiRun(args);
    if (code !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${code}:\n${text}`);
    return text;
  };
  await command("stack", "init", "test");
  return {
    dir: home,
    state: () => readFile(path.join(pulumiPaths(dir).backend, ".pulumi", "stacks", "proof", "test.json"), "utf8"),
    write: (program) => writeFile(path.join(home, "infra", "index.ts"), program),
    async run(operation, ...flags) {
      const unattended = operation === "preview" ? [] : ["--yes", "--skip-preview"];
      // Events come as JSON lines from every operation but a preview, which prints one document unless it is told otherwise.
      const { code, text } = await pulumiRun([operation, "--stack", "test", "--json", ...unattended, ...flags]);
      return { code, text, ...(operation === "preview" ? readPreview(text) : readEvents(text)) };
    },
    command,
    outputs: async () =>
      JSON.parse(await command("stack", "output", "--json", "--show-secrets")) as Record<string, unknown>,
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

interface Step {
  readonly op: string;
  readonly urn: string;
  readonly detailedDiff?: Record<string, unknown> | null;
}

function describe({ op, urn, detailedDiff }: Step): string {
  const paths = Object.keys(detailedDiff ?? {}).sort();
  return `${op} ${urn.split("::").at(-1)}${paths.length > 0 ? `: ${paths.join(", ")}` : ""}`;
}

const QUIET = ["same", "read", "create-replacement", "delete-replaced", "read-replacement"];

function readPreview(text: string) {
  const start = text.indexOf("{\n");
  if (start < 0) return { changes: {}, steps: [] };
  const document = JSON.parse(text.slice(start, text.lastIndexOf("\n}") + 2)) as {
    steps?: Step[];
    changeSummary?: Record<string, number>;
  };
  const steps = (document.steps ?? []).filter(({ op }) => !QUIET.includes(op));
  return { changes: document.changeSummary ?? {}, steps: steps.map(describe) };
}

function readEvents(text: string) {
  const events = text
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Record<string, unknown>] : []));
  const summary = events.find((event) => event["summaryEvent"])?.["summaryEvent"] as
    | { resourceChanges: Record<string, number> }
    | undefined;
  const steps = events.flatMap((event) => {
    const { metadata } = (event["resourcePreEvent"] ?? {}) as { metadata?: Step };
    return metadata && !QUIET.includes(metadata.op) ? [describe(metadata)] : [];
  });
  return { changes: summary?.resourceChanges ?? {}, steps };
}
