import { readFile } from "node:fs/promises";
import { z } from "zod";
import { type Finding, note, ok, unchecked, wrong } from "./finding.ts";
import { complaint, type Run } from "./process.ts";
import type { Stack } from "./stack.ts";

const who = z.object({ user: z.string(), url: z.string() });
const stacks = z.array(z.object({ name: z.string() }));

/** The JSON that a command printed; undefined if it is something else. */
function json<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const isPulumiCloud = (url: string) => /^https?:/.test(url);
const kmsExample = "awskms://alias/pulumi?region=<region>";

/** The passphrase that protects the secrets in the state: set, and not an empty one. */
async function passphrase(env: Readonly<NodeJS.ProcessEnv>): Promise<Finding> {
  const name = "passphrase";
  const { PULUMI_CONFIG_PASSPHRASE: given, PULUMI_CONFIG_PASSPHRASE_FILE: file } = env;
  const move = `set PULUMI_CONFIG_PASSPHRASE_FILE to a file with it, or let KMS keep the secrets: pulumi stack change-secrets-provider ${kmsExample}`;
  if (given === undefined && !file) return wrong(name, "is not set, so Pulumi asks for it at every run", move);
  const value = given ?? (await readFile(file ?? "", "utf8").catch(() => undefined));
  if (value === undefined) return wrong(name, `should be in ${file}, which can't be read`, move);
  if (value.trim() === "")
    return wrong(name, "is empty: everybody with the state can read the sealing keys and the deploy keys in it", move);
  return ok(name, given === undefined ? `in ${file}` : "in PULUMI_CONFIG_PASSPHRASE");
}

async function secrets(stack: Stack, url: string, exists: boolean, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const name = "secrets provider";
  const { secretsProvider, hasPassphrase } = stack;
  if (hasPassphrase || secretsProvider === "passphrase") return [ok(name, "passphrase"), await passphrase(env)];
  if (secretsProvider !== undefined && secretsProvider !== "default") return [ok(name, secretsProvider)];
  if (isPulumiCloud(url)) return [ok(name, "Pulumi Cloud")];
  if (!exists) return [];
  return [
    wrong(
      name,
      `${stack.file} names none, and ${url} has no default`,
      `pulumi stack change-secrets-provider --stack ${stack.name} ${kmsExample}`,
    ),
  ];
}

/** Whether Pulumi can read its state and has the stack, and how the secrets in it are encrypted. */
export async function checkBackend(stack: Stack, run: Run, env: Readonly<NodeJS.ProcessEnv>): Promise<Finding[]> {
  const ended = await run("pulumi", ["whoami", "--json", "--non-interactive"]);
  if (ended === undefined) return [unchecked("backend", "pulumi is not on PATH", "install it: see tools")];
  const found = ended.code === 0 ? json(who, ended.stdout) : undefined;
  if (found === undefined)
    return [
      wrong("backend", `Pulumi is not logged in: ${complaint(ended)}`, "pulumi login, or pulumi login s3://<bucket>"),
    ];
  const listed = await run("pulumi", ["stack", "ls", "--json", "--non-interactive"]);
  const names = listed?.code === 0 ? json(stacks, listed.stdout)?.map((entry) => entry.name) : undefined;
  if (names === undefined) {
    const why = listed === undefined ? "pulumi is no longer on PATH" : complaint(listed);
    return [
      wrong(
        "backend",
        `${found.url} can't be read: ${why}`,
        "check that the address is right, and that this identity may read and write there",
      ),
    ];
  }
  const short = (name: string) => name.split("/").at(-1);
  const exists = names.some((name) => short(name) === short(stack.name));
  const missing = note(
    "stack",
    `${stack.name} is not in the backend yet`,
    `pulumi stack init ${stack.name} --secrets-provider ${kmsExample}`,
  );
  return [
    ok("backend", `${found.url}, as ${found.user}`),
    exists ? ok("stack", stack.name) : missing,
    ...(await secrets(stack, found.url, exists, env)),
  ];
}
