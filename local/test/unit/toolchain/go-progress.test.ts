import { describe, expect, it } from "vitest";
import { GoProgress, type Work } from "../../../toolchain/go-progress.ts";

const MINUTE = 60_000;
const work = [
  { id: "small", weight: 10 },
  { id: "large", weight: 70 },
  { id: "program", weight: 20 },
];

interface Line {
  readonly seconds: number;
  readonly text: string;
  /** The shown time left, in minutes: from, to. */
  readonly left: readonly [number, number] | undefined;
}

/** What a build shows, given how much of a thousand was done after each step of so many seconds. */
function shown(done: readonly number[], step: number): Line[] {
  let now = 0;
  const parts = done.map((share, index): Work => ({ id: `${index}`, weight: share - (done[index - 1] ?? 0) }));
  const rest = { id: "rest", weight: 1000 - (done.at(-1) ?? 0) };
  const progress = new GoProgress([...parts, ...(rest.weight > 0 ? [rest] : [])], () => now);
  return parts.map(({ id }, index) => {
    now = (index + 1) * step * 1000;
    progress.done(id);
    const text = progress.describe();
    const [, from, to = from] = /(\d+)(?: to (\d+))? min left$/.exec(text) ?? [];
    return { seconds: now / 1000, text, left: from === undefined ? undefined : [Number(from), Number(to)] };
  });
}

/** Seconds for which each estimate was shown without a pause. */
function periods(lines: readonly Line[]): number[] {
  const found: { estimate: string; from: number; to: number }[] = [];
  for (const { seconds, text, left } of lines) {
    const estimate = left === undefined ? "" : text.slice(text.indexOf(","));
    const last = found.at(-1);
    if (last?.estimate === estimate) last.to = seconds;
    else found.push({ estimate, from: seconds, to: seconds });
  }
  return found.filter(({ estimate }) => estimate !== "").map(({ from, to }) => to - from);
}

describe("GoProgress", () => {
  it("weighs what is done by what it costs, and estimates the rest by the speed so far", () => {
    let now = 0;
    const progress = new GoProgress(work, () => now);
    expect(progress.describe()).toBe("0 % compiled");
    now = MINUTE;
    progress.done("small");
    expect(progress.describe()).toBe("10 % compiled, about 9 min left");
    now = 8 * MINUTE;
    progress.done("large");
    expect(progress.describe()).toBe("80 % compiled, about 2 min left");
  });

  it("counts what an earlier run did as done, but not as this machine's speed", () => {
    let now = 0;
    const progress = new GoProgress(work, () => now);
    progress.done("large", "before");
    expect(progress.describe()).toBe("70 % compiled");
    now = MINUTE;
    progress.done("small");
    expect(progress.describe()).toBe("80 % compiled, about 2 min left");
  });

  it("counts what two groups need once", () => {
    let now = 0;
    const progress = new GoProgress([...work, { id: "large", weight: 70 }], () => now);
    now = 7 * MINUTE;
    progress.done("large");
    progress.done("large");
    progress.done("of no group");
    expect(progress.describe()).toBe("70 % compiled, about 3 min left");
  });

  it("shows no time before the speed is known", () => {
    const progress = new GoProgress([...work, { id: "tiny", weight: 1 }], () => MINUTE);
    progress.done("tiny");
    expect(progress.describe()).toBe("0 % compiled");
  });

  it("shows a range while the machine is slower than on average, and no time while it is much slower", () => {
    const steady = Array.from({ length: 20 }, (_, index) => 20 * (index + 1));
    const then = (parts: number, each: number) =>
      steady.concat(Array.from({ length: parts }, (_, index) => 400 + each * (index + 1)));
    expect(shown(then(9, 8), 10).at(-1)?.text).toBe("47 % compiled, 5 to 8 min left");
    expect(shown(then(15, 0.5), 10).at(-1)?.text).toBe("40 % compiled");
  });
});

// The four groups, from an empty build cache: what was done of the weight, in thousandths.
describe("the estimate of a recorded build", () => {
  /** Every 10 s, on two idle processors: in the order and with the CPU times of `go build -debug-actiongraph`. */
  const idle = [
    42, 67, 96, 129, 168, 200, 232, 251, 280, 303, 337, 364, 397, 412, 434, 466, 499, 525, 543, 570, 594, 626, 652, 687,
    714, 748, 777, 814, 855, 881, 902, 934, 961, 992, 1000,
  ];
  /** Every 30 s, as it ran at the lowest priority beside up to 20 other processes. */
  const busy = [
    25, 48, 59, 76, 92, 112, 136, 164, 201, 229, 241, 250, 263, 277, 288, 296, 312, 330, 342, 354, 361, 371, 389, 397,
    400, 404, 417, 437, 456, 464, 483, 493, 504, 511, 515, 520, 530, 540, 553, 566, 574, 590, 603, 618, 657, 682, 707,
    740, 782, 821, 849, 871, 941, 963, 1000,
  ];

  it("is right to the minute on an idle machine", () => {
    const lines = shown(idle, 10);
    const wrong = lines.filter(({ seconds, left: [from, to] = [0, 9] }) => {
      const minutes = (idle.length * 10 - seconds) / 60;
      return minutes < from - 1 || minutes > to + 1;
    });
    expect(wrong).toEqual([]);
    expect(lines.filter(({ left }) => left === undefined).length).toBeLessThan(4);
  });

  it.each([
    ["idle", idle, 10],
    ["busy", busy, 30],
  ] as const)("is not the same for minutes on a machine that is %s", (_, done, step) => {
    expect(Math.max(...periods(shown(done, step)))).toBeLessThanOrEqual(90);
  });
});
