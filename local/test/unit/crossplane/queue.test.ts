import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Next, WorkQueue } from "../../../work-queue.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function queueOf(work: (key: string) => Promise<Next>, concurrency = 10) {
  const errors: string[] = [];
  const queue = new WorkQueue({ concurrency, work, onError: (key) => void errors.push(key) });
  return { queue, errors };
}

/** A work whose passes end when they are told to. */
function manual() {
  const started: string[] = [];
  const ends = new Map<string, (outcome: Next) => void>();
  const work = (key: string) => {
    started.push(key);
    return new Promise<Next>((resolve) => ends.set(key, resolve));
  };
  const end = async (key: string, outcome: Next) => {
    ends.get(key)?.(outcome);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { started, work, end };
}

describe("the queue", () => {
  test("looks at a key once at a time, and once more when it was asked for meanwhile", async () => {
    const { started, work, end } = manual();
    const { queue } = queueOf(work);
    queue.add("a");
    queue.add("a");
    queue.add("a");
    expect(started).toEqual(["a"]);
    await end("a", "wait");
    expect(started).toEqual(["a", "a"]);
    await end("a", "wait");
    expect(started).toEqual(["a", "a"]);
  });

  test("lets a slow key hold up no other, up to the limit", async () => {
    const { started, work, end } = manual();
    const { queue } = queueOf(work, 2);
    for (const key of ["a", "b", "c"]) queue.add(key);
    expect(started).toEqual(["a", "b"]);
    await end("b", "wait");
    expect(started).toEqual(["a", "b", "c"]);
  });

  test("lets the pause of a failing key grow to a minute, of that key alone, and start again after a success", async () => {
    const times: number[] = [];
    let outcome: Next = "retry";
    const { queue } = queueOf(async () => {
      times.push(Date.now());
      return outcome;
    });
    queue.add("a");
    await vi.advanceTimersByTimeAsync(200_000);
    const pauses = times.slice(1).map((time, i) => time - (times[i] as number));
    expect(pauses.slice(0, 7)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
    outcome = 600_000;
    await vi.advanceTimersByTimeAsync(60_000);
    const before = times.length;
    await vi.advanceTimersByTimeAsync(599_000);
    expect(times.length).toBeLessThanOrEqual(before + 1);
  });

  test("wakes failing keys when something changed that they may wait for, once a second at most", async () => {
    const times: number[] = [];
    const { queue } = queueOf(async () => {
      times.push(Date.now());
      return "retry";
    });
    queue.add("VPC/spokes/a");
    await vi.advanceTimersByTimeAsync(20_000);
    const before = times.length;
    queue.wake((key) => key.includes("/other/"));
    await vi.advanceTimersByTimeAsync(0);
    expect(times).toHaveLength(before);
    queue.wake((key) => key.includes("/spokes/"));
    queue.wake((key) => key.includes("/spokes/"));
    await vi.advanceTimersByTimeAsync(0);
    expect(times).toHaveLength(before + 1);
  });

  test("does not run hot when every pass changes something", async () => {
    let passes = 0;
    const { queue } = queueOf(async () => {
      passes += 1;
      return "again";
    });
    queue.add("a");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(passes).toBeLessThan(12);
  });

  test("counts a pass that throws as failed, and tells", async () => {
    const { queue, errors } = queueOf(() => Promise.reject(new Error("no")));
    queue.add("a");
    await vi.advanceTimersByTimeAsync(1500);
    expect(errors).toEqual(["a", "a"]);
  });

  test("ends when the passes that run have ended, and begins no more", async () => {
    const { started, work, end } = manual();
    const { queue } = queueOf(work);
    queue.add("a");
    let stopped = false;
    const stopping = queue.stop().then(() => {
      stopped = true;
    });
    queue.add("b");
    await vi.advanceTimersByTimeAsync(1000);
    expect(stopped).toBe(false);
    await end("a", "retry");
    await stopping;
    await vi.advanceTimersByTimeAsync(100_000);
    expect(started).toEqual(["a"]);
  });
});
