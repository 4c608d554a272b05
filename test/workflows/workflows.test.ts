import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { minimatch } from "minimatch";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { marker } from "../../cli/diff/markdown.ts";
import { functionPackage } from "../../functions/spoke/package/function.ts";
import { environmentOf, purposes, sharedEnvironments, stackEnvironments } from "../../lib/github-environments.ts";
import { compare } from "../../lib/version.ts";
import { variables } from "../aws/environment.ts";
import { areas } from "../mutation/areas.ts";
import { documents } from "../repos/support/kustomize.ts";
import { system } from "../repos/support/spoke.ts";
import { readBy } from "../support/imports.ts";
import { filledIn, workflowFile } from "./repositories.ts";
import { type CompositeAction, inlined, type Job, type Step, violations, type Workflow } from "./rules.ts";

const root = join(import.meta.dirname, "..", "..");
const folder = join(root, ".github", "workflows");
const actionText = (path: string) => readFileSync(join(root, path, "action.yml"), "utf8");
const actionsFolder = join(".github", "actions");
const actions = readdirSync(join(root, actionsFolder)).map((name) => join(actionsFolder, name));
const textOf = (name: string) => readFileSync(join(folder, `${name}.yml`), "utf8");
const workflow = (name: string) =>
  inlined(parse(textOf(name)) as Workflow, (path) => parse(actionText(path)) as CompositeAction);
const names = readdirSync(folder).map((file) => file.replace(/\.yml$/, ""));
const packageJson = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The stacks on AWS: every one but the embedded cloud's. */
const stacks = readdirSync(join(root, "stacks"))
  .flatMap((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1] ?? [])
  .filter((stack) => stack !== "local");

const scripts = (job: Job | undefined) => (job?.steps ?? []).flatMap(({ run }) => run ?? []).join("\n");
const steps = Object.fromEntries(
  names.map((name) => [name, Object.values(workflow(name).jobs).flatMap(({ steps = [] }) => steps)]),
) as Record<string, readonly Step[]>;
const allSteps = Object.values(steps).flat();

describe("the workflows", () => {
  test.for(names)("%s keeps to the rules: pinned actions, least rights, no keys, no injection", (name) => {
    expect(violations(workflow(name), [textOf(name), ...actions.map(actionText)].join("\n"))).toEqual([]);
  });

  test("and those of the fleet's repositories use every action of this one, each with a shell for its scripts", () => {
    const own = allSteps.flatMap(({ uses = "" }) => (uses.startsWith("./") ? [join(uses)] : []));
    const ofRepositories = filledIn("gitops-system", "github.com")[workflowFile]?.match(/\.github\/actions\/[\w-]+/g);
    const used = new Set([...own, ...(ofRepositories ?? [])]);
    for (const path of actions) {
      expect([...used]).toContain(path);
      const { runs } = parse(actionText(path)) as CompositeAction;
      expect(runs.using).toBe("composite");
      for (const { run, shell } of runs.steps) expect(shell).toBe(run === undefined ? undefined : "bash");
    }
  });

  test("use each action in one version", () => {
    const versions = new Map<string, Set<string>>();
    for (const { uses = "" } of allSteps) {
      const [action = "", version = ""] = uses.split("@");
      versions.set(action, (versions.get(action) ?? new Set()).add(version));
    }
    for (const [action, used] of versions) expect([...used], action).toHaveLength(1);
  });

  test("run scripts that package.json has, and the Pulumi CLI of the program's SDK", () => {
    const called = allSteps.flatMap(({ run = "" }) =>
      [...run.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script),
    );
    expect(called.length).toBeGreaterThan(0);
    for (const script of called) expect(Object.keys(packageJson.scripts)).toContain(script);
    const installed = allSteps.filter(({ uses }) => uses?.startsWith("pulumi/actions@"));
    expect(installed.map((step) => step.with)).toEqual(
      installed.map(() => ({ "pulumi-version": packageJson.dependencies["@pulumi/pulumi"] })),
    );
  });
});

