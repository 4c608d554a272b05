import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { profileOf } from "@eks-gitops-fleet/local/cli";
import { ensureGatewayKey } from "@eks-gitops-fleet/local/gateway";
import { describe, expect, test } from "vitest";
import { instance, outputs, root } from "./support/fleet.ts";
import { filesBelow, histories, leaks, tracesOfStack } from "./support/secrets.ts";

const credentials = profileOf(readFileSync(instance.paths.awsCredentials, "utf8"), "default");
const passphrase = readFileSync(join(instance.paths.pulumi, "passphrase"), "utf8").trim();
const { hub } = (await outputs()).gitWebhooks as Record<"hub", { readonly secret: string; readonly path: string }>;
const secrets = [
  ...new Set([
    ...(await tracesOfStack()),
    credentials.secretAccessKey,
    passphrase,
    hub.secret,
    hub.path,
    (await ensureGatewayKey(instance)).rootAccessKeyId,
  ]),
];

describe("no secret stands in plain text", () => {
  test("the test knows the real values: private keys of deploy and sealing keys, the deployer's key, the Receiver's token and path", () => {
    expect(secrets.length).toBeGreaterThan(50); // an RSA 4096 key alone has some fifty lines
    const key = `x${secrets[0]}y`;
    expect(
      leaks(secrets, [
        ["twin", key],
        ["in base64", btoa(`${key}${key}`)],
        ["other", "x"],
      ]),
    ).toEqual(["twin", "in base64"]);
  });

  test("in Pulumi's state, its history and config", () => {
    const own = (path: string) => path.startsWith("home/") || path === "passphrase";
    expect(leaks(secrets, filesBelow(instance.paths.pulumi, own))).toEqual([]);
  });

  test("in the logs of any process", () => expect(leaks(secrets, filesBelow(instance.paths.logs))).toEqual([]));

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
    expect(leaks(secrets, lines)).toEqual([]);
  });

  test("in any Git repository: the local ones with all their history, and this checkout", async () => {
    const repositories = await histories();
    expect(repositories.length).toBeGreaterThan(0);
    expect(leaks(secrets, repositories)).toEqual([]);
    const ours = ["stacks", "repos"].flatMap((folder) => filesBelow(join(root, folder)));
    expect(leaks(secrets, ours)).toEqual([]);
  });

  test("in the files that tools read: kubeconfig, env, commands, records", () => {
    const { kubeconfig, env, record, awsConfig, bin } = instance.paths;
    const texts = [kubeconfig, env, record, awsConfig].map((path) => [path, readFileSync(path, "utf8")] as const);
    expect(leaks(secrets, [...texts, ...filesBelow(bin)])).toEqual([]);
  });
});
