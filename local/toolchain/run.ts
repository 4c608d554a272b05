import { type RunOptions, run as runCommand } from "../instance/command.ts";

/**
 * Runs a program of a build to its end and gives its standard output. It ends with this process, however that ends (util-linux
 * setpriv): a killed run leaves no build behind. Rejects with CommandError.
 * Its output may be of any length, and an error tells the last lines of both outputs.
 * @param options `env` is added to this process's; `background` runs it at the lowest priority that still moves: a long build
 * must not starve the machine
 */
export function run(
  argv: readonly string[],
  {
    env,
    background = false,
    onLine = () => {},
    ...options
  }: Omit<RunOptions, "before"> & { readonly background?: boolean } = {},
): Promise<string> {
  const before = ["setpriv", "--pdeathsig", "TERM", ...(background ? ["nice", "-n", "10"] : [])];
  return runCommand(argv, { ...options, onLine, env: { ...process.env, ...env }, before });
}