describe("a pull request", () => {
  const { jobs } = workflow("pull-request");

  test("is tested, and its repositories are checked", () => {
    expect(scripts(jobs["tests"])).toContain("npm run check\nnpm run test:unit\nnpm run test:integration");
    expect(scripts(jobs["repositories"])).toContain(
      'npm run crds -- "$RUNNER_TEMP/crds"\nnpx fleet check --repos repos --crds "$RUNNER_TEMP/crds" --format github',
    );
  });

  test("is built in namespaces where fleet check and fleet diff read what it wrote", () => {
    for (const [name, command] of [
      ["repositories", "npx fleet check"],
      ["diff", "npx fleet diff"],
    ] as const)
      expect(scripts(jobs[name])).toMatch(
        new RegExp(`^sudo sysctl --write kernel\\.apparmor_restrict_unprivileged_userns=0$[^]*^ *${command} `, "m"),
      );
  });

  test("gets a preview of every stack with the policy pack, by a role of that stack's own", () => {
    const job = jobs["preview"];
    expect(job?.strategy?.matrix["stack"]).toEqual(stacks);
    expect(scripts(job)).toContain('pulumi preview --stack "$STACK" --diff --non-interactive --policy-pack policies');
    expect(job?.environment).toBe("$" + "{{ matrix.stack }}-preview");
    expect(job?.permissions).toEqual({ contents: "read", "id-token": "write" });
  });

  test("gets previews that can decrypt the state behind reviewers, or offline without any role, never both", () => {
    const { preview, reviewers, offline } = jobs;
    const own = "github.event.pull_request.head.repo.full_name == github.repository && vars.PREVIEW";
    expect(scripts(reviewers)).toBe(`node scripts/github-environments.ts preview ${stacks.join(" ")}`);
    expect(reviewers?.permissions).toEqual({ actions: "read", contents: "read" });
    // Not on the runner of updates.
    expect(preview?.["runs-on"]).toBe("$" + "{{ vars.PREVIEW_RUNNER || 'ubuntu-latest' }}");
    expect([preview?.needs, preview?.if, reviewers?.if]).toEqual([
      "reviewers",
      `${own} != 'offline'`,
      `${own} != 'offline'`,
    ]);
    expect(offline?.if).toBe(`${own} == 'offline'`);
    expect(offline?.strategy?.matrix["stack"]).toEqual(stacks);
    expect(offline?.["runs-on"]).toBe("$" + "{{ vars.PREVIEW_RUNNER || 'ubuntu-latest' }}");
    expect([offline?.permissions, offline?.environment]).toEqual([{ contents: "read" }, undefined]);
    expect(JSON.stringify(offline)).not.toMatch(/aws-actions|pulumi\/actions|PULUMI_BACKEND_URL|upload-artifact/);
    // The composition function's code of the pull request: no right but to read.
    expect(jobs["diff"]?.permissions).toEqual({ contents: "read" });
  });

  test("gets its blast radius as one comment, which is found again by its first line", () => {
    expect(jobs["diff"]?.needs).toBe("preview");
    const comment = jobs["comment"];
    expect(comment?.env?.["MARKER"]).toBe(marker);
    expect(scripts(comment)).toContain("startswith(env.MARKER)");
    expect(comment?.permissions).toEqual({ "pull-requests": "write" });
  });

  test("gets the comment also when the diff job fails at the end, because a change will be refused", () => {
    const all = jobs["diff"]?.steps ?? [];
    const upload = all.findIndex(({ with: inputs }) => inputs?.["name"] === "comment");
    expect(all[upload]).toMatchObject({ id: "comment", uses: expect.stringContaining("actions/upload-artifact@") });
    expect(all.slice(upload + 1)).toEqual([
      expect.objectContaining({ if: "steps.compare.outputs.code == '1'", run: expect.stringContaining("exit 1") }),
    ]);
    expect(jobs["diff"]?.outputs).toEqual({ comment: "$" + "{{ steps.comment.outputs.artifact-id }}" });
    expect(jobs["comment"]?.needs).toBe("diff");
    expect(jobs["comment"]?.if).toContain("!cancelled() && needs.diff.outputs.comment != ''");
    expect(jobs["comment"]?.if).not.toContain("result");
  });

  test("is compared with the facts that the preview of the hub's stack has read", () => {
    const [uploaded] = (jobs["preview"]?.steps ?? []).filter(({ uses }) =>
      uses?.startsWith("actions/upload-artifact@"),
    );
    const stack = "$" + "{{ matrix.stack }}";
    expect(uploaded?.with).toMatchObject({
      name: `preview-${stack}`,
      path: `preview-${stack}.json\nbridge-${stack}.json\n`,
    });
    const [, hub] = /^\$\{\{ vars\.HUB_STACK \|\| '(\w+)' \}\}$/.exec(jobs["diff"]?.env?.["HUB_STACK"] ?? "") ?? [];
    expect(stacks).toContain(hub);
  });
});

