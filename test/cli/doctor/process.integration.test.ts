import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { complaint, firstComplaint, runner } from "../../../cli/doctor/process.ts";
import { root } from "../support/fleet.ts";

const run = runner(root, process.env);
const node = (code: string, input = "") => run(process.execPath, ["-e", code], { input });

describe("a program that fleet doctor runs", () => {
  test("gives its output, its exit code and what it complains about", async () => {
    const ended = await node("console.log('out'); console.error('cause\\n\\nhint'); process.exitCode = 3");
    expect(ended).toEqual({ code: 3, stdout: "out\n", stderr: "cause\n\nhint\n" });
    if (ended !== undefined) expect([firstComplaint(ended), complaint(ended)]).toEqual(["cause", "hint"]);
  });

  test("reads its input, and may end without reading it", async () => {
    expect((await node("process.stdin.pipe(process.stdout)", "key"))?.stdout).toBe("key");
    expect((await node("process.exit(0)", "x".repeat(1 << 20)))?.code).toBe(0);
  });

  test("that is not there is told from one that fails, and nothing is waited for afterwards", () => {
    const script = `
      import { runner } from "${root}/cli/doctor/process.ts";
      const ended = await runner(".", process.env)("no-such-program", []);
      console.log(ended, process.getActiveResourcesInfo().includes("Timeout"));`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect(stdout).toBe("undefined false\n");
  });
});
