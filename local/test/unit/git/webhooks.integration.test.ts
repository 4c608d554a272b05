import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { watchPushes } from "../../../git/pushes.ts";
import { ensureRepository, publish } from "../../../git/repositories.ts";
import { callWebhooks, type Push, readWebhooks, registerWebhooks, type Webhook } from "../../../git/webhooks.ts";
import { scratch } from "../../support/scratch.ts";
import { serving } from "../../support/serving.ts";

const base = scratch("fleet-webhooks-");
const secret = "s3cret";
const push: Push = { repository: "one", before: "0".repeat(40), after: "1".repeat(40), ref: "refs/heads/main" };

interface Call {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
let calls: Call[] = [];
let origin = "";

beforeAll(async () => {
  origin = await serving(({ url, headers }, body, response) => {
    if (url === "/hook/silent") return;
    calls.push({ url, headers, body });
    response.writeHead(url === "/hook/refused" ? 400 : 200).end();
  });
});
beforeEach(() => {
  calls = [];
});

const hook = (type: Webhook["type"], path = "/hook/abc"): Webhook => ({
  repository: "one",
  url: `${origin}${path}`,
  type,
  secret,
});
const hmac = (algorithm: string, body: string) =>
  `${algorithm}=${createHmac(algorithm, secret).update(body).digest("hex")}`;

async function called(webhooks: readonly Webhook[], timeout?: number): Promise<string[]> {
  const log: string[] = [];
  await callWebhooks(webhooks, push, (line) => log.push(line), timeout);
  return log;
}

describe("a call", () => {
  test("of type github is signed by HMAC and names the event, the branch and both commits", async () => {
    await called([hook("github")]);
    const [{ headers, body }] = calls as [Call];
    expect(JSON.parse(body)).toEqual({
      ...{ ref: push.ref, before: push.before, after: push.after },
      repository: { name: "one" },
    });
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "x-github-event": "push",
      "x-hub-signature-256": hmac("sha256", body),
      "x-hub-signature": hmac("sha1", body),
    });
  });

  test("of type gitlab shows the token, of generic-hmac a signature, of generic neither", async () => {
    await called([hook("gitlab")]);
    await called([hook("generic-hmac")]);
    await called([hook("generic")]);
    const [gitlab, signed, plain] = calls as [Call, Call, Call];
    expect(gitlab.headers).toMatchObject({ "x-gitlab-token": secret, "x-gitlab-event": "Push Hook" });
    expect(signed.headers).toMatchObject({ "x-signature": hmac("sha256", signed.body) });
    expect(JSON.stringify([signed, plain])).not.toContain(secret);
    expect(plain.headers).not.toHaveProperty("x-signature");
  });

  test("reaches the webhooks of its repository only", async () => {
    await called([{ ...hook("generic", "/hook/other"), repository: "two" }, hook("generic")]);
    expect(calls.map(({ url }) => url)).toEqual(["/hook/abc"]);
  });

  test("that is refused, not answered in time, or reaches nobody is logged, without path and secret, and keeps no other one", async () => {
    const gone = { ...hook("github", "/hook/gone"), url: "http://127.0.0.1:1/hook/gone" };
    const log = await called(
      [hook("gitlab", "/hook/refused"), hook("gitlab", "/hook/silent"), gone, hook("gitlab")],
      300,
    );
    expect(log.join("\n")).toMatch(/status 400/);
    expect(log.join("\n")).toMatch(/status 200/);
    expect(log.filter((line) => line.includes("no answer"))).toHaveLength(2);
    expect(log.join("\n")).not.toMatch(/\/hook\/|s3cret/);
  });
});

describe("the list of webhooks", () => {
  test("is read by its owner alone, and gone with the next list", async () => {
    const file = join(base, "webhooks.json");
    expect(readWebhooks(file)).toEqual([]);
    await registerWebhooks(file, [hook("github")]);
    expect(readWebhooks(file)).toEqual([hook("github")]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await registerWebhooks(file, []);
    expect(readWebhooks(file)).toEqual([]);
  });

  test("that is wrong is refused with the names of the wrong members, and without a secret", () => {
    const file = join(base, "wrong.json");
    writeFileSync(file, JSON.stringify([{ ...hook("github"), type: "gitea" }]));
    expect(() => readWebhooks(file)).toThrow(/type/);
    expect(() => readWebhooks(file)).not.toThrow(secret);
    writeFileSync(file, `[{"secret": "${secret}`);
    expect(() => readWebhooks(file)).toThrow(/is not JSON/);
    expect(() => readWebhooks(file)).not.toThrow(secret);
  });
});

describe("a push", () => {
  const root = join(base, "git");
  const content = join(base, "content");
  const clone = join(base, "clone");
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", clone, "-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
      encoding: "utf8",
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" },
    }).trim();
  const commit = () => {
    git("commit", "--quiet", "--allow-empty", "--message", "change");
    git("push", "--quiet", "origin", "main");
    return git("rev-parse", "HEAD");
  };

  beforeAll(() => {
    mkdirSync(root);
    mkdirSync(content);
    writeFileSync(join(content, "README.md"), "one\n");
    publish(join(root, "one.git"), content, "first");
    mkdirSync(clone);
    git("clone", "--quiet", join(root, "one.git"), ".");
  });

  test("by path goes through while no server watches, and leaves nothing", () => {
    commit();
    expect(existsSync(join(root, "pushes"))).toBe(false);
  });

  test("is handed over with its commits, at once or when the server starts again; also of a repository without the hook", async () => {
    rmSync(join(root, "one.git", "hooks"), { recursive: true });
    const seen: Push[] = [];
    const before = git("rev-parse", "HEAD");
    const stop = watchPushes(root, (one) => seen.push(one));
    const first = commit();
    await expect.poll(() => seen).toEqual([{ repository: "one", before, after: first, ref: "refs/heads/main" }]);
    stop();
    const second = commit();
    const stopAgain = watchPushes(root, (one) => seen.push(one));
    await expect.poll(() => seen.map(({ after }) => after)).toEqual([first, second]);
    expect(readdirSync(join(root, "pushes"))).toEqual([]);
    stopAgain();
  });

  test("to a repository that is made while the server runs is handed over too", async () => {
    const seen: Push[] = [];
    const stop = watchPushes(root, (one) => seen.push(one));
    ensureRepository(join(root, "two.git"));
    git("push", "--quiet", join(root, "two.git"), "main", "main:refs/tags/v1");
    await expect
      .poll(() => seen.map(({ repository, ref }) => `${repository} ${ref}`).sort())
      .toEqual(["two refs/heads/main", "two refs/tags/v1"]);
    stop();
  });
});