test.each([
  ["pull-request", "tests"],
  ["release", "build"],
  ["nightly", "tests"],
])("%s, %s: the tests have the tags of releases", (name, job) => {
  const checkout = workflow(name).jobs[job]?.steps?.find(({ uses = "" }) => uses.startsWith("actions/checkout@"));
  expect(checkout?.with).toMatchObject({ "fetch-depth": 0 });
});

describe("every night", () => {
  const { on, jobs } = workflow("nightly");

  test("all tests run, the long ones too, as root on Debian or not at all", () => {
    expect(on).toEqual({ schedule: [{ cron: expect.any(String) }], workflow_dispatch: null });
    const job = jobs["tests"];
    expect(job?.strategy?.matrix).toEqual({
      command: [
        ...["npm test", "npm run test:e2e", "npm test -- --project long"],
        ...["npm run drills", "npm run test:aws:local"],
      ],
    });
    expect(scripts(job)).toMatch(/^if \[ -z "\$TEST_RUNNER" ].*exit 1.*\n\$COMMAND$/s);
    expect(job?.["runs-on"]).toBe("$" + "{{ vars.TEST_RUNNER || 'ubuntu-latest' }}");
    expect(job?.permissions).toEqual({ contents: "read" });
  });

  test("every area has its mutation tests, each in a job of its own", () => {
    const job = jobs["mutation"];
    expect([...(job?.strategy?.matrix["area"] ?? [])].sort()).toEqual(Object.keys(areas).sort());
    expect(scripts(job)).toBe('npm run test:mutation -- "$AREA"');
  });

  test("what is taken from outside is looked up by a job without rights, and an issue says what is wrong", () => {
    const { upstream, "upstream-issue": issue } = jobs;
    expect(scripts(upstream)).toContain("npm run --silent check:upstream -- --report upstream.md || code=$?");
    expect(upstream?.permissions).toEqual({ contents: "read" });
    expect(upstream?.outputs).toEqual({ report: "$" + "{{ steps.report.outputs.artifact-id }}" });
    const upload = upstream?.steps?.find(({ id }) => id === "report");
    // 1 is the code for a wrong one (cli/upstream/report.ts); a server that is down is no reason for an issue.
    expect([upload?.if, upload?.with?.["path"]]).toEqual(["steps.check.outputs.code == '1'", "upstream.md"]);
    expect(upstream?.steps?.at(-1)).toMatchObject({ if: "steps.check.outputs.code != '0'" });
    expect([issue?.needs, issue?.if]).toEqual(["upstream", "!cancelled() && needs.upstream.outputs.report != ''"]);
    expect(issue?.permissions).toEqual({ issues: "write" });
    expect(JSON.stringify(issue)).not.toMatch(/actions\/checkout|npm /);
    expect(scripts(issue)).toMatch(/gh issue edit "\$number" .*\n.*else\n.*gh issue create --title "\$TITLE"/);
  });
});

