import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "deploy-key-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** Runs the script with a `gh` that notes what it is called with and finds these keys. */
function register(url: string, key: string, found = "") {
  const gh = `#!/usr/bin/env bash\necho "$*" >> "$CALLS"\ncase "$*" in *list*) printf '%s' '${found}';; *add*) cat "$4" >> "$CALLS";; esac\n`;
  writeFileSync(join(dir, "gh"), gh, { mode: 0o755 });
  const calls = join(dir, "calls");
  writeFileSync(calls, "");
  const { status, stderr } = spawnSync(join(import.meta.dirname, "github-deploy-key.sh"), [url, key], {
    encoding: "utf8",
    env: { ...process.env, PATH: `${dir}:${process.env["PATH"]}`, CALLS: calls },
  });
  return {
    status,
    stderr,
    calls: readFileSync(calls, "utf8")
      .replaceAll(/\S+\/tmp\.\w+/g, "FILE")
      .trim()
      .split("\n"),
  };
}

const key = "ssh-ed25519 AAAAC3Nz fleet-proof hub";

describe("github-deploy-key.sh", () => {
  test("registers the key read-only at the repository of the URL", () => {
    expect(register("ssh://git@github.com/example/proof-system.git", key)).toMatchObject({
      status: 0,
      calls: [
        expect.stringMatching(/^repo deploy-key list --repo github.com\/example\/proof-system /),
        "repo deploy-key add FILE --repo github.com/example/proof-system --title proof on AWS: fleet-proof hub",
        key,
      ],
    });
  });

  test("replaces what earlier runs have left under its title", () => {
    const { calls } = register("ssh://git@github.com/example/proof-system.git", key, "7\n8");
    expect(calls.filter((call) => call.includes("delete"))).toEqual([
      "repo deploy-key delete 7 --repo github.com/example/proof-system",
      "repo deploy-key delete 8 --repo github.com/example/proof-system",
    ]);
  });

  test.for(["https://github.com/example/a.git", "ssh://git@github.com/a.git", "/srv/a.git"])("refuses %s", (url) => {
    expect(register(url, key)).toMatchObject({ status: 2, calls: [""], stderr: expect.stringContaining(url) });
  });
});
