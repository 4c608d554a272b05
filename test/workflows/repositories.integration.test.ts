import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { marker } from "../../cli/diff/markdown.ts";
import { runner } from "../../cli/doctor/process.ts";
import { filledIn, pipelineFile } from "./repositories.ts";
import type { CompositeAction } from "./rules.ts";
import { scriptFolder } from "./support.ts";

/** The scripts behind the workflow and the pipeline of the repositories, with programs in place of node, npm, curl and the like. */

const root = join(import.meta.dirname, "..", "..");
const pipelines = join(root, "scripts", "pipelines");
const { at, program, read, bash } = scriptFolder();

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], { cwd, encoding: "utf8" });

/** A repository at the host, with one file. */
function hosted(name: string): string {
  const folder = join(at.dir, "host", "acme", `${name}.git`);
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(folder, `${name}.yaml`), "");
  git(folder, "add", ".");
  git(folder, "commit", "--quiet", "-m", name);
  return folder;
}

/** The folder of the pull request's checkout. */
const checkout = () => join(at.dir, "checkout");
const server = () => `file://${join(at.dir, "host")}`;
const all = "gitops-system=acme/gitops-system gitops-workloads=acme/workloads app=acme/app";

beforeEach(() => {
  // fleet, which notes what lies beside the repository in which it runs.
  program("node", 'ls .. > "$SEEN"; printf "%s" "$ANSWER"; exit "$CODE"');
  for (const name of ["gitops-system", "workloads"]) hosted(name);
  git(at.dir, "clone", "--quiet", join(at.dir, "host", "acme", "workloads.git"), "checkout");
});

const fleet = (command: string, env: Record<string, string> = {}) =>
  bash(
    `bash '${join(pipelines, "fleet.sh")}' ${command}`,
    {
      ...{
        REPOSITORIES: all,
        OWN: "acme/workloads",
        SERVER: server(),
        BASE: "HEAD^1",
        REPORT: join(at.dir, "comment.md"),
      },
      ...{ SEEN: join(at.dir, "seen"), CODE: "0", ANSWER: "", GITHUB_ACTIONS: "true", TMPDIR: at.dir, ...env },
    },
    checkout(),
  );

describe("a change of one repository", () => {
  test("is checked beside the others, under the names by which fleet knows them", () => {
    const { status, text } = fleet("check", { CRDS: "/crds" });
    expect(status).toBe(0);
    expect(read("called")).toBe(
      `${join(root, "scripts", "fleet.mjs")} check --repos .. --crds /crds --format github\n`,
    );
    expect(read("seen").trim().split("\n")).toEqual(["gitops-system", "gitops-workloads"]);
    expect(text).toContain(
      "::notice::acme/app can't be read without a credential, so what comes from it was not looked at",
    );
  });

  test("is not changed by that: the checkout has nothing new in it", () => {
    fleet("check");
    expect(readdirSync(checkout()).sort()).toEqual([".git", "workloads.yaml"]);
    expect(git(checkout(), "status", "--porcelain")).toBe("");
  });

  test("fails when a repository can't be read for which there is a credential, with git's reason", () => {
    const { status, text } = fleet("check", { CREDENTIAL: "true" });
    expect(status).toBe(2);
    expect(text).toMatch(
      /^::error::acme\/app can't be read: fatal: .*does not (exist|appear).*\. Give the job's credential access/m,
    );
    expect(existsSync(join(at.dir, "called"))).toBe(false);
  });

  test("of another repository than gitops-system is said not to be looked at, where gitops-system can't be read", () => {
    const { status, text } = fleet("diff", {
      REPOSITORIES: "gitops-system=acme/private gitops-workloads=acme/workloads",
    });
    expect(status).toBe(0);
    expect(text).toContain("::warning::Nothing was looked at: fleet diff needs gitops-system");
    expect(existsSync(join(at.dir, "called"))).toBe(false);
  });

  test("in a repository that the list does not have yet is looked at under the repository's own name", () => {
    fleet("check", { OWN: "acme/other-app" });
    expect(read("seen").trim().split("\n")).toEqual(["gitops-system", "gitops-workloads", "other-app"]);
  });

  test("that has findings fails", () => expect(fleet("check", { CODE: "1" }).status).toBe(1));

  test.for([0, 1])("is compared, and the comment kept with exit code %i", (code) => {
    expect(fleet("diff", { CODE: String(code), ANSWER: marker }).status).toBe(code);
    expect(read("comment.md")).toBe(marker);
    expect(read("called")).toContain("diff HEAD^1 HEAD --repos .. --fail-on-refused\n");
  });

  test.for<[number, string]>([
    [2, "half of it"],
    [1, ""],
  ])("that can't be compared leaves no comment: exit code %i with %j", ([code, answer]) => {
    const { status, text } = fleet("diff", { CODE: String(code), ANSWER: answer });
    expect(status).toBe(2);
    expect(text).toContain(`::error::fleet diff could not run (exit code ${code})`);
    expect(existsSync(join(at.dir, "comment.md"))).toBe(false);
  });
});

