/** Maintenance windows: times of the week, by the clock of a time zone. */

export const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;
type Weekday = (typeof weekdays)[number];

export interface Window {
  /** Days on which it opens. */
  readonly days: readonly Weekday[];
  /** Minutes after midnight, up to 24 hours. */
  readonly from: number;
  /** Likewise; on the next day when it is before `from`. */
  readonly to: number;
  readonly timeZone: string;
}

const minute = 60_000;
const day = 24 * 60 * minute;

/** Whether there is a time zone of this name. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Minutes after midnight of a time such as `08:00`, up to `24:00`; undefined for any other text. */
export function timeOfDay(text: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-4]):([0-5]\d)$/.exec(text) ?? [];
  const time = Number(hours) * 60 + Number(minutes);
  return time <= 24 * 60 ? time : undefined; // not for NaN either
}

const two = (value: number): string => String(value).padStart(2, "0");
const written = (time: number): string => `${two(Math.floor(time / 60))}:${two(time % 60)}`;

/** What a clock in the time zone shows, as the instant at which a clock in UTC shows the same. */
function clock(instant: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric" },
    ...{ hour: "numeric", minute: "numeric", second: "numeric" },
  });
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** When a clock in the time zone shows a time; the offset is looked up twice, because it may change in between. */
function instantOf(shown: number, timeZone: string): number {
  const near = shown - (clock(shown, timeZone) - shown);
  return shown - (clock(near, timeZone) - near);
}

const hasDay = ({ days }: Window, shown: number): boolean =>
  days.includes(weekdays[new Date(shown).getUTCDay()] as Weekday);

function isInside(window: Window, now: number): boolean {
  const { from, to, timeZone } = window;
  const shown = clock(now, timeZone);
  const time = (shown % day) / minute;
  if (from < to) return hasDay(window, shown) && time >= from && time < to;
  return (hasDay(window, shown) && time >= from) || (hasDay(window, shown - day) && time < to);
}

/** Whether one of the windows is open; without any it always is. */
export const isOpen = (windows: readonly Window[], now: number): boolean =>
  windows.length === 0 || windows.some((window) => isInside(window, now));

/** When the next window opens, for people: `Mon 08:00 Europe/Berlin`. */
export function nextOpening(windows: readonly Window[], now: number): string | undefined {
  const openings = windows.flatMap((window) => {
    const shown = clock(now, window.timeZone);
    const midnight = shown - (shown % day);
    return [0, 1, 2, 3, 4, 5, 6, 7].flatMap((ahead) => {
      const date = midnight + ahead * day;
      const at = instantOf(date + window.from * minute, window.timeZone);
      if (!hasDay(window, date) || at <= now) return [];
      return [{ at, text: `${weekdays[new Date(date).getUTCDay()]} ${written(window.from)} ${window.timeZone}` }];
    });
  });
  return openings.sort((one, other) => one.at - other.at)[0]?.text;
}
