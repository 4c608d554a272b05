import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fetchHistory, fleetsAt, policyAt, push, requireClone } from "../../../cli/rollouts/git.ts";
import { Repository } from "./support/repository.ts";

let repository: Repository;
let first: string;
beforeEach(() => {
  repository = new Repository({ "clusters/fleet/rings.yaml": "rings: [{ name: canary }]\n" });
  first = repository.git("rev-parse", "HEAD");
});
afterEach(() => {
  vi.unstubAllEnvs();
  repository.remove();
});

const canary = "ring/canary";
const move = (from: string | undefined, to: string) => ({ ring: "canary", kind: "promote", from, to }) as const;

describe("a ring's branch", () => {
  test("is made, moved forward and moved back", () => {
    const { clone } = repository;
    const second = repository.commit("second", { "spoke-bootstrap/file": "2" });
    fetchHistory(clone);
    expect(push(clone, move(undefined, first))).toBe(true);
    expect(repository.at(canary)).toBe(first);
    expect(push(clone, move(first, second))).toBe(true);
    expect(repository.at(canary)).toBe(second);
    expect(push(clone, { ...move(second, first), kind: "roll back" })).toBe(true);
    expect(repository.at(canary)).toBe(first);
  });

  test("stays as it is when somebody else moved, made or removed it meanwhile", () => {
    const { clone } = repository;
    const second = repository.commit("second", {});
    const third = repository.commit("third", {});
    fetchHistory(clone);
    repository.git("push", "--quiet", "origin", `${second}:refs/heads/${canary}`);
    expect(push(clone, move(undefined, first))).toBe(false);
    expect(push(clone, move(first, third))).toBe(false);
    expect(repository.at(canary)).toBe(second);
    repository.git("push", "--quiet", "origin", `:refs/heads/${canary}`);
    expect(push(clone, move(second, third))).toBe(false);
    expect(repository.at(canary)).toBeUndefined();
  });

  test("that the host does not let one push is an error with its reason", () => {
    const { clone } = repository;
    fetchHistory(clone);
    writeFileSync(join(repository.host, "hooks", "pre-receive"), "#!/bin/sh\necho protected branch >&2\nexit 1\n", {
      mode: 0o755,
    });
    expect(() => push(clone, move(undefined, first))).toThrow(
      /can't push ring\/canary to origin: [\s\S]*protected branch[\s\S]*needs the right to push/,
    );
  });
});