describe("the action of the workflow", () => {
  const action = parse(
    readFileSync(join(root, ".github", "actions", "fleet", "action.yml"), "utf8"),
  ) as CompositeAction;
  const step = (name: string) => action.runs.steps.find((each) => each.name === name)?.run ?? "";

  test("is in the project, whose versions of the tools it takes", () => {
    expect(
      bash(step("Find the project"), { GITHUB_ACTION_PATH: join(root, ".github", "actions", "fleet") }).status,
    ).toBe(0);
    const node = readFileSync(join(root, ".node-version"), "utf8").trim();
    expect(read("output")).toMatch(new RegExp(`^folder=${root}\nnode=${node}\ngo=1\\.\\d+(\\.\\d+)?\n$`));
  });

  const look = (token: string, script: string) => {
    mkdirSync(join(at.dir, "project", "scripts", "pipelines"), { recursive: true });
    writeFileSync(join(at.dir, "project", "scripts", "pipelines", "fleet.sh"), script);
    const env = {
      COMMAND: "diff",
      PROJECT: join(at.dir, "project"),
      RUNNER_TEMP: at.dir,
      SERVER: "https://github.com",
    };
    return bash(step("Look"), { ...env, TOKEN: token });
  };

  test.for([
    [0, "false"],
    [1, "true"],
  ] as const)(
    "shows the comment in the summary, and says by exit code %i whether something is refused: %s",
    ([code, refused]) => {
      expect(look("", `printf '%s' '${marker}' > "$REPORT"; exit ${code}`)).toEqual({ status: 0, text: "" });
      expect([read("summary"), read("output")]).toEqual([marker, `refused=${refused}\n`]);
    },
  );

  test("fails as fleet does when there is no comment", () => {
    expect(look("", "exit 2").status).toBe(2);
    expect(existsSync(join(at.dir, "output"))).toBe(false);
  });

  test("gives git the token for the host of the workflow only, and hides what git sends", () => {
    const { text } = look(
      "t0ken",
      "git config --get-urlmatch http.extraHeader https://github.com/acme/app.git; git config --get-urlmatch http.extraHeader https://elsewhere.example.com/app.git || echo none",
    );
    const sent = Buffer.from("x-access-token:t0ken").toString("base64");
    expect(text).toBe(`::add-mask::${sent}\nAuthorization: Basic ${sent}\nnone\n`);
    expect(text).not.toContain("t0ken");
  });
});

