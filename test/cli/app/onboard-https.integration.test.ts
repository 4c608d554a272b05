import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { AppAccess } from "../../../cli/app/credential.ts";
import { onboardApp } from "../../../cli/app/folder.ts";
import type { AppRequest } from "../../../cli/app/rules.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { request as onboarded } from "../support/apps.ts";
import { inNewCases } from "../support/cases.ts";
import { knownHosts, privateHalf } from "../support/fleet.ts";

const { at } = await inNewCases("fleet-onboard-https-", "gitops-workloads");

const url = "https://git.example/payments/manifests.git";
const request: AppRequest = { ...onboarded, repositoryUrl: url };

describe("fleet onboard over HTTPS", () => {
  const privateKey = generateKeyPairSync("rsa", { modulusLength: 2048 })
    .privateKey.export({ format: "pem", type: "pkcs1" })
    .toString();
  const app = { githubAppId: "1", githubAppInstallationId: "2", githubAppKey: privateKey };
  const sealed = () => fromBase64(at.kubeseal.calls()[0]?.input.data ?? {});
  const over = (access: AppAccess, repositoryUrl = url) =>
    onboardApp(at.checkout, { ...request, repositoryUrl }, async () => at.fleet, access);
  const sourceIn = (folder: string) =>
    parseAllDocuments(readFileSync(join(folder, "sync.yaml"), "utf8"))[0]?.toJS().spec;
  const trusting = (members: Readonly<Record<string, string>>) => {
    at.fleet = { ...at.fleet, credential: async () => members };
  };

  test("seals the team's token, and makes no deploy key", async () => {
    trusting({ username: "fleet", password: privateHalf });
    const { folder, publicKey } = await over({ token: "t0ps3cret\n", username: "payments" });
    expect(publicKey).toBeUndefined();
    expect(sealed()).toEqual({ username: "payments", password: "t0ps3cret" });
    expect(sourceIn(folder)).toMatchObject({ url, provider: "generic" });
  });

  test("seals the team's GitHub App, for the server and the authority that the fleet trusts", async () => {
    trusting({ githubAppPrivateKey: privateHalf, githubAppBaseURL: "https://git.example/api/v3", "ca.crt": "CA" });
    const { folder } = await over(app);
    expect(sealed()).toEqual({
      githubAppID: "1",
      githubAppInstallationID: "2",
      githubAppPrivateKey: privateKey,
      githubAppBaseURL: "https://git.example/api/v3",
      "ca.crt": "CA",
    });
    expect(sourceIn(folder)).toMatchObject({ url, provider: "github" });
  });

  describe("asks the GitHub App's tokens of the server that has the team's repository", () => {
    const urlAt = (host: string) => `https://${host}/payments/manifests.git`;

    test.each([
      ["a fleet with tokens", {}],
      ["a fleet at another GitHub server", { githubAppBaseURL: "https://fleet.example/api/v3" }],
      ["a fleet at github.com", { githubAppBaseURL: "https://api.github.com" }],
    ])("for a team at a server of its own, in %s", async (_what, members) => {
      trusting(members);
      await expect(over(app)).rejects.toThrow(
        /--github-app-base-url: is not set[\s\S]*--github-app-base-url https:\/\/git\.example\/api\/v3/,
      );
      expect(existsSync(join(at.checkout, "clusters", "blue"))).toBe(false);
      await over({ ...app, githubAppBaseUrl: "https://git.example/api/v3" });
      expect(sealed()).toMatchObject({ githubAppBaseURL: "https://git.example/api/v3" });
    });

    test("for a team at github.com, in a fleet at a server of its own", async () => {
      trusting({ githubAppBaseURL: "https://fleet.example/api/v3" });
      await over(app, urlAt("github.com"));
      expect(sealed()).not.toHaveProperty("githubAppBaseURL");
    });

    test("for a team at a subdomain of ghe.com", async () => {
      trusting({});
      await expect(over(app, urlAt("octocorp.ghe.com"))).rejects.toThrow("https://api.octocorp.ghe.com");
    });
  });

  test("trusts the authority that is given in place of the fleet's", async () => {
    trusting({ "ca.crt": "CA" });
    const [another = ""] = rootCertificates;
    await over({ token: "t", caCertificate: another });
    expect(sealed()).toMatchObject({ username: "git", "ca.crt": another });
  });

  test.each<[string, AppAccess]>([
    ["--token-file", {}],
    ["--token-file", { token: "two words" }],
    ["--token-file", { token: "\n" }],
    ["--github-app-id", { token: "t", githubAppId: "1" }],
    ["--github-app-installation-id", { githubAppId: "1", githubAppKey: privateKey }],
    ["--github-app-id", { ...app, githubAppId: "one" }],
    ["--github-app-key-file", { ...app, githubAppKey: "PEM" }],
    ["--username", { ...app, username: "git" }],
    ["--username", { token: "t", username: "" }],
    ["--known-hosts", { token: "t", knownHosts }],
    ["--ca-file", { token: "t", caCertificate: privateKey }],
    ["--ca-file", { ...app, caCertificate: `${rootCertificates[0]}\n${privateKey}` }],
    ["--ca-file", { token: "t", caCertificate: "" }],
    ["--github-app-id", { ...app, githubAppId: "" }],
    ["--github-app-base-url", { token: "t", githubAppBaseUrl: "https://git.example/api/v3" }],
    ["--github-app-base-url", { ...app, githubAppBaseUrl: "git.example" }],
    ["--github-app-base-url", { ...app, githubAppBaseUrl: "" }],
    ["--github-app-base-url", { ...app, githubAppBaseUrl: "https://other.example/api/v3" }],
  ])("refuses without the fleet's help a credential with a wrong %s (case %#)", async (key, access) => {
    const asked = () => Promise.reject(new Error("asked the fleet"));
    const refused = onboardApp(at.checkout, request, asked, access);
    await expect(refused).rejects.toThrow(new RegExp(`1 problem in fleet onboard.*\n  1\\. ${key}: `));
    await expect(refused).rejects.not.toThrow(/t0ps3cret|PRIVATE KEY|two words/);
  });

  test("refuses a token for an ssh:// URL", async () => {
    const ssh = { ...request, repositoryUrl: "ssh://git@git.fleet.internal:2222/payment-app-manifests.git" };
    await expect(onboardApp(at.checkout, ssh, async () => at.fleet, { token: "t" })).rejects.toThrow(
      "--token-file: does",
    );
  });
});
