import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { commentLimit } from "../../cli/diff/fit.ts";
import { marker } from "../../cli/diff/markdown.ts";
import { type CompositeAction, inlined, type Workflow } from "./rules.ts";
import { scriptFolder } from "./support.ts";

/** The scripts of the workflows as GitHub runs them, by bash, with a program in place of what they call. */

const root = join(import.meta.dirname, "..", "..");
const yaml = (...path: string[]): unknown => parse(readFileSync(join(root, ...path), "utf8"));
const jobsOf = (name: string) =>
  inlined(
    yaml(".github", "workflows", `${name}.yml`) as Workflow,
    (path) => yaml(path, "action.yml") as CompositeAction,
  ).jobs;
const jobs: Workflow["jobs"] = Object.assign(
  {},
  ...["pull-request", "aws-proof", "release", "node-releases", "up", "drift"].map(jobsOf),
);

const { at, program, read, bash } = scriptFolder();
let dir = "";
beforeEach(() => {
  dir = at.dir;
  mkdirSync(join(dir, "previews"));
});

function runs(job: string, step: string, env: Record<string, string>) {
  const script = jobs[job]?.steps?.find(({ name, run }) => name === step && run !== undefined)?.run;
  if (script === undefined) throw new Error(`the job ${job} has no step "${step}"`);
  return bash(script, env);
}

describe("the comparison of a pull request", () => {
  const compare = () => runs("diff", "Compare", { HUB_STACK: "prod" });
  const answers = (code: number, comment: string) => program("npx", `printf '%s' '${comment}'\nexit ${code}`);

  test("is with main as it is now, the first parent of the merge commit, whatever main was when the request was opened", () => {
    answers(0, marker);
    expect(compare()).toEqual({
      status: 0,
      text: expect.stringContaining("::notice::The stack prod has no outputs about its hub"),
    });
    expect(read("called")).toBe("fleet diff HEAD^1 HEAD --fail-on-refused\n");
    expect(jobs["diff"]?.steps?.find(({ uses }) => uses?.startsWith("actions/checkout@"))?.with).toMatchObject({
      "fetch-depth": 0,
    });
  });

  test("takes every preview, the facts of the hub's stack, and the recorded state if the repository has one", () => {
    answers(0, marker);
    for (const name of ["preview-dev", "preview-prod", "bridge-dev", "bridge-prod"])
      writeFileSync(join(dir, "previews", `${name}.json`), "{}");
    mkdirSync(join(dir, "observed"));
    expect(compare()).toEqual({ status: 0, text: "" });
    expect(read("called")).toBe(
      "fleet diff HEAD^1 HEAD --fail-on-refused --preview dev=previews/preview-dev.json " +
        "--preview prod=previews/preview-prod.json --bridge previews/bridge-prod.json --observed observed\n",
    );
    const command = readFileSync(join(root, "cli", "diff", "command.ts"), "utf8");
    for (const [option] of read("called").matchAll(/--\S+/g)) expect(command).toContain(`\n  ${option} `);
  });

  test.for([0, 1])("keeps the comment and the exit code %i for the steps behind it", (code) => {
    answers(code, marker);
    expect(compare().status).toBe(0);
    expect([read("comment.md"), read("summary"), read("output")]).toEqual([marker, marker, `code=${code}\n`]);
  });

  test.for<[number, string]>([
    [2, "half of it"],
    [1, ""],
  ])("fails when fleet diff could not run: exit code %i with %j", ([code, comment]) => {
    answers(code, comment);
    expect(compare()).toEqual({
      status: 1,
      text: expect.stringContaining(`::error::fleet diff could not run (exit code ${code})`),
    });
    expect(existsSync(join(dir, "output"))).toBe(false);
  });
});

