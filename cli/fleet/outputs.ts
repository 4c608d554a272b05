import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { z } from "zod";
import { projectRoot } from "../project.ts";

/** What a stack is asked for. */
export interface Asked {
  /** Default: the selected one. */
  readonly stack: string | undefined;
  /** Default: all outputs. */
  readonly output?: string;
  /** What to do without the stack; default: nothing can be done without it. */
  readonly otherwise?: string;
}

/** Whether Pulumi finds a stack by this name in any folder: `<organization>/<project>/<stack>`. */
const isNamedInFull = (stack = ""): boolean => stack.split("/").length === 3;

/** The outputs of the hub's stack, or one of them. */
export async function stackOutputs({ stack, output, otherwise }: Asked): Promise<unknown> {
  const args = ["stack", "output", "--json", output, ...(stack === undefined ? [] : ["--stack", stack])];
  const given = args.filter((arg) => arg !== undefined);
  const instead = otherwise === undefined ? "" : `, or give ${otherwise}`;
  const cwd = isNamedInFull(stack)
    ? process.cwd()
    : projectRoot(`, or name the hub's stack in full: --stack <organization>/<project>/<stack>${instead}`);
  try {
    const { stdout } = await promisify(execFile)("pulumi", given, { cwd, maxBuffer: 16 << 20 });
    return JSON.parse(stdout);
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    const why = code === "ENOENT" ? "pulumi is not on PATH" : stderr?.trim() || String(error);
    throw new Error(
      `pulumi ${given.join(" ")} failed: ${why}\n` +
        `This command reads the outputs of the hub's stack: log in to its backend and name it with --stack${instead}`,
      { cause: error },
    );
  }
}

/** The outputs about sealing keys: certificates by scope and generation, and each scope's active generation. */
export const sealingOutputs = {
  sealingCertificates: z.record(z.string(), z.record(z.string(), z.string())),
  activeSealingKeys: z.record(z.string(), z.string()),
} as const;

/** The outputs of the hub's stack in a form. @throws Error when they have another one */
export function readOutputs<T>(schema: z.ZodType<T>, outputs: unknown): T {
  const read = schema.safeParse(outputs);
  if (read.success) return read.data;
  throw new Error(
    `the outputs of the hub's stack are not as expected: ${z.prettifyError(read.error)}\n` +
      "Name the hub's stack with --stack, and bring it up to date with pulumi up",
  );
}
