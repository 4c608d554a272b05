/** One line of progress: elapsed time, part n of m, what, and how far. */
export interface Progress {
  readonly elapsedMs: number;
  readonly part: number;
  readonly parts: number;
  readonly what: string;
  readonly detail: string;
}

/** `[ 3:07] toolchain 2/7 Go programs: 1234 of 5405 packages`. */
export function progressLine(progress: Progress): string {
  const { part, parts, what, detail } = progress;
  return `[${clock(progress.elapsedMs)}] toolchain ${part}/${parts} ${what}${detail === "" ? "" : `: ${detail}`}`;
}

/** Minutes and seconds, as on a clock. */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Tells a person what runs: the start and end of every part, and how far a long one is every `everyMs`. */
export class Reporter {
  readonly #write: (line: string) => void;
  readonly #parts: number;
  readonly #everyMs: number;
  readonly #started = Date.now();
  #part = 0;

  constructor(parts: number, write: (line: string) => void, everyMs = 15_000) {
    this.#parts = parts;
    this.#write = write;
    this.#everyMs = everyMs;
  }

  /** Runs one part. `run` gets a function to say how far it is; the newest saying is written every `everyMs`. */
  async part<T>(what: string, run: (say: (detail: string) => void) => Promise<T>): Promise<T> {
    const part = ++this.#part;
    const line = (detail: string) =>
      this.#write(progressLine({ elapsedMs: Date.now() - this.#started, part, parts: this.#parts, what, detail }));
    let newest = "started";
    let written = "";
    const tick = setInterval(() => {
      if (newest !== written) line(newest);
      written = newest;
    }, this.#everyMs);
    try {
      const result = await run((detail) => {
        newest = detail;
      });
      line("ready");
      return result;
    } finally {
      clearInterval(tick);
    }
  }
}
