import { describe, expect, it, test } from "vitest";
import { duration } from "../../../cli/step-display.ts";
import { type Report, runSteps, type Step, StepError } from "../../../cli/steps.ts";

function recorder(width?: number) {
  const lines: string[] = [];
  let clock = 0;
  return {
    lines,
    write: (text: string) => void lines.push(text.trimEnd()),
    now: () => (clock += 1000),
    columns: () => width,
  };
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
  const timings = await runSteps([step("boil water"), step("make tea")], ran, "/logs", { terminal: out });
  expect(ran).toEqual(["boil water", "make tea"]);
  expect([...timings.keys()]).toEqual(ran);
  expect(out.lines).toEqual([
    "[1/2] boil water",
    "      half way",
    "[1/2] boil water: done in 1 s",
    "[2/2] make tea",
    "      half way",
    "[2/2] make tea: done in 1 s",
  ]);
});

test("a failed step stops the run and says what, why, where the logs are and what to do", async () => {
  const later = { name: "make tea", run: () => Promise.reject(new Error("must not run")) };
  const failing = { name: "boil water", run: () => Promise.reject(new Error("no kettle")) };
  const result = runSteps([failing, later], undefined, "/logs", { terminal: recorder() });
  await expect(result).rejects.toThrow(StepError);
  await expect(result).rejects.toThrow(
    "could not boil water: no kettle\nLogs: /logs. Running the same command again continues here.",
  );
});

describe("a guard", () => {
  const ending = (signal: AbortSignal | undefined) =>
    new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));

  it("ends the running step, waits for its end, and fails the run with its own error", async () => {
    const ended: string[] = [];
    const step: Step<unknown> = {
      name: "boil water",
      run: (_, __, signal) => ending(signal).finally(() => ended.push("kettle off")),
    };
    const guard = () => Promise.reject(new Error("the fuse keeps blowing"));
    const result = runSteps([step], undefined, "/logs", { terminal: recorder(), guard });
    await expect(result).rejects.toThrow(/^could not boil water: the fuse keeps blowing\nLogs: \/logs\./);
    expect(ended).toEqual(["kettle off"]);
  });

  it("adds what it knows to the error of a failed step", async () => {
    const step = { name: "boil water", run: () => Promise.reject(new Error("no power")) };
    const guard = (signal: AbortSignal) =>
      ending(signal).catch(() => {
        throw new Error("the fuse has blown");
      });
    await expect(runSteps([step], undefined, "/logs", { terminal: recorder(), guard })).rejects.toThrow(
      "could not boil water: no power\nthe fuse has blown\nLogs: /logs.",
    );
  });

  it("does not fail steps that succeed", async () => {
    const steps = ["boil water", "make tea"].map((name) => ({ name, run: async () => {} }));
    const guard = (signal: AbortSignal) => ending(signal);
    const timings = await runSteps(steps, undefined, "/logs", { terminal: recorder(), guard });
    expect([...timings.keys()]).toEqual(["boil water", "make tea"]);
  });
});

test("on a terminal a step is one line that changes, and ends as one line", async () => {
  const out = recorder(40);
  const step = {
    name: "boil water",
    run: async (_: unknown, report: Report) => report("a detail that is longer than the line"),
  };
  await runSteps([step], undefined, "/logs", { terminal: out });
  expect(out.lines.map((line) => line.replace("\r\u001b[2K", "|"))).toEqual([
    "|[1/1] boil water, 1 s",
    "|[1/1] boil water, 2 s: a detail that i…",
    "|[1/1] boil water: done in 3 s",
  ]);
  for (const line of out.lines) expect(line.replace("\r\u001b[2K", "").length).toBeLessThan(40);
});

test("on a terminal what stays is still to be read when the step has ended", async () => {
  const out = recorder(80);
  const step = {
    name: "boil water",
    run: async (_: unknown, report: Report) => {
      report("half way");
      report("the kettle needs descaling", true);
    },
  };
  await runSteps([step], undefined, "/logs", { terminal: out });
  expect(out.lines.at(-1)).toBe("\r\u001b[2K[1/1] boil water: done in 4 s\n      the kettle needs descaling");
});

test("on a terminal a failed step shows all that it said", async () => {
  const out = recorder(40);
  const step = {
    name: "boil water",
    run: async (_: unknown, report: Report) => {
      report("the kettle is on");
      report("the fuse has blown");
      throw new Error("no power");
    },
  };
  await expect(runSteps([step], undefined, "/logs", { terminal: out })).rejects.toThrow(
    "could not boil water: no power",
  );
  expect(out.lines.at(-1)?.replace("\r\u001b[2K", "")).toBe(
    "      the kettle is on\n      the fuse has blown\n[1/1] boil water: failed after 4 s",
  );
});

test("on a terminal it is shown how long the steps probably still take, from what they took before", async () => {
  const out = recorder(80);
  const steps = ["boil water", "make tea"].map((name) => ({ name, run: async () => {} }));
  await runSteps(steps, undefined, "/logs", { terminal: out, durations: { "boil water": 61_000, "make tea": 90_000 } });
  expect(out.lines.map((line) => line.replace("\r\u001b[2K", "|"))).toEqual([
    "|[1/2] boil water, 1 s, about 3 min left",
    "|[1/2] boil water: done in 2 s",
    "|[2/2] make tea, 1 s, about 1 min left",
    "|[2/2] make tea: done in 2 s",
  ]);
});

test("durations are seconds, then minutes and seconds", () => {
  expect([0, 59_400, 75_000].map(duration)).toEqual(["0 s", "59 s", "1 min 15 s"]);
});
