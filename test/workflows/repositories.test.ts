import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { marker } from "../../cli/diff/markdown.ts";
import { filledIn, pipelineFile, repositoryNames, workflowFile } from "./repositories.ts";
import { type CompositeAction, inlined, type Job, violations, type Workflow } from "./rules.ts";

/** What runs on changes of the fleet's own repositories. */

const root = join(import.meta.dirname, "..", "..");
const textOf = (...path: string[]) => readFileSync(join(root, ...path), "utf8");
const actionOf = (name: string) => textOf(".github", "actions", name, "action.yml");
const scripts = (job: Job | undefined) => (job?.steps ?? []).flatMap(({ run }) => run ?? []).join("\n");

const text = filledIn("gitops-system", "github.com")[workflowFile] ?? "";
const workflow = inlined(parse(text) as Workflow, (path) => parse(textOf(path, "action.yml")) as CompositeAction);
const { check, diff, comment } = workflow.jobs;

describe("the workflow of the repositories", () => {
  test("keeps to the rules of the project's own: pinned actions, least rights, no injection, one secret", () => {
    expect(violations(workflow, [text, actionOf("fleet"), actionOf("comment")].join("\n"))).toEqual([]);
  });

  test("uses actions in the versions that the project's own workflows use", () => {
    const own = textOf(".github", "workflows", "pull-request.yml");
    for (const [use] of [text, actionOf("fleet"), actionOf("comment")]
      .join("\n")
      .matchAll(/actions\/(checkout|setup-\w+|\w+-artifact)@.*/g))
      expect(own).toContain(use);
  });

  test("is the same in each, so that a change of one is not forgotten in another", () => {
    for (const name of repositoryNames)
      for (const file of [workflowFile, pipelineFile])
        expect(textOf("repos", name, file), `${name}/${file}`).toBe(textOf("repos", "gitops-system", file));
  });

  test("checks and compares with the project at the commit that it names", () => {
    const uses = Object.values(workflow.jobs).flatMap(({ steps = [] }) =>
      steps.filter((step) => step.uses?.startsWith("acme/")).map((step) => [step.uses, step.with?.["command"]]),
    );
    const commit = "3d3c42e5aac5ba805825da76410c181273ba90b1";
    expect(uses).toEqual([
      [`acme/eks-gitops-fleet/.github/actions/fleet@${commit}`, "check"],
      [`acme/eks-gitops-fleet/.github/actions/fleet@${commit}`, "diff"],
      [`acme/eks-gitops-fleet/.github/actions/comment@${commit}`, undefined],
    ]);
    expect((parse(text) as { env: unknown }).env).toEqual({
      REPOSITORIES:
        "gitops-system=acme/gitops-system gitops-workloads=acme/gitops-workloads payment-app-manifests=acme/payment-app-manifests",
    });
  });

  test("gets a token of the GitHub App for the fleet's repositories, and for no other of the organization", () => {
    const tokens = Object.values(workflow.jobs).flatMap(({ steps = [] }) =>
      steps.filter(({ uses = "" }) => uses.startsWith("actions/create-github-app-token@")),
    );
    expect(tokens.map((step) => step.with?.["repositories"])).toEqual(
      [check, diff].map(() => "gitops-system,gitops-workloads,payment-app-manifests"),
    );
  });

  test("gives jobs that look no right but to read, and the one that comments none of the pull request's files", () => {
    expect([check?.permissions, diff?.permissions]).toEqual([{ contents: "read" }, { contents: "read" }]);
    expect(comment?.permissions).toEqual({ "pull-requests": "write" });
    expect(JSON.stringify(comment)).not.toMatch(/actions\/checkout|npm |node /);
  });

  test("has the history in which a spoke's Composition may be", () => {
    const checkout = diff?.steps?.find(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkout?.with).toMatchObject({ "fetch-depth": 0 });
  });

  test("builds in namespaces, and checks fields against definitions", () => {
    for (const job of [check, diff])
      expect(scripts(job)).toContain("sudo sysctl --write kernel.apparmor_restrict_unprivileged_userns=0");
    expect(scripts(check)).toContain('crds -- "$RUNNER_TEMP/crds"');
  });

  test("has one comment, found again by its first line, also when the job fails by what will be refused", () => {
    const step = comment?.steps?.find(({ run }) => run !== undefined);
    expect(step?.env?.["MARKER"]).toBe(marker);
    expect(diff?.steps?.at(-1)).toMatchObject({ if: "steps.fleet.outputs.refused == 'true'" });
    expect(comment?.if).toContain("!cancelled() && needs.diff.outputs.comment != ''");
  });

  test("writes the comment as pull-request.yml does, which can't use an action of its own", () => {
    const own = (parse(textOf(".github", "workflows", "pull-request.yml")) as Workflow).jobs["comment"];
    const written = (job: Job | undefined) =>
      job?.steps?.find(({ name }) => name === "Write the comment, or update it")?.run;
    expect(scripts(comment)).toBe(written(own));
  });
});

