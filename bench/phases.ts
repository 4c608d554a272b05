/** A phase of a command with its time, as the command prints it. */
export interface Phase {
  readonly name: string;
  readonly time: string;
}

/** A step of `npm start`: `[ 9/21] bring up the hub: done in 50 s`. */
const STEP = /^\[ ?\d+\/\d+\] (.+): done in (.+)$/;
/** A part of the toolchain that is ready: `        [ 8:05] toolchain 2/7 Go programs (main): ready`, by the time since its start. */
const TOOLCHAIN = /^\s+\[ ?(\d+:\d\d)\] (toolchain \d+\/\d+ .+): ready$/;
/** A part of `npm test`: `unit  passed  57 s  7780 passed`. */
const PART = /^([a-z0-9]+)\s+(passed|FAILED|interrupted)\s+(\d.*? s)(?:\s|$)/;

/** The phase that ended with a line of output; undefined for any other line. */
export function phaseOf(line: string): Phase | undefined {
  const [, step, took] = STEP.exec(line) ?? [];
  if (step !== undefined && took !== undefined) return { name: step, time: took };
  const [, clock, part] = TOOLCHAIN.exec(line) ?? [];
  if (part !== undefined && clock !== undefined) return { name: part, time: `until ${clock}` };
  const [, name, result, time] = PART.exec(line) ?? [];
  return name === undefined || time === undefined ? undefined : { name: `${name} (${result})`, time };
}
