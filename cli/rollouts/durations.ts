const second = 1000;
const minute = 60 * second;
export const hour = 60 * minute;

/** A duration in whole hours, minutes and seconds, as Go writes it (`24h`, `1h30m`), in milliseconds; undefined for any other text. */
export function duration(text: string): number | undefined {
  const read = /^(?=.)(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/.exec(text);
  if (read === null) return undefined;
  const [hours, minutes, seconds] = read.slice(1).map((digits = "0") => Number(digits)) as [number, number, number];
  return hours * hour + minutes * minute + seconds * second;
}

/** A duration for people: `24h`, `1h30m`, `5m`, `20s`; seconds only below a minute. */
export function inWords(ms: number): string {
  if (ms < minute) return `${Math.floor(Math.max(ms, 0) / second)}s`;
  const hours = Math.floor(ms / hour);
  const minutes = Math.floor((ms % hour) / minute);
  return `${hours > 0 ? `${hours}h` : ""}${minutes > 0 ? `${minutes}m` : ""}`;
}
