import { expect, test } from "vitest";
import { duration, runSteps, type Step, StepError } from "../../../cli/steps.ts";

function recorder() {
  const lines: string[] = [];
  let clock = 0;
  return { lines, write: (text: string) => void lines.push(text.trimEnd()), now: () => (clock += 1000) };
}

test("steps run in order and show what, n of m and the elapsed time", async () => {
  const out = recorder();
  const ran: string[] = [];
  const step = (name: string): Step<string[]> => ({
    name,
    run: async (context, report) => {
      context.push(name);
      report("half way");
    },
  });
  const timings = await runSteps([step("boil water"), step("make tea")], ran, "/logs", out);
  expect(ran).toEqual(["boil water", "make tea"]);
  expect([...timings.keys()]).toEqual(ran);
  expect(out.lines).toEqual([
    "[1/2] boil water",
    "      half way",
    "[1/2] boil water: done in 2 s",
    "[2/2] make tea",
    "      half way",
    "[2/2] make tea: done in 2 s",
  ]);
});

test("a failed step stops the run and says what, why, where the logs are and what to do", async () => {
  const later = { name: "make tea", run: () => Promise.reject(new Error("must not run")) };
  const failing = { name: "boil water", run: () => Promise.reject(new Error("no kettle")) };
  const result = runSteps([failing, later], undefined, "/logs", recorder());
  await expect(result).rejects.toThrow(StepError);
  await expect(result).rejects.toThrow(
    "could not boil water: no kettle\nLogs: /logs. Running the same command again continues here.",
  );
});

test("durations are seconds, then minutes and seconds", () => {
  expect([0, 59_400, 75_000].map(duration)).toEqual(["0 s", "59 s", "1 min 15 s"]);
});
