import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { AppAccess } from "../../../cli/app/credential.ts";
import { onboardApp } from "../../../cli/app/folder.ts";
import type { AppRequest } from "../../../cli/app/rules.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { type CommitStatusType, commitStatusTypes } from "../../../lib/notifications.ts";
import { build, files } from "../../repos/support/kustomize.ts";
import { request } from "../support/apps.ts";
import { inNewCases } from "../support/cases.ts";
import { traces } from "../support/receivers.ts";

const { at } = await inNewCases("fleet-onboard-commit-status-", "gitops-workloads");

const TOKEN = "glpat-0f1e2d3c";
const CA = rootCertificates[0] ?? "";
const github = { repositoryUrl: "ssh://git@github.com/payments/app.git", commitStatus: "github" } as const;
const knownHosts = "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
const onboard = (more: Partial<AppRequest> = {}, access: AppAccess = {}) =>
  onboardApp(at.checkout, { ...request, ...github, ...more }, async () => at.fleet, {
    knownHosts,
    commitStatusToken: `${TOKEN}\n`,
    ...access,
  });
const problems = (more: Partial<AppRequest>, access: AppAccess = {}) =>
  onboard(more, access).then(
    () => expect.fail("it was accepted"),
    (error: Error) => error.message,
  );
const spec = (folder: string, kind: string) => build(folder).find((object) => object.kind === kind)?.spec;
const address = async (repositoryUrl: string, access: AppAccess, commitStatus: CommitStatusType = "github") => {
  const { folder } = await onboard({ repositoryUrl, commitStatus }, access);
  return spec(folder, "Provider")?.address;
};

