import { parseArgs } from "node:util";
import { gitMethods } from "./git-method.ts";
import type { UpOptions } from "./up.ts";

const allowed = `allowed are --hub-only (the hub without a spoke) and --git ${gitMethods.join("|")} (how its clusters read Git)`;

/** The flags of `npm start`. Throws with what is allowed. */
export function startOptions(argv: readonly string[]): UpOptions {
  const options = { "hub-only": { type: "boolean", default: false }, git: { type: "string" } } as const;
  let read: ReturnType<typeof parseArgs<{ options: typeof options }>>;
  try {
    read = parseArgs({ args: [...argv], options });
  } catch (error) {
    throw new Error(`${(error as Error).message}: ${allowed}`, { cause: error });
  }
  const { "hub-only": hubOnly, git: named } = read.values;
  const git = gitMethods.find((method) => method === named);
  if (named !== undefined && git === undefined) throw new Error(`unknown argument --git ${named}: ${allowed}`);
  return { hubOnly, git };
}