describe("a machine of ours that runs as root", () => {
  const onMachine = names.flatMap((name) =>
    Object.entries(workflow(name).jobs).filter(
      ([, job]) => /vars\.(TEST|PREVIEW)_RUNNER/.test(job["runs-on"] ?? "") && job.environment === undefined,
    ),
  );

  test("is there for all tests and for previews offline", () => {
    expect(onMachine.map(([name]) => name).sort()).toEqual(["offline", "tests"]);
  });

  test.for(onMachine)("is asked by %s for git before the checkout, which makes no repository without it", ([, job]) => {
    const all = job.steps ?? [];
    const asked = all.findIndex(({ run }) => /for command in git python3; do\n +command -v .* exit 1/.test(run ?? ""));
    expect(asked).toBeGreaterThanOrEqual(0);
    expect(asked).toBeLessThan(all.findIndex(({ uses }) => uses?.startsWith("actions/checkout@")));
  });
});

describe("a merge", () => {
  const { on, jobs, concurrency } = workflow("deploy");

  test("updates every stack behind the environment of its name, one after the other", () => {
    expect(concurrency).toMatchObject({ "cancel-in-progress": false });
    expect(Object.values(jobs).map((job) => [job.uses, job.with?.["stack"], job.needs])).toEqual(
      stacks.map((stack, index) => ["./.github/workflows/up.yml", stack, stacks[index - 1]]),
    );
    const { up } = workflow("up").jobs;
    expect(up?.environment).toBe("$" + "{{ inputs.stack }}");
    expect(scripts(up)).toContain('pulumi up --stack "$STACK" --yes --non-interactive --policy-pack policies');
  });

  test("starts only while both environments of a stack have their rules", () => {
    const { environments, changes, up } = workflow("up").jobs;
    expect(scripts(environments)).toBe('node scripts/github-environments.ts update "$STACK"');
    expect([environments?.permissions, environments?.environment]).toEqual([
      { actions: "read", contents: "read" },
      undefined,
    ]);
    expect([changes?.needs, up?.needs]).toEqual(["environments", "changes"]);
    for (const job of Object.values(jobs))
      expect(job.permissions).toEqual({ actions: "read", contents: "read", "id-token": "write" });
  });

  test("shows the preview of a stack to whoever lets it through", () => {
    const { changes, up } = workflow("up").jobs;
    expect(changes?.environment).toBe("$" + "{{ inputs.stack }}-main");
    expect(changes?.steps?.some(({ uses }) => uses === "./.github/actions/preview-stack")).toBe(true);
    // Also where no resource changes: the outputs may.
    expect([up?.needs, up?.if]).toEqual(["changes", undefined]);
  });

  test("of files that neither the program nor its policies read deploys nothing", () => {
    const { push } = on as { push: { branches: string[]; "paths-ignore": string[] } };
    expect(push.branches).toEqual(["main"]);
    const ignored = push["paths-ignore"];
    const read = readBy("infra/index.ts", "policies/index.ts", "scripts/program-start.mjs");
    expect(read).toEqual(expect.arrayContaining(["components/versions.ts", "lib/bridge.ts", "infra/config.ts"]));
    expect(
      [...read, "infra/alert-rules.yaml", "Pulumi.yaml", "stacks/Pulumi.dev.yaml", "package-lock.json"].filter((file) =>
        ignored.some((glob) => minimatch(file, glob)),
      ),
    ).toEqual([]);
    for (const file of [
      "README.md",
      "docs/guides/deploy.md",
      "repos/gitops-system/spokes/README.md",
      "local/cli/start.ts",
    ])
      expect(
        ignored.some((glob) => minimatch(file, glob)),
        file,
      ).toBe(true);
  });
});

describe("drift", () => {
  const { on, jobs, concurrency } = workflow("drift");

  test("of every stack is looked for each night, out of the queue of updates, and only where it is switched on", () => {
    expect(on).toEqual({ schedule: [{ cron: expect.any(String) }], workflow_dispatch: null });
    expect(concurrency).toEqual({ group: "drift", "cancel-in-progress": false });
    const { compare } = jobs;
    expect([compare?.if, compare?.environment]).toEqual(["vars.DRIFT == 'true'", "$" + "{{ matrix.stack }}-main"]);
    expect(compare?.strategy?.matrix["stack"]).toEqual(stacks);
    const preview = compare?.steps?.find(({ uses }) => uses === "./.github/actions/preview-stack");
    expect(preview?.with?.["refresh"]).toBe("true");
  });

  test("is told by a job that runs none of the project's code", () => {
    expect(jobs["issues"]?.permissions).toEqual({ issues: "write" });
    expect(jobs["issues"]?.needs).toBe("compare");
    expect(JSON.stringify(jobs["issues"])).not.toMatch(/actions\/checkout|npm /);
  });
});

