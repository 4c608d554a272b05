import { existsSync, writeFileSync } from "node:fs";
import { kubeconfig, withProfile } from "../../lib/kubeconfig.ts";
import type { Problem } from "../../lib/problems.ts";
import { type Connect, connect } from "../kubernetes/connect.ts";
import { readLine } from "../line.ts";
import { refuse, together } from "../usage.ts";

export const summary = "print a kubeconfig for a spoke";

export const help = `Usage: fleet kubeconfig <spoke> [--output FILE] [--context NAME]

Prints a kubeconfig with one context for a spoke, named like its EKS cluster. It holds no credential: at each use
\`aws eks get-token\` makes a token with the credentials that the AWS CLI takes, or with the profile of the hub's context. It reads
the hub, and changes no kubeconfig.

  --output FILE          writes it into a new file that only you can read
  --context NAME         the hub's context in the kubeconfig; default: the current one

Exit code 0: done; 1: the hub can't be read; 2: it was called wrongly, there is no such spoke, or it has no API server yet.

Example:
  fleet kubeconfig green --output green.yaml
`;

export const options = {
  output: { type: "string" },
  context: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** The problem of a file that is there: it might be a kubeconfig with other clusters. */
const fileProblems = (file: string | undefined): Problem[] =>
  file === undefined || !existsSync(file)
    ? []
    : [
        {
          ...{ key: "--output", what: "names a file that exists already", got: file, allowed: "a new file" },
          remedy: "name another one, or remove it first",
        },
      ];

export async function run(argv: readonly string[], its: { readonly connect: Connect } = { connect }): Promise<number> {
  const { values, args, problems } = readLine("kubeconfig", argv, options, { arguments: ["spoke"] });
  const { output } = values;
  refuse("kubeconfig", together(problems, fileProblems(output)));
  const { hub, profile } = await its.connect(values.context);
  const { findSpoke, requireAccess } = await import("../kubernetes/spokes.ts");
  const access = await requireAccess(hub, await findSpoke(hub, args.spoke));
  const text = profile === undefined ? kubeconfig(access) : withProfile(kubeconfig(access), profile);
  if (output === undefined) process.stdout.write(`${text}\n`);
  else {
    writeFileSync(output, `${text}\n`, { mode: 0o600, flag: "wx" });
    console.log(`${output}: the context ${access.name}`);
  }
  return 0;
}
