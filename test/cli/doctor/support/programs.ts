import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Ended, Run } from "../../../../cli/doctor/process.ts";
import { readStack, type Stack } from "../../../../cli/doctor/stack.ts";
import { root } from "../../support/fleet.ts";

/** What a program prints, by its command line; one that is not named here is not on PATH. */
export const programs =
  (answers: Readonly<Record<string, string | Partial<Ended>>>): Run =>
  async (program, args) => {
    const answer = answers[[program, ...args].join(" ")] ?? answers[program];
    if (answer === undefined) return undefined;
    const ended = typeof answer === "string" ? { stdout: answer } : answer;
    return { code: 0, stdout: "", stderr: "", ...ended };
  };

export const noPrograms: Run = async () => undefined;

/** The stack of stacks/Pulumi.dev.yaml, changed. */
export async function devStack(change: Partial<Stack> = {}): Promise<Stack> {
  const { stack } = await readStack({ root, stack: "dev", configFile: undefined }, noPrograms);
  if (stack === undefined) throw new Error("stacks/Pulumi.dev.yaml can't be read");
  return { ...stack, ...change };
}

/** stacks/Pulumi.dev.yaml with a network of one's own, as an object, to be changed and written elsewhere. */
export function devFile(): { config: Record<string, unknown> } & Record<string, unknown> {
  const { config, ...rest } = parse(readFileSync(join(root, "stacks", "Pulumi.dev.yaml"), "utf8"));
  return { ...rest, config: { ...config, "eks-gitops-fleet:endpointPublicAccessCidrs": ["5.6.7.0/24"] } };
}