describe("the login to Amazon ECR", () => {
  const [step] = (yaml(".github", "actions", "ecr-login", "action.yml") as CompositeAction).runs.steps;
  const host = "111111111111.dkr.ecr.eu-west-1.amazonaws.com";
  const login = (registry: string) => {
    const env = { REGISTRY: registry, RUNNER_TEMP: dir };
    return bash(step?.run ?? "", env);
  };

  test("is kept in a file for the job, which the Kubernetes provider reads, and masked in its log", () => {
    program("aws", "echo p4ssw0rd");
    const auth = Buffer.from("AWS:p4ssw0rd").toString("base64");
    expect(login(host)).toEqual({ status: 0, text: `::add-mask::p4ssw0rd\n::add-mask::${auth}\n` });
    expect(read("called")).toBe("ecr get-login-password --region eu-west-1\n");
    const file = join(dir, "ecr-login.json");
    expect(read("output")).toBe(`config=${file}\n`);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ auths: { [host]: { auth } } });
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test("fails when AWS refuses it, and for a host that is not in ECR", () => {
    program("aws", "echo AccessDenied >&2; exit 254");
    expect(login(host)).toEqual({ status: 254, text: "AccessDenied\n" });
    expect(login("ghcr.io").text).toContain("::error::the variable ECR_REGISTRY is ghcr.io");
    expect(existsSync(join(dir, "output"))).toBe(false);
  });

  test("comes before every preview and update of a stack, where a variable names the registry", () => {
    const runners = Object.values(jobs).filter(({ steps = [] }) =>
      steps.some(({ run = "" }) => /pulumi (up|preview) --stack|pulumi preview "\$\{flags/.test(run)),
    );
    expect(runners.length).toBeGreaterThan(2);
    for (const { steps = [] } of runners) {
      const named = steps.findIndex(({ name }) => name === "Log in to Amazon ECR");
      const first = steps.findIndex(({ run = "" }) => /pulumi (up|preview) /.test(run));
      expect(named).toBeGreaterThan(0);
      expect(named).toBeLessThan(first);
    }
  });
});

describe("the look for newer AMI releases", () => {
  const look = () => runs("look", "Ask AWS", {});
  beforeEach(() => {
    mkdirSync(join(dir, "stacks"));
    for (const stack of ["dev", "local", "prod"]) writeFileSync(join(dir, "stacks", `Pulumi.${stack}.yaml`), "");
  });

  test("asks for spokes and for every stack on AWS, and reports what is to be raised by which command", () => {
    program("npx", 'case "$*" in *dev) echo "hub of stack dev: none -> 1"; exit 1;; esac; echo "nothing to do"');
    expect(look().status).toBe(0);
    expect(read("called").trim().split("\n")).toEqual([
      "fleet node-releases --check --repository repos/gitops-system",
      "fleet node-releases --check --stack dev",
      "fleet node-releases --check --stack prod",
    ]);
    expect(read("output")).toBe("found=1\n");
    expect(read("releases.md")).toBe("```\nnpx fleet node-releases --stack dev\nhub of stack dev: none -> 1\n```\n");
  });

  test("reports nothing when every release is the newest", () => {
    program("npx", "echo nothing to do");
    expect(look().status).toBe(0);
    expect(read("output")).toBe("found=0\n");
    expect(existsSync(join(dir, "releases.md"))).toBe(false);
  });

  test.for([1, 2])("fails with the exit code %i of a command that could not look", (code) => {
    program("npx", `echo "AWS refuses" >&2; exit ${code}`);
    expect(look()).toEqual({ status: code, text: "AWS refuses\n" });
    expect(existsSync(join(dir, "output"))).toBe(false);
  });
});

test("the comment on a pull request ends with a note that the pull request's own code wrote it", () => {
  writeFileSync(join(dir, "comment.md"), marker);
  expect(runs("comment", "Add who wrote it", {})).toMatchObject({ status: 0 });
  const comment = read("comment.md");
  expect(comment.startsWith(marker)).toBe(true);
  expect(comment).toMatch(/Written by the code of this pull request: .* can change what this comment says\.<\/sub>\n$/);
  // GitHub rejects a comment of more than 65,536 characters.
  expect(commentLimit + comment.length - marker.length).toBeLessThanOrEqual(65_536);
});

describe("a preview offline", () => {
  const preview = () => runs("offline", "Preview with the policy pack", { STACK: "dev" });

  test("is the project's own, without AWS, with the policy pack and the stack's parameters of it", () => {
    program("npm", "");
    expect(preview().status).toBe(0);
    mkdirSync(join(dir, "stacks"));
    writeFileSync(join(dir, "stacks", "policies.dev.json"), "{}");
    expect(preview().status).toBe(0);
    const command = "run preview -- dev --diff --policy-pack policies";
    expect(read("called")).toBe(`${command}\n${command} --policy-pack-config stacks/policies.dev.json\n`);
  });

  const looked = (labels: Record<string, string>) => {
    for (const name of ["apt-get", "git", "python3"]) program(name, "");
    return runs("offline", "Look at the runner", { OTHER_RUNNERS: "test inside", ...labels });
  };

  test("runs as root on a runner that nothing else uses", () => {
    program("id", "echo 0");
    expect(looked({ PREVIEW_RUNNER: "preview" })).toEqual({ status: 0, text: "" });
  });

  test.for([
    ["of no label", { PREVIEW_RUNNER: "" }, 0, "needs an ephemeral self-hosted runner"],
    ["without root", { PREVIEW_RUNNER: "preview" }, 1001, "needs an ephemeral self-hosted runner"],
    ["of the tests", { PREVIEW_RUNNER: "test" }, 0, "has the label of RUNNER or TEST_RUNNER"],
    ["that reaches the hubs", { PREVIEW_RUNNER: "inside" }, 0, "has the label of RUNNER or TEST_RUNNER"],
  ] as const)("does not run on a runner %s", ([, labels, user, message]) => {
    program("id", `echo ${user}`);
    expect(looked(labels)).toEqual({ status: 1, text: expect.stringContaining(message) });
  });

  test("fails with what it finds", () => {
    program("npm", "exit 255");
    expect(preview().status).toBe(255);
  });
});

describe("a release", () => {
  const reference = "ghcr.io/org/function:v1.2.3";
  const digest = "ghcr.io/org/function@sha256:2";
  const release = (tag = "v1.2.3", first = "") =>
    runs("function", "Push and sign", {
      FIRST: first,
      TAG: tag,
      OWNER: "Org",
      ACTOR: "me",
      TOKEN: "t",
      LOCAL: "host/project/function:v1.2.3",
      LAYOUT: "layout",
      CRANE: join(dir, "bin", "crane"),
    });
  /** crane, of which `digest` behaves so before something is pushed. */
  const registry = (lookup: string) => {
    program("crane", `if [ "$1" = digest ]; then ${lookup}; fi\nif [ "$1" = push ]; then echo ${digest}; fi`);
    program("cosign", "");
  };
  const answers = (text: string) =>
    `echo 'HEAD request failed, falling back on GET: 404' >&2; echo '${text}' >&2; exit 1`;
  const url = "https://ghcr.io/v2/org/function/manifests/v1.2.3";

  // What crane 0.21.9 says of `crane registry serve`, of a registry that gives no reason, and of ghcr.io.
  test.for([
    `Error: GET ${url}: NAME_UNKNOWN: Unknown name`,
    `Error: GET ${url}: MANIFEST_UNKNOWN: manifest unknown`,
    `Error: GET ${url}: unexpected status code 404 Not Found`,
  ])("goes on when the registry does not have the version: %s", (text) => {
    registry(answers(text));
    expect(release()).toMatchObject({ status: 0 });
    expect(read("called")).toContain(`push --index layout ${reference}\n`);
  });

  test("is under the repository's owner, and signed by its digest with what is in it", () => {
    registry(answers(`Error: GET ${url}: NAME_UNKNOWN: Unknown name`));
    expect(release()).toMatchObject({ status: 0 });
    const called = read("called").trim().split("\n");
    expect(called.slice(-3)).toEqual([
      `push --index layout ${reference}`,
      `sign --yes --recursive ${digest}`,
      // What Crossplane looks for (crossplane-runtime v2.3.3, pkg/xpkg/signature/validate.go).
      `sign --yes --recursive --new-bundle-format=false --use-signing-config=false ${digest}`,
    ]);
    expect(read("summary")).toContain(`Published and signed \`${reference}\` as \`${digest}\``);
    expect(read("output")).toBe(`published=${digest}\n`);
    expect(runs("function", "Say how hubs take it", { PUBLISHED: digest })).toMatchObject({ status: 0 });
    expect(read("summary")).toContain(`\`pulumi config set functionPackage ${digest}\``);
  });

  test("is built for both processors", () => {
    program("npx", 'echo "host/project/function:v1.2.3 layout"');
    expect(runs("build", "Build the package", {})).toMatchObject({ status: 0 });
    expect(read("called")).toBe("node functions/spoke/package/main.ts\n");
    expect(read("output")).toBe("reference=host/project/function:v1.2.3\nlayout=layout\n");
  });

  test("is handed over by its checksum, from the job that built it to the one that publishes it", () => {
    for (const name of ["layout", "commands", "image"]) {
      mkdirSync(join(dir, name, "blobs"), { recursive: true });
      writeFileSync(join(dir, name, "blobs", "x"), name);
    }
    expect(runs("build", "Pack the files", { FUNCTION: "layout", COMMANDS: "commands", IMAGE: "image" })).toEqual({
      status: 0,
      text: "",
    });
    const [, CHECKSUMS = ""] = /^checksums<<END\n(.*)\nEND\n$/s.exec(read("output")) ?? [];
    expect(CHECKSUMS.split("\n")).toHaveLength(3);
    const unpack = (job: string, checksums = CHECKSUMS) => {
      rmSync(join(dir, "unpacked"), { recursive: true, force: true });
      return runs(job, "Compare the checksums, and unpack", { CHECKSUMS: checksums }).status;
    };
    for (const [job, name] of [
      ["function", "layout"],
      ["cli", "commands"],
      ["image", "image"],
    ] as const) {
      expect(unpack(job)).toBe(0);
      expect(read("unpacked/blobs/x")).toBe(name);
    }
    expect(unpack("function", "")).not.toBe(0);
    writeFileSync(join(dir, "release", "function.tar"), "other");
    expect(unpack("function")).not.toBe(0);
    expect(existsSync(join(dir, "unpacked"))).toBe(false);
  });

  test("fails when it can't be signed", () => {
    registry(answers(`Error: GET ${url}: NAME_UNKNOWN: Unknown name`));
    program("cosign", "exit 1");
    expect(release().status).toBe(1);
    expect(existsSync(join(dir, "summary"))).toBe(false);
  });

  test.for([
    `Error: GET ${url}: DENIED: requested access to the resource is denied`,
    `Error: GET ${url}: UNAUTHORIZED: authentication required`,
    `Error: GET ${url}: unexpected status code 503 Service Unavailable`,
    `Error: GET https://ghcr.io/token?service=404: unexpected status code 500 Internal Server Error`,
    'Error: Get "https://ghcr.io/v2/": dial tcp: lookup ghcr.io: no such host',
    "",
  ])("pushes nothing, and says why, when the registry does not say that: %s", (text) => {
    registry(answers(text));
    const { status, text: said } = release();
    expect(status).toBe(1);
    expect(said).toContain(`::error::it is not known whether ${reference} is published, so nothing was: ${text}`);
    expect(read("called")).not.toContain("push");
  });

  // What crane says of ghcr.io: where the token is refused, and where the manifest is.
  const denials = [
    "Error: GET https://ghcr.io/token?scope=repository%3Aorg%2Ffunction%3Apull&service=ghcr.io: DENIED: requested access to the resource is denied",
    `Error: GET ${url}: DENIED: requested access to the resource is denied`,
  ];

  test.for(denials)("of the version that FIRST_RELEASE names takes this for a package never published: %s", (text) => {
    registry(answers(text));
    expect(release("v1.2.3", "v1.2.3")).toMatchObject({ status: 0 });
    expect(read("called")).toContain(`push --index layout ${reference}\n`);
  });

  test.for(denials)("of another version pushes nothing, and names the variable: %s", (text) => {
    registry(answers(text));
    const { status, text: said } = release("v1.2.3", "v1.2.2");
    expect(status).toBe(1);
    expect(said).toContain("set the repository's variable FIRST_RELEASE to v1.2.3");
    expect(read("called")).not.toContain("push");
  });

  test.for([
    `Error: GET ${url}: UNAUTHORIZED: authentication required`,
    `Error: GET ${url}: unexpected status code 503 Service Unavailable`,
    "",
  ])("of the first version pushes nothing when the registry says something else: %s", (text) => {
    registry(answers(text));
    expect(release("v1.2.3", "v1.2.3").status).toBe(1);
    expect(read("called")).not.toContain("push");
  });

  test("pushes no version twice", () => {
    registry("echo sha256:1; exit 0");
    expect(release()).toEqual({
      status: 1,
      text: expect.stringContaining(`${reference} is published already (sha256:1)`),
    });
    expect(read("called")).not.toContain("push");
  });

  test("is of the version that the tag names", () => {
    registry(answers(`Error: GET ${url}: NAME_UNKNOWN: Unknown name`));
    expect(release("v1.2.4").text).toContain(`the tag is v1.2.4, but Git and the package say ${reference}`);
    expect(existsSync(join(dir, "called"))).toBe(false);
  });
});

describe("the commands of a release", () => {
  const publish = (made: string, tag = "v1.2.3") => runs("cli", "Publish", { TAG: tag, NPM: "11.19.1", PACKAGE: made });

  test("are built under the repository's owner, as an npm package and as an image with kubectl", () => {
    const env = { RUNNER_TEMP: "/temp", GITHUB_REPOSITORY: "Org/fleets" };
    program("npx", 'echo "@org/fleet@1.2.3 /temp/cli/package"');
    expect(runs("build", "Build the commands", env)).toMatchObject({ status: 0 });
    expect(read("output")).toBe("package=@org/fleet@1.2.3\nfolder=/temp/cli/package\n");
    program("npx", 'echo "fleet:v1.2.3 /temp/cli/layout"');
    expect(runs("build", "Build the image", env)).toMatchObject({ status: 0 });
    expect(read("output")).toContain("name=fleet:v1.2.3\nlayout=/temp/cli/layout\n");
    expect(read("called")).toBe(
      "node scripts/cli-package/main.ts /temp/cli --repository Org/fleets\n" +
        "node scripts/cli-package/main.ts /temp/cli --repository Org/fleets --image --kubectl /temp/kubectl\n",
    );
  });

  test("are published to npm with their provenance, in the version that the tag names", () => {
    program("npx", "");
    expect(publish("@org/fleet@1.2.3")).toMatchObject({ status: 0 });
    expect(read("called")).toBe(
      "--yes --ignore-scripts npm@11.19.1 publish ./unpacked --provenance --access public --ignore-scripts\n",
    );
    expect(read("summary")).toBe("Published `@org/fleet@1.2.3` to npm.\n");
  });

  test("are not published in another version, and a failure of npm fails the release", () => {
    program("npx", "exit 1");
    expect(publish("@org/fleet@1.2.4")).toEqual({
      status: 1,
      text: expect.stringContaining("the tag is v1.2.3, but package.json makes @org/fleet@1.2.4"),
    });
    expect(existsSync(join(dir, "called"))).toBe(false);
    expect(publish("@org/fleet@1.2.3").status).toBe(1);
    expect(existsSync(join(dir, "summary"))).toBe(false);
  });
});

describe("the files of a release", () => {
  const archive = (processor: string, text: string, sum = text) => {
    const folder = join(dir, "release", `toolchain-${processor}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${processor}.tar.gz`), text);
    const digest = createHash("sha256").update(sum).digest("hex");
    writeFileSync(join(folder, "SHA256SUMS"), `${digest}  ${processor}.tar.gz\n`);
  };
  const sign = () => runs("files", "Sign the checksums", {});
  const attach = () => runs("files", "Attach the files to a draft of the release", { TAG: "v1.2.3" });
  beforeEach(() => program("cosign", "touch SHA256SUMS.sigstore.json"));

  test("have one list of checksums, which the workflow signs", () => {
    archive("x64", "one");
    archive("arm64", "two");
    expect(sign()).toMatchObject({ status: 0 });
    expect(read("SHA256SUMS").match(/\S+\.tar\.gz/g)).toEqual(["arm64.tar.gz", "x64.tar.gz"]);
    expect(read("called")).toBe("sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS\n");
  });

  test("are not signed when an archive is not the one that was built", () => {
    archive("arm64", "changed", "built");
    archive("x64", "one");
    expect(sign().status).toBe(1);
    expect(existsSync(join(dir, "called"))).toBe(false);
  });

  test.for([
    ["is made as a draft where there is none", "exit 1", ["release create v1.2.3 --draft --verify-tag"]],
    ["is kept where there is a draft, also from a run that broke off", "echo true", []],
  ] as const)("are attached to the tag's release, which %s", ([, view, made]) => {
    archive("x64", "one");
    sign();
    rmSync(join(dir, "called"));
    program("gh", `if [ "$2" = view ]; then ${view}; fi`);
    expect(attach()).toMatchObject({ status: 0 });
    const files = "SHA256SUMS SHA256SUMS.sigstore.json release/toolchain-x64/x64.tar.gz";
    const called = read("called").trim().split("\n");
    expect(called).toEqual([
      "release view v1.2.3 --json isDraft --jq .isDraft",
      ...made.map((start) => expect.stringContaining(start)),
      `release upload v1.2.3 --clobber ${files}`,
    ]);
  });

  test("are not attached to a release that is published: whoever took its files checks their signature", () => {
    archive("x64", "one");
    sign();
    rmSync(join(dir, "called"));
    program("gh", 'if [ "$2" = view ]; then echo false; fi');
    expect(attach().status).toBe(1);
    expect(read("called")).not.toContain("upload");
  });
});

