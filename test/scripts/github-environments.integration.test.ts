import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { recorded } from "../cli/doctor/support/github.ts";
import { type Answer, Upstream } from "../cli/upstream/server.ts";
import { execute, root } from "../support/process.ts";

/** The check in up.yml and pull-request.yml, as the workflows run it: with the checkout and Node only. */

const path = "repos/acme/fleet/environments";
const upstream = new Upstream();
let checkout = "";
beforeEach(async () => {
  checkout = mkdtempSync(join(tmpdir(), "checkout-"));
  // No packages: the workflows don't install any.
  for (const folder of ["lib", "scripts"]) cpSync(join(root, folder), join(checkout, folder), { recursive: true });
  mkdirSync(join(checkout, "home"));
  await upstream.listen();
});
afterEach(async () => {
  upstream.routes.clear();
  await upstream.close();
  rmSync(checkout, { recursive: true });
});

function environment(name: string, answer: Answer, ...branches: readonly (readonly [string, string])[]) {
  upstream.routes.set(`${path}/${name}`, ({ headers }) =>
    headers.authorization === "Bearer t" ? answer : { status: 401 },
  );
  upstream.routes.set(`${path}/${name}/deployment-branch-policies?per_page=100`, recorded.branches(...branches));
}
const { custom } = recorded;

async function checked(...environments: readonly string[]) {
  const env = { GITHUB_API_URL: upstream.address, GITHUB_REPOSITORY: "acme/fleet", GH_TOKEN: "t" };
  const { code, stdout, stderr } = await execute(
    process.execPath,
    ["scripts/github-environments.ts", ...environments],
    { cwd: checkout, env },
  );
  return { code, text: stdout + stderr };
}

describe("the check of environments in workflows", () => {
  test("passes with the rules that infra/ci sets", async () => {
    environment("prod", recorded.environment({ others: false }, custom), ["branch", "main"]);
    environment("prod-main", recorded.environment(false, custom), ["branch", "main"]);
    environment("prod-preview", recorded.environment({ others: true }, custom), ["branch", "refs/pull/*/merge"]);
    expect(await checked("update", "prod")).toEqual({ code: 0, text: "" });
    expect(await checked("preview", "prod")).toEqual({ code: 0, text: "" });
  });

  test.for<[string, () => void, string]>([
    [
      "admits any branch",
      () => environment("prod", recorded.environment({ others: false }, null)),
      "environment prod: any branch can enter it",
    ],
    [
      "has no reviewers",
      () => environment("prod", recorded.environment(false, custom), ["branch", "main"]),
      "environment prod: it has no required reviewers",
    ],
    [
      "lets administrators skip them",
      () => environment("prod", recorded.environment({ others: false, bypass: true }, custom), ["branch", "main"]),
      "can_admins_bypass",
    ],
    ["doesn't exist", () => environment("prod", recorded.notFound), "environment prod: GitHub answers with status 404"],
  ])("fails if an environment %s", async ([, prepare, message]) => {
    environment("prod-main", recorded.environment(false, custom), ["branch", "main"]);
    prepare();
    const { code, text } = await checked("update", "prod");
    expect([code, text]).toEqual([1, expect.stringContaining(`::error::`)]);
    expect(text).toContain(message);
    expect(text).not.toContain("prod-main:");
  });

  test("fails if the author of a pull request can approve its preview", async () => {
    environment("prod-preview", recorded.environment({ others: false }, custom), ["branch", "refs/pull/*/merge"]);
    expect(await checked("preview", "prod")).toEqual({ code: 1, text: expect.stringContaining("prevent_self_review") });
  });

  test("requires reviewers of a stack whose name ends like an environment's", async () => {
    environment("eu-main", recorded.environment(false, custom), ["branch", "main"]);
    environment("eu-main-main", recorded.environment(false, custom), ["branch", "main"]);
    expect(await checked("update", "eu-main")).toEqual({
      code: 1,
      text: expect.stringMatching(/^::error::environment eu-main: it has no required reviewers.*\n$/),
    });
  });

  test("fails without a stack or a known check", async () => {
    for (const args of [[], ["update"], ["prod"], ["other", "prod"]])
      expect(await checked(...args)).toEqual({ code: 1, text: expect.stringContaining("usage:") });
  });
});
