import { describe, expect, test } from "vitest";
import { checkTools, tools } from "../../../cli/doctor/tools.ts";
import { noPrograms, programs } from "./support/programs.ts";

/** What each prints for its version, in the newest form at hand. */
const printed = {
  node: "v22.23.3\n",
  pulumi: "v3.276.0\n",
  kubectl: "Client Version: v1.34.4\nKustomize Version: v5.7.1\n",
  aws: "aws-cli/2.31.0 Python/3.13.7 Linux/6.1\n",
  git: "git version 2.39.5\n",
  kubeseal: "kubeseal version: 0.40.0\n",
  ssh: { stderr: "OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19\n" },
  gh: "gh version 2.62.0 (2024-11-14)\nhttps://github.com/cli/cli/releases/tag/v2.62.0\n",
  jq: "jq-1.6\n",
};
const found = async (change: Parameters<typeof programs>[0], minor = "1.34") =>
  Object.fromEntries(
    (await checkTools(minor, programs({ ...printed, ...change }))).map((finding) => [finding.name, finding]),
  );

describe("fleet doctor, tools", () => {
  test("are ok when each is new enough, however it prints its version", async () => {
    const all = await found({});
    expect(Object.keys(all)).toEqual(Object.keys(printed));
    for (const { status, message } of Object.values(all)) expect(status, message).toBe("ok");
    expect(all["ssh"]?.message).toBe("9.2 (7.4 or newer)");
  });

  test("do not include Node.js where the project's own runs the program", async () => {
    const all = await checkTools("1.34", programs({ ...printed, node: "v20.20.2\n" }), true);
    expect(all.map(({ name }) => name)).not.toContain("node");
    expect(all.every(({ status }) => status === "ok")).toBe(true);
  });

  test("that are missing must be installed where they are needed, and are only told of where they are not", async () => {
    const all = await checkTools("1.34", noPrograms);
    const missing = all.map(({ name, status }) => [name, status]);
    expect(missing).toEqual(tools("1.34").map(({ name, needed }) => [name, needed ? "wrong" : "note"]));
    expect(missing).toContainEqual(["kubeseal", "wrong"]);
    expect(missing).toContainEqual(["jq", "note"]);
    for (const { todo } of all) expect(todo).toMatch(/^install it: /);
  });

  test("that are too old are reported with the minimum version and what it is for", async () => {
    const { node, aws } = await found({ node: "v20.20.2\n", aws: "aws-cli/2.6.4\n" });
    expect(node).toMatchObject({ status: "wrong", todo: "install 22.18 or newer: https://nodejs.org" });
    expect(node?.message).toContain("is 20.20.2, the minimum is 22.18. It runs the program");
    expect(aws?.message).toContain("is 2.6.4, the minimum is 2.7.0");
  });

  test("of the aws command both lines of versions do", async () => {
    expect((await found({ aws: "aws-cli/1.24.0 Python/3" }))["aws"]?.status).toBe("ok");
    expect((await found({ aws: "aws-cli/1.23.9 Python/3" }))["aws"]?.message).toContain("the minimum is 1.24.0");
  });

  test("kubectl goes with the hub's Kubernetes, one minor below at least", async () => {
    const old = { kubectl: "Client Version: v1.33.1" };
    expect((await found(old, "1.34"))["kubectl"]?.status).toBe("ok");
    expect((await found(old, "1.35"))["kubectl"]).toMatchObject({ status: "wrong" });
  });

  test("that fail to tell their version are not taken for new ones", async () => {
    const { pulumi, gh } = await found({ pulumi: { code: 1, stderr: "broken\n1.2.3 is no use" }, gh: "nothing" });
    expect(pulumi).toMatchObject({ status: "wrong", message: "does not print its version: 1.2.3 is no use" });
    expect(gh?.status).toBe("note");
  });
});
