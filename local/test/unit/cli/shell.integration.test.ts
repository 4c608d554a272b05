import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { kubeconfig } from "../../../cli/kubeconfig.ts";
import { writeScript, writeShellFiles } from "../../../cli/shell.ts";
import { withVariables } from "../../../instance/command.ts";
import { instanceAt } from "../../../instance/index.ts";
import { scratch } from "../../support/scratch.ts";

const base = scratch("fleet it's ");

describe("the shell files of an instance", () => {
  const instance = instanceAt(base, 0);
  const sh = (script: string, env: Record<string, string> = {}) =>
    execFileSync("/bin/sh", ["-c", script, "sh", instance.paths.env], {
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin", ...env },
    }).trim();

  test("sourcing env sets every variable literally and puts the tools first on PATH, once", async () => {
    mkdirSync(instance.paths.bin);
    await writeShellFiles(instance, { AWS_REGION: "us-east-1", ODD: "a 'b' $HOME \"c\"" }, { show: ["/usr/bin/env"] });
    expect(sh('. "$1"; echo "$ODD"')).toBe("a 'b' $HOME \"c\"");
    expect(sh('. "$1"; . "$1"; echo "$PATH"')).toBe(`${instance.paths.bin}:/usr/bin:/bin`);
  });

  test("a command of bin runs in the instance's environment, whatever the caller's is", () => {
    expect(
      execFileSync(join(instance.paths.bin, "show"), { encoding: "utf8", env: { AWS_REGION: "eu-west-1" } }),
    ).toContain("AWS_REGION=us-east-1\n");
  });
});

test("a program in a directory with an equals sign gets its variables and its arguments", async () => {
  const program = join(base, "a=b");
  writeFileSync(program, '#!/bin/sh\nprintf "%s\\n" "$ODD" "$@"\n', { mode: 0o755 });
  const file = join(base, "starts");
  await writeScript(file, withVariables({ ODD: "it's = $HOME" }, program));
  expect(execFileSync(file, ["one word", "c=d"], { encoding: "utf8" })).toBe("it's = $HOME\none word\nc=d\n");
});

describe("the kubeconfig of an instance", () => {
  const cluster = (name: string) => ({
    name,
    region: "us-east-1",
    endpoint: `https://${name}`,
    certificateAuthority: "Q0E=",
  });

  test("has one context per cluster, named like it, and the first is current", () => {
    const config = parse(kubeconfig([cluster("hub"), cluster("spoke-a")], "/bin/aws"));
    expect(config.contexts.map((context: { name: string }) => context.name)).toEqual(["hub", "spoke-a"]);
    expect(config["current-context"]).toBe("hub");
    expect(config.clusters[1]).toEqual({
      name: "spoke-a",
      cluster: { server: "https://spoke-a", "certificate-authority-data": "Q0E=" },
    });
  });

  test("stores no token: users get one from aws eks get-token", () => {
    const [user] = parse(kubeconfig([cluster("hub")], "/bin/aws")).users;
    expect(Object.keys(user.user)).toEqual(["exec"]);
    expect([user.user.exec.command, ...user.user.exec.args].join(" ")).toBe(
      "/bin/aws --region us-east-1 eks get-token --cluster-name hub --output json",
    );
  });

  test("without a cluster is valid and empty", () => {
    expect(parse(kubeconfig([], "/bin/aws"))).toEqual({
      apiVersion: "v1",
      kind: "Config",
      clusters: [],
      users: [],
      contexts: [],
    });
  });
});