describe("the proof that a release asks for", () => {
  const ask = (url: string) => {
    program("gh", `echo '${url}'`);
    return runs("proven", "Ask for a proof of this commit", { GITHUB_SHA: "c0ffee" });
  };

  test("is a run of this very commit that passed, and not one that only removed", () => {
    expect(ask("https://github.com/example/fleet/actions/runs/7").status).toBe(0);
    expect(read("summary")).toContain("Proof on AWS: https://github.com/example/fleet/actions/runs/7");
    const called = read("called");
    expect(called).toContain("run list --workflow aws-proof.yml --commit c0ffee --status success");
    const [, title] = /displayTitle == "([^"]+)"/.exec(called) ?? [];
    const names = /^run-name: .*\$\{\{ inputs\.removal && '([^']+)' \|\| '([^']+)' \}\}$/m.exec(
      readFileSync(join(root, ".github", "workflows", "aws-proof.yml"), "utf8"),
    );
    expect(title).toBe(names?.[2]);
    expect(title).not.toBe(names?.[1]);
  });

  test("is said to be missing, with what to do", () => {
    const { status, text } = ask("");
    expect(status).toBe(1);
    expect(text).toContain("::error::No run of the workflow Proof on AWS has passed for c0ffee");
  });
});

describe("the proof on AWS", () => {
  const prove = (removal: boolean, given: Record<string, string> = {}) => {
    mkdirSync(join(dir, "stacks"));
    program("aws", "echo token-of-the-git-host");
    program("npm", 'echo "$FLEET_AWS_REPORT $GIT_CONFIG_VALUE_0 $GH_TOKEN" > seen');
    const env = { FLEET_AWS_STACK: "proof", STACK_FILE: "config:\n  a: b", GIT_TOKEN: "git-token", PUBLISHED: "" };
    return runs("proof", "Prove, and remove", { ...env, ...given, ONLY_REMOVAL: String(removal) });
  };

  test("takes the stack from the environment and the token from Secrets Manager, and masks the token", () => {
    const { status, text } = prove(false);
    expect(status).toBe(0);
    expect(read("stacks/Pulumi.proof.yaml")).toBe("config:\n  a: b\n");
    expect(read("called")).toContain("secretsmanager get-secret-value --secret-id git-token");
    expect(read("called")).toMatch(/^run test:aws --$/m);
    expect(text.split("\n").filter((line) => line.includes("token-of-the-git-host"))).toEqual([
      "::add-mask::token-of-the-git-host",
    ]);
    expect(read("seen")).toBe(`${join(dir, "summary")} !gh auth git-credential token-of-the-git-host\n`);
  });

  test("has the hub pull the package of this run by its digest", () => {
    program("crane", 'if [ "$1" = push ]; then echo ghcr.io/org/function-spoke-proof@sha256:2; fi');
    const pushed = runs("package", "Push it", {
      ...{
        OWNER: "Org",
        ACTOR: "me",
        TOKEN: "t",
        LOCAL: "host/function-spoke:v1.2.3",
        CRANE: join(dir, "bin", "crane"),
      },
    });
    expect(pushed.status).toBe(0);
    expect(read("output")).toBe("published=ghcr.io/org/function-spoke-proof@sha256:2\n");
    const STACK_FILE = "config:\n  functionPackage: ghcr.io/org/function-spoke-proof";
    expect(prove(false, { STACK_FILE, PUBLISHED: "ghcr.io/org/function-spoke-proof@sha256:2" }).status).toBe(0);
    expect(read("stacks/Pulumi.proof.yaml")).toBe(`${STACK_FILE}@sha256:2\n`);
  });

  test("fails if the package can't be pushed", () => {
    program("crane", '[ "$1" != push ]');
    expect(runs("package", "Push it", { OWNER: "o", LOCAL: "h/f:v1", CRANE: join(dir, "bin", "crane") }).status).toBe(
      1,
    );
  });

  test("removes only, where that is what was asked for", () => {
    expect(prove(true).status).toBe(0);
    expect(read("called")).toMatch(/^run test:aws -- -t removal$/m);
  });
});

