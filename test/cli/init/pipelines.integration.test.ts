import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runner } from "../../../cli/doctor/process.ts";
import { nextSteps } from "../../../cli/init/next.ts";
import { hasPipeline, type ProjectCopy, placeOf, projectCopy } from "../../../cli/init/pipelines.ts";
import { inNewProjects } from "../support/init.ts";

const { at, make, refusal, inFolder, named } = inNewProjects("fleet-init-pipelines-");

const sampleAppUrl = "ssh://git@github.com/acme/payment-app-manifests.git";
const urlsAt = (host: string) => ({
  systemUrl: `ssh://git@${host}/acme/fleet/gitops-system.git`,
  workloadsUrl: `ssh://git@${host}/acme/fleet/gitops-workloads.git`,
  knownHosts: at.request.knownHosts?.replace("github.com", host),
});
const text = (...path: string[]) => readFileSync(inFolder(...path), "utf8");
const workflow = join(".github", "workflows", "fleet.yml");

/** Makes the project a clone of `origin`. @returns its commit */
function cloneOf(origin: string): string {
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", at.project, ...args], { env: at.env, encoding: "utf8" }).trim();
  git("init", "--quiet");
  git("remote", "add", "origin", origin);
  git("add", "--all");
  git("commit", "--quiet", "-m", "project");
  git("tag", "v0.1.0");
  return git("rev-parse", "HEAD");
}