describe("the pipeline at GitLab", () => {
  const { default: shared, variables } = parse(filledIn("gitops-workloads", "gitlab.com")[pipelineFile] ?? "");

  test("takes the project at its commit, by the job's own token, which is in no file", () => {
    const project = hosted("eks-gitops-fleet");
    const commit = git(project, "rev-parse", "HEAD").trim();
    const env = { ...variables, PROJECT_URL: `file://${project}`, PROJECT_COMMIT: commit };
    const job = { CI_SERVER_URL: "https://gitlab.com", CI_JOB_TOKEN: "t0ken", TMPDIR: at.dir };
    const after =
      'ls "$project"; grep --recursive t0ken "$project" || git config --get-urlmatch http.extraHeader https://gitlab.com/acme/app.git';
    const sent = Buffer.from("gitlab-ci-token:t0ken").toString("base64");
    expect(bash(`${shared.before_script.join("\n")}\n${after}`, { ...env, ...job })).toEqual({
      status: 0,
      text: `eks-gitops-fleet.yaml\nAuthorization: Basic ${sent}\n`,
    });
  });

  const gitlab = (env: Record<string, string> = {}, sum = 0) => {
    program("curl", `while [ "$1" != --output ]; do shift; done; : > "$2"`);
    program("sha256sum", `cat > '${join(at.dir, "sums")}'; exit ${sum}`);
    program("tar", "");
    program("npm", "");
    const script = join(at.dir, "project", "scripts", "pipelines");
    mkdirSync(script, { recursive: true });
    writeFileSync(join(script, "gitlab.sh"), readFileSync(join(pipelines, "gitlab.sh")));
    writeFileSync(
      join(script, "fleet.sh"),
      'echo "$1 $OWN $SERVER $CREDENTIAL $BASE $REPORT $(basename "$FLEET_KUSTOMIZE")"',
    );
    const job = {
      CI_SERVER_URL: server(),
      CI_MERGE_REQUEST_PROJECT_PATH: "acme/workloads",
      CI_PROJECT_DIR: "/builds/x",
    };
    const request = { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main", CI_MERGE_REQUEST_PROJECT_ID: "7" };
    return bash(
      `bash '${join(script, "gitlab.sh")}' diff`,
      { ...job, ...request, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "7", TMPDIR: at.dir, ...env },
      checkout(),
    );
  };

  test("compares with where the branch left the target, whatever that has become", () => {
    const base = git(checkout(), "rev-parse", "HEAD").trim();
    git(checkout(), "commit", "--quiet", "--allow-empty", "-m", "change");
    git(join(at.dir, "host", "acme", "workloads.git"), "commit", "--quiet", "--allow-empty", "-m", "later");
    expect(gitlab()).toEqual({
      status: 0,
      text: `diff acme/workloads ${server()} true ${base} /builds/x/comment.md kustomize\n`,
    });
    expect(read("sums")).toMatch(/^[0-9a-f]{64} {2}.*kustomize\.tar\.gz\n$/);
  });

  test("has no credential for the others where the branch is a fork's", () => {
    expect(gitlab({ CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "8" }).text).toContain(`${server()} false `);
  });

  test("runs no kustomize with another checksum", () => {
    expect(gitlab({}, 1).status).toBe(1);
    expect(read("called")).not.toContain("--extract");
  });
});

describe("the note of a merge request", () => {
  interface Note {
    readonly id: number;
    readonly author: { readonly id: number };
    readonly body: string;
  }

  /** note.mjs against a GitLab with these pages of notes. @returns what it changed there */
  async function noted(pages: readonly (readonly Note[])[], { comment = `${marker}\nnew`, refuses = false } = {}) {
    const changes: string[] = [];
    const gitLab = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
      const page = Number(searchParams.get("page") ?? "1");
      if (refuses || request.headers["private-token"] !== "t0ken") response.statusCode = 403;
      if (page < pages.length) response.setHeader("x-next-page", String(page + 1));
      let text = "";
      request.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      request.on("end", () => {
        if (request.method !== "GET") changes.push(`${request.method} ${pathname} ${text}`);
        response.end(JSON.stringify(pathname.endsWith("/user") ? { id: 1 } : (pages[page - 1] ?? [])));
      });
    });
    await new Promise<void>((resolve) => gitLab.listen(0, "localhost", resolve));
    const url = `http://localhost:${(gitLab.address() as AddressInfo).port}/api/v4`;
    if (comment !== "") writeFileSync(join(at.dir, "comment.md"), comment);
    const env = { CI_API_V4_URL: url, CI_MERGE_REQUEST_PROJECT_ID: "7", CI_MERGE_REQUEST_IID: "3" };
    const script = join(pipelines, "note.mjs");
    const ended = await runner(at.dir, { ...env, FLEET_NOTE_TOKEN: "t0ken" })(process.execPath, [script, "comment.md"]);
    gitLab.close();
    return { changes, code: ended?.code, said: `${ended?.stdout}${ended?.stderr}` };
  }

  const notes = "/api/v4/projects/7/merge_requests/3/notes";
  const body = JSON.stringify({ body: `${marker}\nnew` });
  const others = { id: 4, author: { id: 2 }, body: `${marker}\nby somebody else` };

  test("is written once", async () => {
    expect(await noted([[others]])).toMatchObject({ code: 0, changes: [`POST ${notes} ${body}`] });
  });

  test("is updated from then on, wherever it stands among the others, and only where this token wrote it", async () => {
    const mine = { id: 9, author: { id: 1 }, body: `${marker}\nold` };
    expect(await noted([[others], [mine]])).toMatchObject({ code: 0, changes: [`PUT ${notes}/9 ${body}`] });
  });

  test("is not written where there is no comment, which is said", async () => {
    expect(await noted([[]], { comment: "" })).toMatchObject({
      code: 0,
      changes: [],
      said: expect.stringContaining("There is no comment"),
    });
  });

  test("fails with GitLab's answer, what the token must be, and without the token", async () => {
    const { code, said } = await noted([[]], { refuses: true });
    expect(code).toBe(1);
    expect(said).toContain("GitLab answers 403 to GET user");
    expect(said).toContain("the scope api and the role Reporter");
    expect(said).not.toContain("t0ken");
  });
});
