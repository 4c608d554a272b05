/** Of a terminal that does not say how wide it is. */
const WIDTH = 80;

/** Where steps are shown. */
export interface Terminal {
  readonly write: (text: string) => void;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  /** Width of a line that can be written over; undefined where lines are kept: in a file, a pipe, a CI log. */
  readonly columns: () => number | undefined;
}

/** The process's standard output. */
export const standardOutput: Terminal = {
  write: (text) => process.stdout.write(text),
  now: () => performance.now(),
  columns: () => {
    const { CI, TERM } = process.env;
    return process.stdout.isTTY && !CI && TERM !== "dumb" ? process.stdout.columns || WIDTH : undefined;
  },
};

/** Shows nothing. */
export const silent: Terminal = { ...standardOutput, write: () => {}, columns: () => undefined };

/** How one step is shown while it runs. */
interface Display {
  /** @param stays on a terminal: it is still to be read when the step has ended */
  readonly detail: (text: string, stays?: boolean) => void;
  /** The step has ended well; gives how long it took, in milliseconds. */
  readonly done: () => number;
  readonly failed: () => void;
}

/** `75_000` ms as `1 min 15 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Back to the start of the line, and clears it (ECMA-48: EL). */
const OVER = "\r\u001b[2K";
/** How often the elapsed time on a terminal is brought up to date. */
const REDRAW_MS = 1000;

const fitted = (text: string, columns: number) =>
  text.length < columns ? text : `${text.slice(0, Math.max(0, columns - 2))}…`;

/** `, about 3 min left`; nothing below a minute, where an estimate is of no use. */
const leftText = (milliseconds: number): string =>
  milliseconds < 60_000 ? "" : `, about ${Math.round(milliseconds / 60_000)} min left`;

/**
 * Shows a step: on a terminal as one line that changes (elapsed time, time left, newest detail), elsewhere as lines that stay.
 * @param left milliseconds that everything probably still takes, given those that the step has run
 */
export function display(
  { write, now, columns }: Terminal,
  label: string,
  name: string,
  left: (elapsed: number) => number = () => 0,
): Display {
  const started = now();
  const details: string[] = [];
  const staying: string[] = [];
  const changes = columns() !== undefined;
  const over = changes ? OVER : "";
  const indented = (detail: string) => `${" ".repeat(label.length)} ${detail}\n`;
  const draw = () => {
    const newest = details.length === 0 ? "" : `: ${details.at(-1)?.trim()}`;
    const elapsed = now() - started;
    const line = `${label} ${name}, ${duration(elapsed)}${leftText(left(elapsed))}${newest}`;
    write(`${over}${fitted(line, columns() ?? WIDTH)}`);
  };
  if (!changes) write(`${label} ${name}\n`);
  else draw();
  const redraw = changes ? setInterval(draw, REDRAW_MS).unref() : undefined;
  const end = (text: string) => {
    clearInterval(redraw);
    write(`${over}${text}`);
  };
  return {
    detail: (text, stays = false) => {
      details.push(text);
      if (stays) staying.push(text);
      if (changes) draw();
      else write(indented(text));
    },
    done: () => {
      const took = now() - started;
      end(`${label} ${name}: done in ${duration(took)}\n${changes ? staying.map(indented).join("") : ""}`);
      return took;
    },
    // On a terminal the details were written over: a person needs them now.
    failed: () =>
      end(
        `${changes ? details.map(indented).join("") : ""}${label} ${name}: failed after ${duration(now() - started)}\n`,
      ),
  };
}
