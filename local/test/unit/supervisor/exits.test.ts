import { describe, expect, it } from "vitest";
import { afterRun, exitsLine, keepsExiting, noExits, pauseAfter } from "../../../supervisor/exits.ts";

const now = new Date("2026-01-01T00:00:00Z");
const short = (runs: number) =>
  Array.from({ length: runs }, (_, run) => `exit code ${run}`).reduce(
    (exits, how) => afterRun(exits, false, how, now),
    noExits,
  );

describe("a process", () => {
  it("keeps exiting after three short runs in a row", () => {
    expect([0, 1, 2, 3, 4].map((runs) => keepsExiting(short(runs)))).toEqual([false, false, false, true, true]);
    expect(exitsLine(short(3))).toBe("keeps exiting: 3 short runs in a row, the last: exit code 2");
    expect(short(3).lastExit).toEqual({ how: "exit code 2", at: now.toISOString() });
  });

  it("starts from zero after a stable run", () => {
    expect(keepsExiting(afterRun(short(2), true, "signal SIGKILL", now))).toBe(false);
    expect(afterRun(short(9), true, "signal SIGKILL", now).shortRuns).toBe(0);
  });

  it("pauses twice as long after each short run, up to half a minute", () => {
    expect([0, 1, 2, 3, 20].map((runs) => pauseAfter(short(runs)))).toEqual([200, 200, 400, 800, 30_000]);
  });
});