describe("the rules find", () => {
  const found = (change: (text: string) => string) => violations(parse(change(text)) as Workflow, change(text));

  test.for<[string, (text: string) => string, string]>([
    ["another secret", (good) => good.replace("FLEET_APP_PRIVATE_KEY", "TOKEN"), "no secret is stored"],
    [
      "a token that may write",
      (good) => good.replace("permission-contents: read", "permission-contents: write"),
      "reads contents of named repositories only",
    ],
    [
      "a token with every right of the App",
      (good) => good.replace(/ *permission-contents: read\n/, ""),
      "reads contents of named repositories only",
    ],
    [
      "a token for every repository of the App",
      (good) => good.replace(/ *repositories: gitops-system,.*\n/, ""),
      "reads contents of named repositories only",
    ],
    [
      "a token for forks",
      (good) => good.replace(/ && github.event.pull_request.head.repo.full_name == github.repository$/m, ""),
      "not made for forks",
    ],
  ])("%s", ([, change, message]) => {
    expect(found((good) => good)).toEqual([]);
    expect(found(change).join("\n")).toContain(message);
  });
});

interface GitLabJob {
  readonly needs?: readonly string[];
  readonly rules?: readonly { readonly if: string; readonly when?: string }[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly script: readonly string[];
  readonly artifacts?: Readonly<Record<string, unknown>>;
}

describe("the pipeline of the repositories at GitLab", () => {
  const pipeline = parse(filledIn("gitops-workloads", "gitlab.com")[pipelineFile] ?? "");
  const jobs = pipeline as Readonly<Record<string, GitLabJob>>;

  test("runs for merge requests only, in an image that is pinned by its digest", () => {
    expect(pipeline.workflow.rules).toEqual([{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }]);
    expect(pipeline.default.image).toMatch(/^node:[\d.]+-bookworm@sha256:[0-9a-f]{64}$/);
    expect(pipeline.default.timeout).toBeDefined();
  });

  test("names the project's copy, its commit, and the fleet's repositories", () => {
    expect(pipeline.variables).toEqual({
      GIT_DEPTH: "0",
      PROJECT_URL: "https://gitlab.com/acme/eks-gitops-fleet.git",
      PROJECT_COMMIT: "3d3c42e5aac5ba805825da76410c181273ba90b1",
      REPOSITORIES:
        "gitops-system=acme/gitops-system gitops-workloads=acme/gitops-workloads payment-app-manifests=acme/payment-app-manifests",
    });
  });

  test("keeps the comment of a change that will be refused", () => {
    expect(jobs["diff"]?.artifacts).toMatchObject({ when: "always", paths: ["comment.md"] });
  });

  test("writes the note in a job without the merge request's files, for branches of the project only", () => {
    const { comment } = jobs;
    expect([comment?.needs, comment?.variables]).toEqual([["diff"], { GIT_STRATEGY: "empty" }]);
    expect(comment?.rules).toEqual([
      {
        if: "$FLEET_NOTE_TOKEN && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID",
        when: "always",
      },
    ]);
    const others = JSON.stringify([jobs["check"], jobs["diff"], pipeline.default, pipeline.variables]);
    expect(others).not.toContain("FLEET_NOTE_TOKEN");
  });
});