describe("fleet onboard with the commit status", () => {
  test.each(commitStatusTypes)("at %s has the application's own Kustomization told, and no other one", async (type) => {
    const { folder } = await onboard({
      commitStatus: type,
      commitStatusAddress: "https://git.example/scm/payments/app.git",
    });
    expect(parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")).components).toEqual(["commit-status"]);
    expect(spec(folder, "Provider")).toMatchObject({
      type,
      address: "https://git.example/scm/payments/app.git",
      secretRef: { name: "commit-status" },
    });
    expect(spec(folder, "Alert")).toEqual({
      providerRef: { name: "commit-status" },
      // With "error" alone a commit that mends things would stay without its success.
      eventSeverity: "info",
      eventSources: [{ kind: "Kustomization", name: "payment-app" }],
    });
  });

  test("puts everything into the application's namespace", async () => {
    const { folder } = await onboard();
    const objects = build(folder).filter(({ kind }) => kind === "Provider" || kind === "Alert");
    expect(objects.map(({ metadata }) => metadata.namespace)).toEqual(["payment-app", "payment-app"]);
  });

  test("names the status by cluster and application, so that those of two clusters stand side by side", async () => {
    const { folder } = await onboard();
    expect(spec(folder, "Provider")?.commitStatusExpr).toBe("'fleet/blue/payment-app'");
  });

  test("finds the repository over HTTPS from its URL, without the port and user of SSH", async () => {
    expect(
      await address("ssh://git@github.com:2222/payments/app.git", {
        knownHosts: `[github.com]:2222 ${knownHosts.slice(11)}`,
      }),
    ).toBe("https://github.com/payments/app.git");
  });

  test("keeps the port of an https:// URL", async () => {
    const access = { knownHosts: undefined, token: "read" };
    expect(await address("https://git.example:8443/payments/app.git", access)).toBe(
      "https://git.example:8443/payments/app.git",
    );
  });

  test("seals the token for the application's namespace, writes it nowhere and hands it to no argument", async () => {
    const { folder } = await onboard();
    const [credential, token] = at.kubeseal.calls();
    expect(token?.certificate).toBe(credential?.certificate);
    expect(token?.input.metadata).toEqual({ name: "commit-status", namespace: "payment-app" });
    expect(fromBase64(token?.input.data ?? {})).toEqual({ token: TOKEN });
    expect(traces(TOKEN, at.checkout, at.kubeseal.calls())).toEqual([]);
    for (const file of files(folder)) expect(readFileSync(file, "utf8"), file).not.toMatch(/__[a-zA-Z]+__/);
  });

  test("trusts the authorities of a private Git host, also where the repository is read over SSH", async () => {
    await onboard({}, { caCertificate: CA });
    expect(fromBase64(at.kubeseal.calls()[1]?.input.data ?? {})).toEqual({ token: TOKEN, "ca.crt": CA });
  });

  test("does not take the authorities of one host for another one", async () => {
    const here = { repositoryUrl: "https://git.example/payments/app.git" };
    const access = { knownHosts: undefined, token: "read" };
    const trusting = { ...at.fleet, credential: async () => ({ "ca.crt": CA }) };
    const sealed = async (commitStatusAddress?: string) => {
      const asked = { ...request, ...github, ...here, commitStatusAddress };
      const { folder } = await onboardApp(at.checkout, asked, async () => trusting, {
        ...access,
        commitStatusToken: TOKEN,
      });
      rmSync(folder, { recursive: true });
      return fromBase64(at.kubeseal.calls().at(-1)?.input.data ?? {});
    };
    expect(await sealed()).toHaveProperty(["ca.crt"], CA);
    expect(await sealed("https://github.com/payments/app")).not.toHaveProperty(["ca.crt"]);
  });

  test("stands beside a Receiver", async () => {
    const { folder } = await onboard({ gitReceiver: "github" });
    const { components } = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8"));
    expect(components).toEqual(["receiver", "commit-status"]);
  });

  test("adds nothing where it is not asked for", async () => {
    const { folder } = await onboard({ commitStatus: undefined }, { commitStatusToken: undefined });
    expect(existsSync(join(folder, "commit-status"))).toBe(false);
    expect(parse(readFileSync(join(folder, "kustomization.yaml"), "utf8"))).not.toHaveProperty("components");
  });
});

describe("fleet onboard refuses", () => {
  test("an unknown kind of host, a missing token and every other problem at once", async () => {
    const wrong = { commitStatus: "svn" as CommitStatusType, tenant: "The Team" };
    const message = await problems(wrong, { commitStatusToken: undefined });
    expect(message).toContain("3 problems in fleet onboard, nothing was changed:");
    expect(message).toMatch(
      /--commit-status: has an unknown value\n\s+got: +svn\n\s+allowed: github, gitlab, gitea, bitbu/,
    );
    expect(message).toMatch(/--commit-status-token-file: is missing/);
  });

  test.each(["", "two words", "one\ntwo"])("a token file with %j, without showing it", async (token) => {
    const message = await problems({}, { commitStatusToken: token });
    expect(message).toMatch(/--commit-status-token-file: is not a file with one access token\n\s+got: +\(not shown\)/);
  });

  test.each([
    "http://github.com/payments/app",
    "https://github.com",
    "https://token@github.com/payments/app",
    "https://github.com/payments/app?x=1",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Flux would substitute it
    "https://github.com/payments/${cluster_name}",
  ])("the address %s", async (commitStatusAddress) => {
    expect(await problems({ commitStatusAddress })).toMatch(/--commit-status-address: does not fit/);
  });

  test("Bitbucket Server without its clone URL over HTTPS, which Flux can't guess", async () => {
    expect(await problems({ commitStatus: "bitbucketserver" })).toMatch(
      /--commit-status-address: is needed[\s\S]*https:\/\/host\/scm\/project\/repository\.git/,
    );
  });

  test("what belongs to a commit status that nobody asked for", async () => {
    const message = await problems({ commitStatus: undefined, commitStatusAddress: "https://github.com/a/b" });
    expect(message).toContain("2 problems");
    expect(message).toMatch(/--commit-status-address: has no effect without --commit-status/);
    expect(message).toMatch(/--commit-status-token-file: has no effect without --commit-status/);
    expect(message).not.toContain(TOKEN);
  });
});