describe("a release", () => {
  test("publishes the function in the version that Git installs, and never a version twice", () => {
    const [installed] = documents(join(system, "platform", "crossplane", "packages", "function.yaml"));
    expect(installed?.spec.package).toBe(`$\{function_package}:${functionPackage.version}$\{function_digest:=}`);
    const job = workflow("release").jobs["function"];
    const script = scripts(job);
    expect(job?.permissions).toEqual({ contents: "read", packages: "write", "id-token": "write" });
    expect(script).toContain('if [ "$' + '{reference##*:}" != "$TAG" ]');
    expect(script.indexOf("is published already")).toBeLessThan(script.indexOf('CRANE" push'));
  });

  test("publishes what a job without rights has built, and only that", () => {
    const { build, function: functionJob, cli, image } = workflow("release").jobs;
    expect(build?.permissions).toEqual({ contents: "read" });
    const checksums = "$" + "{{ needs.build.outputs.checksums }}";
    for (const job of [functionJob, cli, image]) {
      const unpack = job?.steps?.find(({ name }) => name === "Compare the checksums, and unpack");
      expect([[job?.needs].flat()[0], unpack?.env]).toEqual(["build", { CHECKSUMS: checksums }]);
    }
    const proof = workflow("aws-proof").jobs;
    expect([proof["build"]?.permissions, proof["package"]?.needs]).toEqual([{ contents: "read" }, "build"]);
  });

  test("publishes the commands in the function's version, each with no right but those that it takes", () => {
    expect(`v${packageJson.version}`).toBe(functionPackage.version);
    const { cli, image } = workflow("release").jobs;
    for (const job of [cli, image]) expect([job?.needs, job?.environment]).toEqual([["build", "function"], "release"]);
    expect(cli?.permissions).toEqual({ contents: "read", "id-token": "write" });
    expect(image?.permissions).toEqual({ contents: "read", packages: "write", "id-token": "write" });
    // The versions of npm that take the workflow's own token: docs/decisions/0034-workflows-review-before-rights.md.
    expect(compare(cli?.env?.["NPM"] ?? "", "11.5.1")).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(cli)).not.toMatch(/_TOKEN|npmrc/);
  });

  test("publishes nothing before the unit and integration tests have passed", () => {
    const { jobs } = workflow("release");
    const text = scripts(jobs["build"]);
    for (const kind of ["unit", "integration"]) expect(text).toContain(`npm run test:${kind}\n`);
    expect(jobs["function"]?.needs).toBe("build");
    const publishing = Object.entries(jobs).filter(([, { environment }]) => environment === "release");
    const waiting = publishing.filter(([, { needs = [] }]) => [needs].flat().includes("function"));
    expect(publishing.map(([name]) => name)).toEqual(["function", ...waiting.map(([name]) => name)]);
  });

  test("builds the toolchain of each processor where the repository asks for it, with no right but to read", () => {
    const job = workflow("release").jobs["toolchain"];
    expect([job?.needs, job?.if]).toEqual(["proven", "vars.TOOLCHAIN_ARCHIVE == 'true'"]);
    expect(job?.strategy?.matrix).toEqual({ runner: ["ubuntu-latest", "ubuntu-24.04-arm"] });
    expect(scripts(job)).toContain("npx node local/toolchain/pack.ts toolchain");
    expect(job?.steps?.at(-1)?.with).toMatchObject({ path: "toolchain" });
    expect(job?.permissions).toEqual({ contents: "read" });
  });

  test("gets the archives, their checksums and the workflow's signature as a draft, from a job that runs none of the repository's code", () => {
    const { files } = workflow("release").jobs;
    expect(files?.needs).toEqual(["function", "toolchain"]);
    expect(files?.environment).toBe("release");
    expect(files?.permissions).toEqual({ contents: "write", "id-token": "write" });
    expect(files?.steps?.flatMap(({ uses }) => uses?.split("@")[0] ?? [])).toEqual([
      "actions/download-artifact",
      "sigstore/cosign-installer",
    ]);
  });
});

