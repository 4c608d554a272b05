import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { stackOf } from "../diff/preview.ts";
import { projectRoot } from "../project.ts";

/** What `pulumi up` of a stack without state would make, as Pulumi says it. */

const stepSchema = z.object({
  op: z.string(),
  urn: z.string(),
  newState: z
    .object({
      type: z.string(),
      parent: z.string().optional(),
      inputs: z.record(z.string(), z.unknown()).default({}),
      propertyDependencies: z.record(z.string(), z.array(z.string()).nullable()).default({}),
    })
    .optional(),
});

const previewSchema = z.object({ config: z.record(z.string(), z.string()).default({}), steps: z.array(stepSchema) });

const entrySchema = z.looseObject({
  type: z.string(),
  name: z.string(),
  logicalName: z.string().optional(),
  parent: z.string().optional(),
  component: z.boolean().optional(),
});

/** A line of a file for `pulumi import --file`. */
export type Entry = z.infer<typeof entrySchema> & { readonly id?: string };

const fileSchema = z.looseObject({
  nameTable: z.record(z.string(), z.string()).nullish(),
  resources: z.array(entrySchema).nullish(),
});

/** A resource that `pulumi up` would make. */
export interface Planned {
  readonly urn: string;
  /** Pulumi's type, such as `aws:iam/role:Role`. */
  readonly type: string;
  /** What the program gives it; what is not known before others are made has a mark of Pulumi's in its place. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** By each input, the URNs of the resources that it comes from. */
  readonly from: Readonly<Record<string, readonly string[]>>;
  /** Its line in Pulumi's file for imports. */
  readonly entry: Entry;
}

export interface Preview {
  /** Of the AWS provider, by the stack's configuration; undefined where only the environment knows it. */
  readonly region: string | undefined;
  readonly profile: string | undefined;
  /** Accounts that the stack may run in; undefined where it names none. */
  readonly accounts: readonly string[] | undefined;
  readonly planned: readonly Planned[];
  /** Pulumi's lines for the components that it would make, by their names in the file. */
  readonly components: ReadonlyMap<string, Entry>;
  /** URNs of what the state has already and the lines refer to, by their names in the file. */
  readonly nameTable: Readonly<Record<string, string>>;
}

const fromJson = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

const nameIn = (urn: string): string => urn.split("::").slice(3).join("::");

/**
 * Reads what Pulumi wrote.
 * @param preview what `pulumi preview --json` printed
 * @param file what `--import-file` wrote
 */
export function readPreview(preview: unknown, file: unknown): Preview {
  const { config, steps } = previewSchema.parse(preview);
  const read = fileSchema.parse(file);
  const resources = read.resources ?? [];
  const nameTable = read.nameTable ?? {};
  const byName = new Map(resources.map((entry) => [entry.name, entry]));
  const logical = (entry: Entry | undefined): string | undefined => entry?.logicalName ?? entry?.name;
  const parentOf = ({ parent }: Entry): string | undefined =>
    parent === undefined ? undefined : nameTable[parent] ? nameIn(nameTable[parent]) : logical(byName.get(parent));
  const entryOf = (urn: string, type: string, parent = ""): Entry | undefined =>
    resources.find(
      (entry) =>
        entry.type === type && logical(entry) === nameIn(urn) && [undefined, nameIn(parent)].includes(parentOf(entry)),
    );
  return {
    region: config["aws:region"],
    profile: config["aws:profile"],
    accounts: z.array(z.string()).optional().parse(fromJson(config["aws:allowedAccountIds"])),
    planned: steps.flatMap(({ op, urn, newState }) => {
      if (op !== "create" || newState === undefined) return [];
      const { type, parent, inputs, propertyDependencies } = newState;
      const entry = entryOf(urn, type, parent);
      if (entry === undefined || entry.component === true) return [];
      const from = Object.fromEntries(Object.entries(propertyDependencies).map(([name, urns]) => [name, urns ?? []]));
      return [{ urn, type, inputs, from, entry }];
    }),
    components: new Map(resources.filter(({ component }) => component === true).map((entry) => [entry.name, entry])),
    nameTable,
  };
}

/** Why Pulumi failed: with --json it puts errors among its results, and says elsewhere that there is a newer version. */
export function whyOf(error: unknown): string {
  const { code, stdout = "", stderr = "" } = error as { code?: unknown; stdout?: string; stderr?: string };
  if (code === "ENOENT") return "pulumi is not on PATH";
  const said = stderr
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("warning:"))
    .join("\n");
  return errorsIn(stdout).join("\n") || said || String(error);
}

/** The errors among the results; none where there are no results. */
function errorsIn(stdout: string): readonly string[] {
  try {
    return stackOf("hub", stdout).errors;
  } catch {
    return []; // it ended before it had written them; stderr says why
  }
}

/** Asks Pulumi, in the project's folder. */
export async function preview(stack: string | undefined): Promise<Preview> {
  const folder = await mkdtemp(join(tmpdir(), "fleet-adopt-hub-"));
  const file = join(folder, "import.json");
  const args = ["preview", "--json", "--non-interactive", "--import-file", file];
  const given = stack === undefined ? args : [...args, "--stack", stack];
  try {
    const { stdout } = await promisify(execFile)("pulumi", given, { cwd: projectRoot(), maxBuffer: 64 << 20 });
    return readPreview(JSON.parse(stdout), JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    throw new Error(
      `pulumi ${given.join(" ")} failed: ${whyOf(error)}\nThis command asks Pulumi what it would make, in the stack that is named by --stack or selected. Where it does not exist: pulumi stack init. Nothing was changed`,
      { cause: error },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