describe("what is fetched", () => {
  test("is the newest of the hub's branch and of each ring's, without those that are gone", () => {
    const { clone } = repository;
    repository.git("push", "--quiet", "origin", `${first}:refs/heads/ring/a`, `${first}:refs/heads/ring/b`);
    expect(fetchHistory(clone).tips).toEqual(
      new Map([
        ["a", first],
        ["b", first],
      ]),
    );
    repository.git("push", "--quiet", "origin", ":refs/heads/ring/a");
    const second = repository.commit("second", {});
    const { main, tips } = fetchHistory(clone);
    expect(main).toBe(second);
    expect([...tips.keys()]).toEqual(["b"]);
  });

  test("changes neither branches, tags nor files of the clone, where a person may be at work", () => {
    const { clone } = repository;
    repository.git("tag", "v1");
    repository.git("push", "--quiet", "origin", "v1", `${first}:refs/heads/${canary}`);
    repository.inClone("switch", "--quiet", "--create", "work");
    writeFileSync(join(clone.folder, "spoke-bootstrap", "file"), "unsaved");
    const state = () => [
      repository.inClone("status", "--porcelain=v2", "--branch"),
      repository.inClone("for-each-ref", "refs/heads", "refs/tags"),
    ];
    const before = state();
    repository.commit("second", {});
    fetchHistory(clone);
    expect(push(clone, move(first, first))).toBe(true);
    expect(state()).toEqual(before);
  });

  test("is judged by the content of what rings take, not by commits", () => {
    const spokes = repository.commit("a spoke", { "spokes/fleet/blue/spoke.yaml": "1", "platform/api/x": "1" });
    const tools = repository.commit("tools", { "tools/dev/versions.yaml": "1" });
    const revert = repository.commit("revert", { "tools/dev/versions.yaml": "" });
    repository.git("rm", "--quiet", "-r", "tools");
    const removed = repository.commit("removed", {});
    const { content } = fetchHistory(repository.clone);
    expect(content(spokes)).toBe(content(first));
    expect(content(tools)).not.toBe(content(first));
    expect(content(revert)).not.toBe(content(tools));
    expect(content(removed)).toBe(content(first));
  });

  test("tells what a commit contains, what waits, and what the hub's branch lacks", () => {
    const spokes = repository.commit("a spoke", { "spokes/fleet/blue/spoke.yaml": "1" });
    const chain = repository.commit("a chain: better", { "spoke-bootstrap/file": "2" });
    repository.git("switch", "--quiet", "--detach", first);
    const foreign = repository.commit("a fix by hand", { "spoke-bootstrap/file": "3" }, canary);
    const history = fetchHistory(repository.clone);
    expect(history.contains(chain, first)).toBe(true);
    expect(history.contains(first, first)).toBe(true);
    expect(history.contains(first, chain)).toBe(false);
    expect(history.contains(chain, "0".repeat(40))).toBe(false);
    expect(history.changes(first, chain)).toEqual([{ commit: chain, subject: "a chain: better" }]);
    expect(history.changes(first, spokes)).toEqual([]);
    expect(history.subject(chain)).toBe("a chain: better");
    expect(history.foreign(foreign)).toEqual([{ commit: foreign, subject: "a fix by hand" }]);
    expect(history.foreign(spokes)).toEqual([]);
    expect(history.hasComposition(chain)).toBe(true);
  });

  test("tells which commit has no Composition", () => {
    repository.git("rm", "--quiet", "-r", "platform");
    const without = repository.commit("no platform", {});
    expect(fetchHistory(repository.clone).hasComposition(without)).toBe(false);
  });

  test("is judged as far as Git can tell: what it can't answer is an error, not a no", () => {
    const second = repository.commit("second", {});
    const history = fetchHistory(repository.clone);
    expect(history.contains(second, "0".repeat(40))).toBe(false);
    expect(() => history.contains("0".repeat(40), second)).toThrow(/git merge-base failed/);
  });

  test("is waited for only so long, and so is a push", () => {
    fetchHistory(repository.clone);
    vi.stubEnv("GIT_SSH_COMMAND", "sleep 600 #");
    const clone = { ...repository.clone, remote: "ssh://git@host/gitops-system.git", patience: 200 };
    expect(() => fetchHistory(clone)).toThrow(/from ssh:.*: no answer within 0.2 seconds/);
    expect(() => push(clone, move(undefined, first))).toThrow(/to ssh:.*: no answer within 0.2 seconds/);
  });

  test("is an error with Git's reason when there is no such remote or branch", () => {
    const { clone } = repository;
    expect(() => fetchHistory({ ...clone, remote: "nowhere" })).toThrow(/from nowhere: [\s\S]*--remote and --branch/);
    expect(() => fetchHistory({ ...clone, branch: "trunk" })).toThrow(/the branch trunk/);
  });
});

test("rings and fleets are read at a commit, wherever in the clone one is", () => {
  const clone = { ...repository.clone, folder: join(repository.clone.folder, "clusters") };
  expect(fleetsAt(clone, first)).toEqual(["fleet"]);
  expect(policyAt(clone, first, "fleet")).toBe("rings: [{ name: canary }]");
  expect(policyAt(clone, first, "other")).toBeUndefined();
});

describe("a folder", () => {
  test("that is not a clone is refused", () => {
    const folder = join(repository.host, "..");
    expect(() => requireClone(folder)).toThrow(`${folder} is not a clone of gitops-system`);
  });

  test("that is a shallow clone is refused, because the history counts", () => {
    repository.commit("second", {});
    const shallow = join(repository.host, "..", "shallow");
    execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${repository.host}`, shallow]);
    expect(() => requireClone(shallow)).toThrow("git fetch --unshallow");
    expect(() => requireClone(repository.clone.folder)).not.toThrow();
  });
});
