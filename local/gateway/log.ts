/** Writes one line of the process's log. */
export type Log = (line: string) => void;

/** A log on standard output, each line with its time (the supervisor keeps it in a file). */
export const consoleLog: Log = (line) => console.log(`${new Date().toISOString()} ${line}`);
