import { describe, expect, test } from "vitest";
import { duration, inWords } from "../../../cli/rollouts/durations.ts";
import { isOpen, nextOpening, timeOfDay, type Window, weekdays } from "../../../cli/rollouts/windows.ts";

/** A window as the file would have it. */
function window(days: string, from: string, to: string, timeZone: string): Window {
  const times = { from: timeOfDay(from) as number, to: timeOfDay(to) as number };
  return { days: weekdays.filter((day) => days.includes(day)), ...times, timeZone };
}
const open = (window: Window, time: string) => isOpen([window], Date.parse(time));
const next = (time: string, ...windows: readonly Window[]) => nextOpening(windows, Date.parse(time));

const office = window("Mon Tue Wed Thu", "08:00", "16:00", "Europe/Berlin");

describe("a window", () => {
  test("is open from its first minute to before its last, by the clock of its time zone", () => {
    // A Monday in winter: Berlin is an hour ahead of UTC.
    expect(open(office, "2026-11-23T06:59:59Z")).toBe(false);
    expect(open(office, "2026-11-23T07:00:00Z")).toBe(true);
    expect(open(office, "2026-11-23T14:59:59Z")).toBe(true);
    expect(open(office, "2026-11-23T15:00:00Z")).toBe(false);
    expect(open(office, "2026-11-27T10:00:00Z")).toBe(false);
  });

  test("moves with daylight saving time", () => {
    // A Monday in summer: two hours ahead.
    expect(open(office, "2026-07-06T06:00:00Z")).toBe(true);
    expect(open(office, "2026-07-06T14:00:00Z")).toBe(false);
  });

  test("belongs to the day of its time zone", () => {
    const sydney = window("Mon", "08:00", "10:00", "Australia/Sydney");
    expect(open(sydney, "2026-11-22T21:30:00Z")).toBe(true);
    expect(open(sydney, "2026-11-23T21:30:00Z")).toBe(false);
  });

  test("that ends before it begins goes over midnight, and its day is the one on which it opens", () => {
    const night = window("Sat", "22:00", "04:00", "UTC");
    expect(open(night, "2026-11-28T21:59:00Z")).toBe(false);
    expect(open(night, "2026-11-28T22:00:00Z")).toBe(true);
    expect(open(night, "2026-11-29T03:59:00Z")).toBe(true);
    expect(open(night, "2026-11-29T04:00:00Z")).toBe(false);
    expect(open(night, "2026-11-28T03:00:00Z")).toBe(false);
  });

  test("to 24:00 lasts until the day ends", () => {
    const day = window("Sat", "00:00", "24:00", "UTC");
    expect(open(day, "2026-11-28T00:00:00Z")).toBe(true);
    expect(open(day, "2026-11-28T23:59:59Z")).toBe(true);
    expect(open(day, "2026-11-29T00:00:00Z")).toBe(false);
  });

  test("in an hour that the clock leaves out opens when the hour is over", () => {
    // Berlin goes from 02:00 to 03:00 on 2026-03-29, at 01:00 UTC.
    const sunday = window("Sun", "02:30", "05:00", "Europe/Berlin");
    expect(open(sunday, "2026-03-29T00:59:59Z")).toBe(false);
    expect(open(sunday, "2026-03-29T01:00:00Z")).toBe(true);
  });

  test("in an hour that the clock shows twice is open both times", () => {
    // Berlin goes from 03:00 back to 02:00 on 2026-10-25, at 01:00 UTC.
    const sunday = window("Sun", "02:00", "03:00", "Europe/Berlin");
    const times = ["2026-10-24T23:59:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z"];
    expect(times.map((time) => open(sunday, time))).toEqual([false, true, true, false]);
  });
});

test("without windows it is always open, with several whenever one is", () => {
  expect(isOpen([], 0)).toBe(true);
  const night = window("Fri", "20:00", "22:00", "UTC");
  expect(isOpen([office, night], Date.parse("2026-11-27T21:00:00Z"))).toBe(true);
});

describe("the next opening", () => {
  test("is told by day, time and time zone", () => {
    expect(next("2026-11-23T05:00:00Z", office)).toBe("Mon 08:00 Europe/Berlin");
    expect(next("2026-11-23T16:00:00Z", office)).toBe("Tue 08:00 Europe/Berlin");
    expect(next("2026-11-26T16:00:00Z", office)).toBe("Mon 08:00 Europe/Berlin");
  });

  test("may be on the same day of the next week", () => {
    expect(next("2026-11-23T16:00:00Z", window("Mon", "08:00", "16:00", "UTC"))).toBe("Mon 08:00 UTC");
  });

  test("is that of the window that opens first, in whatever time zone", () => {
    const tokyo = window("Tue", "08:00", "09:00", "Asia/Tokyo"); // 23:00 UTC on Monday
    const london = window("Tue", "00:30", "09:00", "Europe/London");
    expect(next("2026-11-23T16:00:00Z", london, tokyo)).toBe("Tue 08:00 Asia/Tokyo");
  });

  test("is right on the day on which the clock changes", () => {
    const berlin = window("Sun", "04:00", "05:00", "Europe/Berlin"); // 02:00 UTC on 2026-03-29
    const utc = window("Sun", "02:30", "05:00", "UTC");
    expect(next("2026-03-28T12:00:00Z", utc, berlin)).toBe("Sun 04:00 Europe/Berlin");
  });
});

describe("a duration", () => {
  test.each([
    ["30m", 30 * 60_000],
    ["1h30m", 90 * 60_000],
    ["24h", 24 * 3_600_000],
    ["20s", 20_000],
    ["0s", 0],
    ["90m", 90 * 60_000],
  ])("%s is read", (text, ms) => expect(duration(text)).toBe(ms));

  test.each(["", "24", "1d", "30m1h", "-1h", "1.5h", "1 h"])("%j is none", (text) =>
    expect(duration(text)).toBeUndefined(),
  );

  test.each([
    [24 * 3_600_000, "24h"],
    [90 * 60_000 + 59_000, "1h30m"],
    [59_999, "59s"],
    [-5, "0s"],
  ])("of %i ms is told as %s", (ms, text) => expect(inWords(ms)).toBe(text));
});