describe("fleet init", () => {
  test("writes workflows that name the fleet's repositories and this checkout's commit at its origin", async () => {
    const commit = cloneOf("git@github.com:acme/eks-gitops-fleet.git");
    await make({ sampleAppUrl });
    for (const name of ["gitops-system", "gitops-workloads", "payment-app-manifests"]) {
      expect(text(name, workflow)).toContain(`uses: acme/eks-gitops-fleet/.github/actions/fleet@${commit} # v0.1.0\n`);
      expect(text(name, workflow)).toContain(
        "REPOSITORIES: gitops-system=acme/gitops-system gitops-workloads=acme/gitops-workloads payment-app-manifests=acme/payment-app-manifests\n",
      );
      expect(text(name, workflow)).not.toContain("__");
    }
  });

  test("writes GitLab's pipeline for a host of one's own, whose workflows GitHub's actions may not suit", async () => {
    cloneOf("https://git.example.com/acme/eks-gitops-fleet.git");
    await make(urlsAt("git.example.com"));
    expect(existsSync(inFolder("gitops-system", workflow))).toBe(false);
    expect(text("gitops-system", ".gitlab-ci.yml")).toContain(
      "PROJECT_URL: https://git.example.com/acme/eks-gitops-fleet.git\n",
    );
  });

  test("writes no pipeline of GitLab at github.com, and no workflow at gitlab.com", async () => {
    cloneOf("git@github.com:acme/eks-gitops-fleet.git");
    await make();
    expect(existsSync(inFolder("gitops-system", ".gitlab-ci.yml"))).toBe(false);
    await make({ folder: `${at.request.folder}-2`, ...urlsAt("gitlab.com") });
    expect(existsSync(join(`${at.request.folder}-2`, "gitops-system", workflow))).toBe(false);
    expect(readFileSync(join(`${at.request.folder}-2`, "gitops-system", ".gitlab-ci.yml"), "utf8")).toContain(
      "PROJECT_URL: https://github.com/acme/eks-gitops-fleet.git\n",
    );
  });

  test("takes the copy of the project that it is told", async () => {
    cloneOf("git@github.com:upstream/eks-gitops-fleet.git");
    await make({ projectUrl: "https://github.com/acme/fleet.git" });
    expect(text("gitops-system", workflow)).toContain("uses: acme/fleet/.github/actions/fleet@");
  });

  test("writes none, and says so, where nothing names the project's copy", async () => {
    await make();
    expect(existsSync(inFolder("gitops-system", ".github"))).toBe(false);
    expect(nextSteps(at.request)).toContain("The repositories have no workflows");
  });

  test("names the commit that must be pushed, and how repositories may use it", async () => {
    const commit = cloneOf("git@github.com:acme/eks-gitops-fleet.git");
    const project = await projectCopy(at.project, undefined, runner(at.project, at.env));
    const steps = nextSteps(at.request, project);
    expect(steps).toContain(`commit ${commit.slice(0, 12)} of github.com/acme/eks-gitops-fleet, which must be pushed`);
    expect(steps).toContain(
      "gh api --method PUT repos/acme/eks-gitops-fleet/actions/permissions/access -f access_level=organization",
    );
    expect(steps).toContain("gh api repos/acme/eks-gitops-fleet/actions/oidc/customization/sub --jq .sub_claim_prefix");
    expect(nextSteps(at.request)).not.toContain("sub_claim_prefix");
    expect(nextSteps(at.request, { ...(project as ProjectCopy), host: "git.example.com" })).not.toContain(
      "sub_claim_prefix",
    );
  });

  test("writes who reviews what: teams of the organization, or those that it is told", async () => {
    await make({ sampleAppUrl, owners: ["gitops-system=@acme/fleet-admins"] });
    const owners = (name: string) => text(name, "CODEOWNERS").match(/^[*/].*/gm);
    expect(owners("gitops-system")).toEqual(["* @acme/fleet-admins"]);
    const ofChecks = ["/.github/", "/.gitlab-ci.yml", "/CODEOWNERS"].map((path) => `${path} @acme/fleet-admins`);
    expect(owners("gitops-workloads")).toEqual(["* @acme/governance", ...ofChecks]);
    expect(owners("payment-app-manifests")).toEqual(["* @acme/payments", ...ofChecks]);
  });

  test("calls repositories the same whose pins were raised since", async () => {
    cloneOf("git@github.com:acme/eks-gitops-fleet.git");
    await make();
    const file = inFolder("gitops-system", workflow);
    const raised = text("gitops-system", workflow).replaceAll(/[0-9a-f]{40} # .*/g, `${"0".repeat(40)} # v9.9.9`);
    writeFileSync(file, raised);
    expect(named(await make())["gitops-system"]).toEqual({ made: false, differences: [] });
    writeFileSync(file, raised.replace("timeout-minutes: 30", "timeout-minutes: 31"));
    expect(named(await make())["gitops-system"]?.differences).toEqual([`${workflow} differs`]);
  });

  test("refuses owners and a project that it can't write, all at once", async () => {
    const message = await refusal({
      owners: ["gitops-system=acme", "other=@acme/team", "gitops-workloads=@a/b", "gitops-workloads=@a/c"],
      projectUrl: "../eks-gitops-fleet",
    });
    expect(message.match(/^ +\d+\. --owner: /gm)).toHaveLength(3);
    expect(message).toContain("names a repository again");
    expect(message).toMatch(/^ +\d+\. --project-url: has another form/m);
  });

  test("refuses a project whose commit it can't know, and one from which GitHub takes no actions", async () => {
    const elsewhere = { projectUrl: "https://git.example.com/acme/fleet.git" };
    expect(await refusal(elsewhere)).toContain("this folder is no Git checkout");
    cloneOf("git@github.com:acme/eks-gitops-fleet.git");
    expect(await refusal(elsewhere)).toContain("GitHub takes actions from its own server only");
  });
});

describe("a Git URL", () => {
  test.for([
    ["git@github.com:acme/fleet.git", "github.com", "acme/fleet"],
    ["ssh://git@git.example.com:2222/acme/team/fleet.git", "git.example.com", "acme/team/fleet"],
    ["https://git.example.com:8443/acme/fleet", "git.example.com:8443", "acme/fleet"],
  ] as const)("%s is of a repository at a host", ([url, host, path]) => expect(placeOf(url)).toEqual({ host, path }));

  test.for(["../fleet", "/srv/fleet.git", "file:///srv/acme/fleet.git", "https://git.example.com/fleet.git", ""])(
    "%j is not",
    (url) => expect(placeOf(url)).toBeUndefined(),
  );

  test("at GitHub has no workflow of a project elsewhere", () => {
    const project = { host: "gitlab.com", path: "acme/fleet", commit: "0", version: "v1" };
    expect(hasPipeline("ssh://git@github.com/acme/gitops-system.git", project)).toBe(false);
    expect(hasPipeline("ssh://git@gitlab.com/acme/gitops-system.git", project)).toBe(true);
  });
});
