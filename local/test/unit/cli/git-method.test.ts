import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { choicesOf, settleChoices } from "../../../cli/choices.ts";
import { appGit, gitConfig } from "../../../cli/git-method.ts";
import { startOptions } from "../../../cli/start-options.ts";
import { readAccessList } from "../../../git/access.ts";
import { gitPaths } from "../../../git/index.ts";
import type { Instance } from "../../../instance/index.ts";
import { appCredential, type FleetFacts } from "../../../product.ts";
import { scratch } from "../../support/scratch.ts";

let dir: string;
let instance: Instance;
beforeEach(() => {
  dir = scratch("fleet-method-");
  for (const folder of ["git", "pulumi"]) mkdirSync(join(dir, folder));
  instance = {
    dir,
    gatewayAddress: "127.0.0.1",
    paths: { git: join(dir, "git"), pulumi: join(dir, "pulumi") },
  } as Instance;
});

const accessList = () => readAccessList(gitPaths(instance).keys);

describe("npm start", () => {
  test("takes what is to be brought up, and how Git is read", () => {
    const everything = { hubOnly: false, cloudOnly: false, choices: {}, addons: [] };
    expect(startOptions([])).toEqual(everything);
    expect(startOptions(["--hub-only", "--git", "token"])).toEqual({
      ...everything,
      hubOnly: true,
      choices: { git: "token" },
    });
    expect(startOptions(["--cloud-only"])).toEqual({ ...everything, cloudOnly: true });
    expect(startOptions(["--charts", "oci"])).toEqual({ ...everything, choices: { charts: "oci" } });
  });

  test.each([[["--git", "password"]], [["--charts", "http"]], [["--git"]], [["--spoke"]], [["blue"]]])(
    "refuses %j and says what it takes",
    (argv) => {
      expect(() => startOptions(argv)).toThrow("--git deploy-key|token|github-app, --charts https|oci|private");
    },
  );

  test("keeps the way in which an instance was made, and refuses another one until it is removed", async () => {
    expect(await choicesOf(instance)).toEqual({ git: "deploy-key", charts: "https" });
    await settleChoices(instance, { git: "token" }, false);
    await settleChoices(instance, {}, true);
    await settleChoices(instance, { git: "token" }, true);
    expect(await choicesOf(instance)).toEqual({ git: "token", charts: "https" });
    await expect(settleChoices(instance, { git: "github-app" }, true)).rejects.toThrow(
      /was made with --git token, got --git github-app: npm run down/,
    );
    await expect(settleChoices(instance, { charts: "oci" }, true)).rejects.toThrow("made with --charts https");
  });
});

describe("the stack on the instance's Git server", () => {
  test("has with a token an encrypted one, and the authority behind the server's certificate", async () => {
    const { values, secrets } = await gitConfig(instance, "token");
    expect(values).toMatchObject({
      gitAuthentication: "token",
      gitopsSystemRepoUrl: "https://git.fleet.internal:8443/gitops-system.git",
    });
    const authority = new X509Certificate(values["gitCaCertificate"] ?? "");
    const served = new X509Certificate(readFileSync(gitPaths(instance).tls.certificate));
    expect(served.checkIssued(authority)).toBe(true);
    expect(served.checkHost("git.fleet.internal")).toBe("git.fleet.internal");
    expect(accessList().tokens.map(({ repository, access }) => [repository, access])).toEqual([
      ["gitops-system", "read"],
      ["gitops-workloads", "read"],
    ]);
    expect(readFileSync(gitPaths(instance).keys, "utf8")).not.toContain(secrets["gitToken"]);
    expect(await gitConfig(instance, "token")).toEqual({ values, secrets });
  });

  test("has with a GitHub App its key, and the API of the server", async () => {
    const { values, secrets } = await gitConfig(instance, "github-app");
    expect(values).toMatchObject({
      githubAppId: "1",
      githubAppInstallationId: "1001",
      githubAppBaseUrl: "https://git.fleet.internal:8443/api/v3",
    });
    expect(secrets["githubAppPrivateKey"]).toContain("BEGIN RSA PRIVATE KEY");
    expect(statSync(join(gitPaths(instance).credentials, "app-1.pem")).mode & 0o777).toBe(0o600);
    expect(await gitConfig(instance, "github-app")).toEqual({ values, secrets });
    expect(accessList().apps).toHaveLength(1);
  });
});

test.each([
  ["token", { username: "manifests" }, "generic"],
  ["github-app", { githubAppID: "2", githubAppBaseURL: "https://git.fleet.internal:8443/api/v3" }, "github"],
] as const)("a team reads its own repository alone, with %s", async (method, members, provider) => {
  await settleChoices(instance, { git: method }, false);
  const { repositoryUrl, access } = await appGit(instance, "manifests");
  const trusted = { "ca.crt": "CA", githubAppBaseURL: "https://git.fleet.internal:8443/api/v3" };
  const fleet = { credential: async () => trusted } as unknown as FleetFacts;
  const credential = await appCredential({ repositoryUrl, owner: "app@blue" }, access, fleet);
  expect(credential).toMatchObject({ provider, data: { "ca.crt": "CA" } });
  expect(credential.publicKey).toBeUndefined();
  for (const [name, value] of Object.entries(members)) expect(credential.data[name]).toBe(value);
  const { tokens, apps } = accessList();
  expect([...tokens.map(({ repository }) => repository), ...apps.flatMap(({ repositories }) => repositories)]).toEqual([
    "manifests",
  ]);
});