describe("the environments", () => {
  const environments = names.flatMap((name) =>
    Object.values(workflow(name).jobs).flatMap(({ environment, strategy }) => {
      const of = strategy?.matrix["stack"] ?? stacks;
      return environment === undefined ? [] : of.map((stack) => environment.replace(/\$\{\{ [\w.]+ \}\}/, stack));
    }),
  );

  test("of all jobs have a rule, which fleet doctor and infra/ci know", () => {
    const rules = Object.assign({}, sharedEnvironments, ...stacks.map(stackEnvironments));
    expect([...new Set(environments)].sort()).toEqual(Object.keys(rules).sort());
  });

  test("with a role have one of infra/ci", () => {
    const assuming = names.flatMap((name) =>
      Object.values(workflow(name).jobs).flatMap(({ environment = "", steps: all = [] }) =>
        all.some(({ uses = "" }) => uses.startsWith("aws-actions/configure-aws-credentials@"))
          ? [environment.replace(/\$\{\{ [\w.]+ \}\}/, "dev")]
          : [],
      ),
    );
    const roles = purposes
      .filter((purpose) => purpose !== "rollouts")
      .map((purpose) => environmentOf(purpose, "dev").environment);
    expect([...new Set(assuming)].sort()).toEqual([...roles].sort());
  });
});

describe("the proof on AWS", () => {
  const { on, concurrency, jobs } = workflow("aws-proof");
  const job = jobs["proof"];

  test("is started by hand only, one at a time, behind an environment, and is not cut off", () => {
    expect(Object.keys(on)).toEqual(["workflow_dispatch"]);
    expect(concurrency).toEqual({ group: "aws-proof", "cancel-in-progress": false });
    expect(job?.environment).toBe("aws-proof");
    expect(job?.permissions).toEqual({ contents: "read", "id-token": "write" });
  });

  test("sets every variable that must be set", () => {
    const needed = Object.entries(variables).flatMap(([name, { required }]) => (required ? [name] : []));
    // The action that takes the role sets the region.
    expect(Object.keys(job?.env ?? {})).toEqual(expect.arrayContaining(needed.filter((name) => name !== "AWS_REGION")));
    for (const name of Object.keys(job?.env ?? {}).filter((each) => each.startsWith("FLEET_AWS_")))
      expect(Object.keys(variables)).toContain(name);
  });

  test("keeps its role as long as the job may take", () => {
    const role = job?.steps?.find(({ uses }) => uses?.startsWith("aws-actions/"))?.with?.["role-duration-seconds"];
    expect(role).toBeGreaterThanOrEqual((job?.["timeout-minutes"] ?? Number.POSITIVE_INFINITY) * 60);
  });

  test("comes before a release, which nothing goes past", () => {
    const release = workflow("release").jobs;
    expect([release["build"]?.needs, release["function"]?.needs]).toEqual(["proven", "build"]);
    expect([release["build"]?.if, release["function"]?.if]).toEqual([undefined, undefined]);
    expect(scripts(release["proven"])).toContain("gh run list --workflow aws-proof.yml");
  });
});

