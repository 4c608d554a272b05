/**
 * Kills a process, hard.
 * @throws when there is none, where `process.kill(0)` would kill the tests themselves
 */
export function killHard(pid: number | undefined): void {
  if (pid === undefined || pid <= 0) throw new Error(`no process to kill: its ID is ${pid}`);
  process.kill(pid, "SIGKILL");
}
