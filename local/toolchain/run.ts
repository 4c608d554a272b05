import { spawn } from "node:child_process";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** Called with every line of stdout and stderr. */
  readonly onLine?: (line: string) => void;
  /** Runs at the lowest priority that still moves: a long build must not starve the machine. */
  readonly background?: boolean;
}

/**
 * Runs a program to its end and returns its stdout.
 * The child ends with this process, however that ends (util-linux setpriv): a killed run leaves no build behind.
 * @throws with the program's last lines if it fails or can't be started.
 */
export function run(argv: readonly string[], options: RunOptions = {}): Promise<string> {
  const nice = options.background ? ["nice", "-n", "10"] : [];
  const [file = "", ...args] = ["setpriv", "--pdeathsig", "TERM", ...nice, ...argv];
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    const tail: string[] = [];
    const lines = (keep: boolean) => {
      let rest = "";
      return (chunk: string) => {
        if (keep) stdout += chunk;
        const parts = (rest + chunk).split("\n");
        rest = parts.pop() ?? "";
        for (const line of parts) {
          options.onLine?.(line);
          tail.push(line);
          if (tail.length > 40) tail.shift();
        }
      };
    };
    child.stdout.setEncoding("utf8").on("data", lines(true));
    child.stderr.setEncoding("utf8").on("data", lines(false));
    child.once("error", (error) => reject(new Error(`${argv[0]} can't be run: ${error.message}`)));
    child.once("close", (code, signal) => {
      if (code === 0) return resolve(stdout);
      const how = signal ? `was ended by ${signal}` : `failed with exit code ${code}`;
      reject(new Error(`${argv.join(" ")} ${how}. Its last lines:\n${tail.join("\n")}`));
    });
  });
}