describe("the facts about a hub", () => {
  const facts = () => runs("preview", "Facts about the hub", { STACK: "dev" });
  const stack = (outputs: string) =>
    program("pulumi", `if [ "$4" = bridgeData ]; then echo '{"a":"b"}'; else echo '${outputs}'; fi`);

  test("are the stack's output, in which Pulumi masks secrets", () => {
    stack('{\n  "bridgeData": {\n    "a": "b"\n  }\n}');
    expect(facts()).toEqual({ status: 0, text: "" });
    expect(read("bridge-dev.json")).toBe('{"a":"b"}\n');
    expect(read("called")).toBe("stack output --json --stack dev\nstack output --json bridgeData --stack dev\n");
  });

  test("are left out with a notice while the stack is not deployed", () => {
    stack("{}");
    expect(facts()).toEqual({
      status: 0,
      text: expect.stringContaining("::notice::The stack dev is not deployed yet"),
    });
    expect(existsSync(join(dir, "bridge-dev.json"))).toBe(false);
  });

  test("are not left out when the stack can't be read", () => {
    program("pulumi", "exit 6");
    expect(facts().status).toBe(6);
  });
});

describe("the preview of a merge", () => {
  const preview = (job = "changes", refresh = "false") => runs(job, "Preview", { STACK: "prod", REFRESH: refresh });
  const pulumi = (code: number, text = "+ aws:iam:Role hub-role") => program("pulumi", `echo '${text}'\nexit ${code}`);

  test("with changes shows them in the summary, so that who lets the update through has seen them", () => {
    pulumi(7);
    expect(preview()).toEqual({ status: 0, text: "+ aws:iam:Role hub-role\n" });
    expect(read("output")).toBe("changed=true\n");
    expect(read("summary")).toContain("~~~~~~diff\n+ aws:iam:Role hub-role\n\n~~~~~~");
    expect(read("called")).toBe(
      "preview --stack prod --refresh=false --diff --non-interactive --color never --policy-pack policies --expect-no-changes\n",
    );
  });

  test("without changes says so, and with the policies' configuration of the stack", () => {
    pulumi(0, "");
    mkdirSync(join(dir, "stacks"));
    writeFileSync(join(dir, "stacks", "policies.prod.json"), "{}");
    expect(preview().status).toBe(0);
    expect(read("output")).toBe("changed=false\n");
    expect(read("summary")).toBe("**prod**: pulumi up would change no resource.\n");
    expect(read("called")).toContain("--policy-pack-config stacks/policies.prod.json --expect-no-changes");
  });

  test.for([1, 5, 255])("that fails with exit code %d stops the merge, and nothing counts as unchanged", (code) => {
    pulumi(code, "why");
    const { status, text } = preview();
    expect([status, text]).toEqual([code, expect.stringMatching(/^why\n::error::pulumi preview of prod failed/)]);
    expect(existsSync(join(dir, "output"))).toBe(false);
  });

  test("for drift looks first at what there is", () => {
    pulumi(0);
    expect(preview("compare", "true").status).toBe(0);
    expect(read("called")).toContain("--refresh=true");
  });
});

