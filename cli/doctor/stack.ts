import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { parse } from "yaml";
import {
  type Judged,
  judge,
  type Project,
  readProject,
  type StackFile,
  stackPath,
  stacksOf,
} from "../fleet/stack-config.ts";
import { type Finding, ok, wrong } from "./finding.ts";
import type { Run } from "./process.ts";
import { type Surroundings, stackFileIn } from "./surroundings.ts";

/** A stack as its file in the checkout describes it; nothing is decrypted, and no backend is called. */
export interface Stack extends Omit<Judged, "problems"> {
  /** As given, with organization and project if these were given. */
  readonly name: string;
  readonly file: string;
  /** Whether it runs on an embedded cloud. */
  readonly embedded: boolean;
  /** `aws:allowedAccountIds`. */
  readonly accounts: readonly string[];
  /** `secretsprovider` of the file, such as `awskms://alias/pulumi`. */
  readonly secretsProvider: string | undefined;
  /** Whether the file has the salt of a passphrase. */
  readonly hasPassphrase: boolean;
}

export interface StackOptions {
  /** Folder of the Pulumi project. */
  readonly root: string;
  readonly stack: string | undefined;
  /** Replaces the file of the stack's name, as with `pulumi up --config-file`. */
  readonly configFile: string | undefined;
  /** Folder whose stack files take precedence over the project's. */
  readonly surroundings?: Surroundings | undefined;
}

/** The stack, and the findings about its configuration; without a stack the findings say why. */
export async function readStack(options: StackOptions, run: Run): Promise<{ stack?: Stack; findings: Finding[] }> {
  const project = await readProject(options.root);
  const { folder } = project;
  const name = options.stack ?? (await selected(run));
  if (name === undefined) {
    const known = await stacksOf(project);
    const todo = `name one with --stack; ${folder} has ${known.join(", ")}`;
    return { findings: [wrong("stack", "none is given, and none is selected", todo)] };
  }
  const { configFile, surroundings } = options;
  const embedded = surroundings === undefined ? undefined : stackFileIn(surroundings, name);
  const file = configFile ?? embedded ?? stackPath(project, name);
  if (!existsSync(file))
    return {
      findings: [
        wrong(
          "stack",
          `${name} has no file ${file}`,
          "fleet init writes it; or copy one of the examples beside it, and edit it",
        ),
      ],
    };
  const written = (parse(await readFile(file, "utf8")) ?? {}) as StackFile;
  const { stack, findings } = stackOf(name, file, written, project);
  return { stack: { ...stack, embedded: embedded !== undefined }, findings };
}

function stackOf(name: string, file: string, written: StackFile, project: Project) {
  const { problems, ...judged } = judge(written, project);
  const findings = problems.map(({ key, what, got, allowed, remedy }) =>
    wrong(key, `${what}; got ${got}, allowed is ${allowed}`, remedy),
  );
  const accounts = accountsOf(written.config?.["aws:allowedAccountIds"]);
  if (accounts === undefined) {
    const todo = "pulumi config set --path 'aws:allowedAccountIds[0]' <account>";
    findings.push(
      wrong("aws:allowedAccountIds", "is not a list of account IDs, so the provider would refuse it", todo),
    );
  }
  const stack: Omit<Stack, "embedded"> = {
    name,
    file,
    ...judged,
    accounts: accounts ?? [],
    secretsProvider: written.secretsprovider,
    hasPassphrase: written.encryptionsalt !== undefined,
  };
  return {
    stack,
    findings: findings.length > 0 ? findings : [ok(basename(file), `the configuration of ${name} is complete`)],
  };
}

/** A list of IDs, also as the JSON text that `pulumi config set` writes; undefined if it is neither. */
function accountsOf(value: unknown = []): string[] | undefined {
  const list = typeof value === "string" ? fromJson(value) : value;
  return Array.isArray(list) ? list.map(String) : undefined;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function selected(run: Run): Promise<string | undefined> {
  const ended = await run("pulumi", ["stack", "--show-name", "--non-interactive"]);
  return ended?.code === 0 ? ended.stdout.trim() : undefined;
}
