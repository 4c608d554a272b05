import { afterEach, describe, expect, test } from "vitest";
import { checkDeployKeysAllowed } from "../../../cli/doctor/github-keys.ts";
import type { Answer } from "../upstream/server.ts";
import { fakeGitHub, noGitHub, recorded } from "./support/github.ts";

let close = async () => {};
afterEach(() => close());

const source = (path: string, host = "github.com") => ({
  repository: "gitops-system" as const,
  url: new URL(`ssh://git@${host}/${path}.git`),
  branch: "main",
});
const both = [source("acme/gitops-system"), source("acme/gitops-workloads")];

async function checked(answer: Answer, sources = both) {
  const fake = await fakeGitHub({ "orgs/acme": answer });
  close = fake.close;
  return { findings: await checkDeployKeysAllowed(sources, fake.github), asked: fake.asked };
}
const field = (value: unknown) => recorded.organization({ deploy_keys_enabled_for_repositories: value });

describe("fleet doctor, deploy keys of an organization", () => {
  test("are ok if the organization allows them, which is asked once", async () => {
    const { findings, asked } = await checked(field(true));
    expect(findings).toMatchObject([{ status: "ok", name: "deploy keys of acme" }]);
    expect(asked).toEqual(["api.github.com/orgs/acme"]);
  });

  test("are wrong if the organization disallows them, with both ways on", async () => {
    const { findings } = await checked(field(false));
    expect(findings).toMatchObject([{ status: "wrong", message: expect.stringContaining("status 422") }]);
    expect(findings[0]?.todo).toContain("gh api -X PATCH orgs/acme -F deploy_keys_enabled_for_repositories=true");
    expect(findings[0]?.todo).toContain("docs/guides/git-access.md#a-github-app");
  });

  test.for([
    ["null", field(null)],
    ["left out", recorded.organization()],
  ] as const)("are a note for someone who isn't an owner: the field is %s", async ([, answer]) => {
    const { findings } = await checked(answer);
    expect(findings).toMatchObject([{ status: "note", message: expect.stringContaining("only an owner") }]);
    expect(findings[0]?.todo).toContain("gh api orgs/acme --jq .deploy_keys_enabled_for_repositories");
  });

  test("have no finding for a user's repositories, and at other Git hosts", async () => {
    expect((await checked(recorded.notFound)).findings).toEqual([]);
    await close();
    const elsewhere = await checked(field(false), [source("acme/gitops-system", "git.example.com")]);
    expect(elsewhere).toEqual({ findings: [], asked: [] });
  });

  test("are a note if GitHub rejects the token", async () => {
    const { findings } = await checked(recorded.badCredentials);
    expect(findings).toMatchObject([
      { status: "note", message: "github.com answers with status 401: Bad credentials", todo: /gh auth login/ },
    ]);
  });

  test("are a note without a token", async () => {
    expect(await checkDeployKeysAllowed(both, noGitHub)).toMatchObject([
      { status: "note", message: expect.stringContaining("without a token"), todo: /gh auth login/ },
    ]);
  });
});
