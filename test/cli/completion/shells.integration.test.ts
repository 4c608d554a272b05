import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "../../../cli/commands.ts";
import { descriptions } from "../../../cli/descriptions.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const folder = temporaryFolder("fleet-completion");

const names = Object.keys(commands);
const scriptFor = (shell: string): string => {
  const file = join(folder, `fleet.${shell}`);
  writeFileSync(file, execFileSync(process.execPath, [join(root, "cli/main.ts"), "completion", shell]));
  return file;
};

describe("bash, told by fleet completion bash,", () => {
  const script = scriptFor("bash");

  /** What bash offers for the last of the words, which may be empty, as it has split them. */
  function offered(...words: string[]): string[] {
    const code = `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fleet; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = execFileSync("bash", ["-euo", "pipefail", "-c", code, script, ...words], { encoding: "utf8" });
    return output.split("\n").filter((line) => line !== "");
  }

  test("completes the commands", () => {
    expect(offered("fleet", "")).toEqual([...names, "help", "--help", "--version"]);
    expect(offered("fleet", "new-")).toEqual(["new-cluster", "new-fleet", "new-ring", "new-team"]);
    expect(offered("fleet", "help", "ch")).toEqual(["check"]);
  });

  test.each(names)("completes every option of fleet %s", (name) => {
    const options = Object.keys(descriptions[name]?.options ?? {}).map((option) => `--${option}`);
    expect(offered("fleet", name, "--")).toEqual(options);
  });

  test("completes the values that are known, behind a space and behind an equals sign", () => {
    const forms = ["text", "json", "yaml"];
    expect(offered("fleet", "list", "-o", "")).toEqual(forms);
    expect(offered("fleet", "list", "--output", "=")).toEqual(forms);
    expect(offered("fleet", "list", "--output", "=", "j")).toEqual(["json"]);
    expect(offered("fleet", "completion", "")).toEqual(["bash", "fish", "zsh"]);
  });

  test("offers nothing of its own for another value, so that bash offers files", () => {
    expect(offered("fleet", "list", "--tenant", "")).toEqual([]);
    expect(execFileSync("bash", ["-c", '. "$0"; complete -p fleet', script], { encoding: "utf8" })).toBe(
      "complete -o default -F _fleet fleet\n",
    );
  });
});

describe("fish and zsh, where they are installed, take their scripts", () => {
  const isInstalled = (shell: string) => spawnSync(shell, ["--version"]).status === 0;

  test.runIf(isInstalled("fish"))("fish completes commands, options and values", () => {
    const script = scriptFor("fish");
    const offered = (line: string) =>
      execFileSync("fish", ["--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, script, line], {
        encoding: "utf8",
      })
        .split("\n")
        .map((each) => each.split("\t")[0]);
    expect(offered("fleet new-")).toEqual(["new-cluster", "new-fleet", "new-ring", "new-team", ""]);
    expect(offered("fleet list --out")).toEqual(["--output", ""]);
    expect(offered("fleet list -o ")).toEqual(expect.arrayContaining(["json", "text", "yaml"]));
  });

  test.runIf(isInstalled("zsh"))("zsh finds nothing wrong with the script", () => {
    expect(spawnSync("zsh", ["-n", scriptFor("zsh")], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });
});