describe("the rules find", () => {
  const good = `on:
  pull_request:
permissions: {}
concurrency: pull
jobs:
  a:
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - run: npm test
`;
  const found = (text: string) => violations(parse(text) as Workflow, text);
  const rights = (right: string, more = "") => good.replace("contents: read", right).replace("  a:\n", `  a:\n${more}`);

  test("nothing in a good one", () => expect(found(good)).toEqual([]));

  test("nothing in what is installed in a container, which goes with its job", () => {
    const text = good
      .replace("npm test", "apt-get install git")
      .replace("    timeout", `    container: debian@sha256:${"0".repeat(64)}\n    timeout`);
    expect(found(text)).toEqual([]);
  });

  test.for<[string, string, string]>([
    ["a tag in place of a SHA", good.replace(/@\w{40} # v7.0.1/, "@v7"), "is pinned by the full SHA"],
    [
      "a container by its tag alone",
      good.replace("    permissions", "    container: debian:bookworm-slim\n    permissions"),
      "a container is pinned by its digest",
    ],
    ["a short SHA", good.replace(/@\w{40}/, "@3d3c42e5"), "is pinned by the full SHA"],
    ["a SHA without its version", good.replace(" # v7.0.1", ""), "a comment says which version that is"],
    [
      "untrusted text in a script",
      good.replace("npm test", "echo $" + "{{ github.head_ref }}"),
      "a script takes values",
    ],
    ["a token that stays", good.replace("false", "true"), "persist-credentials: false"],
    [
      "a foreign event",
      good.replace("pull_request:", "pull_request_target:"),
      "pull_request_target runs with the rights",
    ],
    ["rights of the whole workflow", good.replace("permissions: {}", "permissions: write-all"), "permissions: {}"],
    [
      "no word about rights",
      good.replace("    permissions:\n      contents: read\n", ""),
      "a job names its permissions",
    ],
    ["no limit", good.replace("    timeout-minutes: 5\n", ""), "a job has a time limit"],
    ["no concurrency", good.replace("concurrency: pull\n", ""), "a workflow says what runs at once"],
    [
      "pulumi without the login of an earlier step",
      good.replace(
        "- run: npm test",
        "- uses: ./.github/actions/pulumi-login\n        id: pulumi\n      - run: pulumi up",
      ),
      "takes PULUMI_CREDENTIALS_PATH from ./.github/actions/pulumi-login",
    ],
    [
      "pulumi with the login of another step",
      good.replace(
        "- run: npm test",
        "- uses: ./.github/actions/ecr-login\n        id: ecr\n      - run: pulumi up\n        env:\n          PULUMI_K8S_HELM_REGISTRY_CONFIG_PATH: $" +
          "{{ steps.other.outputs.config }}",
      ),
      "takes PULUMI_K8S_HELM_REGISTRY_CONFIG_PATH from ./.github/actions/ecr-login",
    ],
    ["a right to push", rights("contents: write"), "no job writes to the repository"],
    [
      "a right to write releases beside code of the repository",
      rights("contents: write", "    environment: release\n"),
      "no job writes to the repository",
    ],
    ["a right to write for forks", rights("pull-requests: write"), "runs for branches of this repository only"],
    ["a right to write beside foreign code", rights("pull-requests: write"), "runs no code of the pull request"],
    [
      "a hub from a runner that it does not let in",
      good.replace("actions/checkout", "pulumi/actions"),
      "a job that talks to a hub runs on",
    ],
    [
      "a fork's code on a runner of our own",
      good.replace("    permissions", "    runs-on: $" + "{{ vars.RUNNER || 'ubuntu-latest' }}\n    permissions"),
      "a runner of our own runs no code of forks",
    ],
    [
      "code that nobody has looked at on a machine that stays",
      good.replace("    permissions", "    runs-on: $" + "{{ vars.TEST_RUNNER || 'ubuntu-latest' }}\n    permissions"),
      "code that no reviewer has let through runs on",
    ],
    [
      "a package that is installed",
      good.replace("npm test", "apt-get update && apt-get install --yes git"),
      "nothing is installed on a machine",
    ],
    [
      "a cache beside a right",
      rights("packages: write").replace("actions/checkout", "actions/setup-go"),
      "takes nothing from a cache",
    ],
    ["a role without an environment", rights("id-token: write"), "is behind an environment"],
    [
      "a stored secret",
      good.replace("npm test", "npm test\n        env:\n          T: $" + "{{ secrets.T }}"),
      "no secret is stored",
    ],
    [
      "packages of npm beside a right to publish",
      rights("packages: write").replace("npm test", "npm ci"),
      "a job that publishes installs no packages",
    ],
    [
      "keys of AWS",
      good.replace("npm test", "npm test\n        env:\n          AWS_ACCESS_KEY_ID: AKIA"),
      "not by keys",
    ],
  ])("%s", ([, text, message]) => expect(found(text).join("\n")).toContain(message));
});