describe("an issue about drift", () => {
  const tell = () => runs("issues", "Open the issue of a stack, update it, or close it", {});
  /** gh, whose list of open issues has this number, or nothing. */
  const gh = (number: string) => program("gh", `[ "$2" != list ] || echo '${number}'`);
  const report = (stack: string, text: string) => {
    mkdirSync(join(dir, "drift"), { recursive: true });
    writeFileSync(join(dir, "drift", `${stack}.md`), text);
  };
  const changes = () =>
    read("called")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("issue list"));

  test("is written from the preview, cut to what an issue holds, and is empty without drift", () => {
    writeFileSync(join(dir, "preview.txt"), "x".repeat(100_000));
    expect(runs("compare", "Write the report", { STACK: "prod", CHANGED: "true" }).status).toBe(0);
    const text = read(join("drift", "prod.md"));
    expect(text).toMatch(/^What pulumi up would do to prod, after a refresh/);
    expect(text.length).toBeLessThan(65_536);
    rmSync(join(dir, "drift"), { recursive: true });
    expect(runs("compare", "Write the report", { STACK: "prod", CHANGED: "false" }).status).toBe(0);
    expect(read(join("drift", "prod.md"))).toBe("");
  });

  test("says of a stack whose preview failed that nothing is known, and where to look", () => {
    const report = { STACK: "prod", CHANGED: "", RUN: "https://github.com/acme/fleet/actions/runs/7" };
    expect(runs("compare", "Write the report", report).status).toBe(0);
    expect(read(join("drift", "prod.md"))).toMatch(/is not known: its preview failed, see https:.*runs\/7$/m);
  });

  test("is opened for each stack that drifted, and updated while it is open", () => {
    report("dev", "drift");
    report("prod", "drift");
    gh("");
    expect(tell()).toEqual({ status: 0, text: "" });
    expect(changes()).toEqual(
      ["dev", "prod"].map((stack) => `issue create --title Drift of the stack ${stack} --body-file drift/${stack}.md`),
    );
    rmSync(join(dir, "called"));
    gh("7");
    expect(tell()).toEqual({ status: 0, text: "" });
    expect(changes()[0]).toBe("issue edit 7 --body-file drift/dev.md");
  });

  test("is closed when the stack is as the program says again; without one nothing is done", () => {
    report("prod", "");
    gh("7");
    expect(tell()).toEqual({ status: 0, text: "" });
    expect(changes()).toEqual(["issue close 7 --comment The stack is as the program says."]);
    rmSync(join(dir, "called"));
    gh("");
    expect(tell()).toEqual({ status: 0, text: "" });
    expect(changes()).toEqual([]);
  });
});

