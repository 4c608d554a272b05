import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";

/** What a stack is asked for. */
export interface Asked {
  /** Default: the selected one. */
  readonly stack: string | undefined;
  /** Default: all outputs. */
  readonly output?: string;
  /** What to do without the stack. */
  readonly otherwise: string;
}

/** The outputs of the hub's stack, or one of them. */
export async function stackOutputs({ stack, output, otherwise }: Asked): Promise<unknown> {
  const args = ["stack", "output", "--json", output, ...(stack === undefined ? [] : ["--stack", stack])];
  const given = args.filter((arg) => arg !== undefined);
  try {
    const { stdout } = await promisify(execFile)("pulumi", given, {
      cwd: dirname(dirname(import.meta.dirname)),
      maxBuffer: 16 << 20,
    });
    return JSON.parse(stdout);
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    const why = code === "ENOENT" ? "pulumi is not on PATH" : stderr?.trim() || String(error);
    throw new Error(
      `pulumi ${given.join(" ")} failed: ${why}\n` +
        `This command reads the outputs of the hub's stack: log in to its backend and name it with --stack, or give ${otherwise}`,
      { cause: error },
    );
  }
}
