import { expect, test } from "vitest";
import { run } from "../../../toolchain/run.ts";

const sh = (script: string) => run(["sh", "-c", script]);

test("a build may write more than 64 MiB", async () => {
  const bytes = 65 << 20;
  expect(await sh(`yes ${"x".repeat(1023)} | head -c ${bytes}`)).toHaveLength(bytes);
});

test("the error of a build tells the last 40 lines of both outputs", async () => {
  const script = "for i in $(seq 60); do echo out-$i; done; sleep 0.2; echo why >&2; exit 3";
  const error: Error = await sh(script).then(
    () => expect.unreachable(),
    (reason: Error) => reason,
  );
  const told = error.message.slice(error.message.indexOf("(exit code 3): ") + "(exit code 3): ".length).split("\n");
  expect([told[0], told.at(-2), told.at(-1), told.length]).toEqual(["out-22", "out-60", "why", 40]);
});

test("the error of a build that was ended names the signal", async () => {
  await expect(sh("echo begun; kill -KILL $$")).rejects.toThrow(/failed \(ended by SIGKILL\): begun$/);
});