describe("the login to Pulumi Cloud", () => {
  const env = (token: string) => ({
    ORGANIZATION: "acme",
    TOKEN_SECRET: token,
    EXPIRATION: "2h",
    PULUMI_BACKEND_URL: "",
    RUNNER_TEMP: dir,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
    ACTIONS_ID_TOKEN_REQUEST_URL: "https://id.example/?v=1",
  });
  const login = (token: string) => runs("up", "Log in to Pulumi Cloud", env(token));

  test("exchanges GitHub's token for the organization, which is in no argument and stays in no file", () => {
    program("curl", `cat > '${join(dir, "curl-config")}'; printf '{"value":"id-token"}'`);
    program("pulumi", `cat "\${4#file://}" > '${join(dir, "id-token")}'`);
    expect(login("")).toEqual({ status: 0, text: "" });
    expect(read("curl-config")).toContain("Bearer request-token");
    expect(read("id-token")).toBe("id-token\n");
    const credentials = join(dir, "pulumi-credentials");
    expect(read("called").trim().split("\n")).toEqual([
      "--fail --silent --show-error --config - https://id.example/?v=1&audience=urn:pulumi:org:acme",
      `login https://api.pulumi.com --oidc-token file://${credentials}/id-token --oidc-org acme --oidc-expiration 2h --default-org acme --non-interactive`,
    ]);
    expect(existsSync(join(credentials, "id-token"))).toBe(false);
    expect(read("output")).toBe(`credentials=${credentials}\n`);
  });

  test("fails where GitHub gives no token", () => {
    program("curl", "exit 22");
    program("pulumi", "exit 0");
    expect(login("").status).not.toBe(0);
  });

  test("takes a token from Secrets Manager, masked", () => {
    program("aws", "echo t0ken");
    program("pulumi", `echo "$PULUMI_ACCESS_TOKEN" > '${join(dir, "token")}'`);
    expect(login("pulumi/ci")).toEqual({ status: 0, text: "::add-mask::t0ken\n" });
    expect(read("token")).toBe("t0ken\n");
    expect(read("called")).toContain("--secret-id pulumi/ci");
    expect(read("called")).toContain("login https://api.pulumi.com --default-org acme --non-interactive");
  });
});
