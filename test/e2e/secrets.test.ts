import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { profileOf } from "../../local/cli/aws.ts";
import { ensureGatewayKey } from "../../local/gateway/key.ts";
import { git, instance, pulumi, root } from "./support/fleet.ts";

const SECRET_MARK = "4dabf18193072939515e22adb298388d"; // pulumi/sdk: the signature of special values
const SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";

/** Every secret value of the stack, in plain text, from a state export that shows them. */
function secretsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(secretsOf);
  if (typeof value !== "object" || value === null) return [];
  const object = value as Record<string, unknown>;
  if (object[SECRET_MARK] === SECRET_SIGNATURE) return strings(JSON.parse(String(object["plaintext"])));
  return Object.values(object).flatMap(secretsOf);
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

/**
 * The parts of a value that give away the private keys in it, wherever they stand: the base64 lines of every PEM block
 * (line ends differ in JSON and YAML). Of each only the second half: the first holds the public half too.
 */
function traces(value: string): string[] {
  const blocks = value.match(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END/g) ?? [];
  const lines = blocks.map((block) => block.match(/[A-Za-z0-9+/]{40,}/g) ?? []);
  return lines.flatMap((all) => all.slice(Math.ceil(all.length / 2)));
}

const exported = JSON.parse(await pulumi(["stack", "export", "--show-secrets"]));
const credentials = profileOf(readFileSync(instance.paths.awsCredentials, "utf8"), "default");
const passphrase = readFileSync(join(instance.paths.pulumi, "passphrase"), "utf8").trim();
const secrets = [
  ...new Set([
    ...secretsOf(exported).flatMap(traces),
    credentials.secretAccessKey,
    passphrase,
    (await ensureGatewayKey(instance)).rootAccessKeyId,
  ]),
];

/** Names of the texts in which a secret stands. */
const leaks = (texts: readonly (readonly [name: string, text: string])[]) =>
  texts.filter(([, text]) => secrets.some((secret) => text.includes(secret))).map(([name]) => name);

const filesBelow = (folder: string, skip: (path: string) => boolean = () => false) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !skip(relative(folder, path)))
    .map((path) => [path, readFileSync(path, "latin1")] as const);

describe("no secret stands in plain text", () => {
  test("the test knows the real values: private keys of deploy and sealing keys, and the deployer's key", () => {
    expect(secrets.length).toBeGreaterThan(50); // an RSA 4096 key alone has some fifty lines
    expect(leaks([["twin", `x${secrets[0]}y`]])).toEqual(["twin"]);
  });

  test("in Pulumi's state, its history and config", () => {
    const own = (path: string) => path.startsWith("home/") || path === "passphrase";
    expect(leaks(filesBelow(instance.paths.pulumi, own))).toEqual([]);
  });

  test("in the logs of any process", () => {
    expect(leaks(filesBelow(instance.paths.logs))).toEqual([]);
  });

  test("on the command line of any process", () => {
    const lines = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          return [[pid, readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")] as const];
        } catch {
          return []; // ended meanwhile
        }
      });
    expect(lines.length).toBeGreaterThan(10);
    expect(leaks(lines)).toEqual([]);
  });

  test("in any Git repository: the local ones with all their history, and this checkout", async () => {
    const repositories = readdirSync(instance.paths.git).filter((name) => name.endsWith(".git"));
    const histories = await Promise.all(
      repositories.map(
        async (name) =>
          [name, await git(["--git-dir", join(instance.paths.git, name), "log", "--all", "--patch"])] as const,
      ),
    );
    expect(histories.length).toBeGreaterThan(0);
    expect(leaks(histories)).toEqual([]);
    expect(leaks(["stacks", "repos"].flatMap((folder) => filesBelow(join(root, folder))))).toEqual([]);
  });

  test("in the files that tools read: kubeconfig, env, commands, records", () => {
    const { kubeconfig, env, record, awsConfig, bin } = instance.paths;
    const texts = [kubeconfig, env, record, awsConfig].map((path) => [path, readFileSync(path, "utf8")] as const);
    expect(leaks([...texts, ...filesBelow(bin)])).toEqual([]);
  });
});
