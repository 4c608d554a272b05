import { relative, resolve } from "node:path";
import { certificateProblems, fleetFrom, sourceHelp, sourceOptions } from "../fleet/facts.ts";
import { readLine } from "../line.ts";
import { ownSealingKeys } from "../spoke/keys.ts";
import { together } from "../usage.ts";

export const summary = "let a spoke read sealing keys of its own, in every generation that the hub's stack has";

export const help = `Usage: fleet sealing-keys <spoke> [options]

Sets sealing: cluster in spokes/<fleet>/<spoke>/spoke.yaml of a checkout of gitops-system and writes the folder sealing-keys
beside it, one file for each generation of scope cluster-<spoke> in sealingKeys of the hub's stack. Run it again after you add
a generation there.
The order of the steps for a spoke that moves from its environment's keys to its own: docs/guides/secrets.md#keys-of-a-spoke.

${sourceHelp}

Example:
  fleet sealing-keys green
`;

export const options = { ...sourceOptions, help: { type: "boolean", short: "h" } } as const;

/** What comes after the push of a spoke's sealing keys; `moved`: it had those of its environment before. */
export const afterPush = (name: string, moved: boolean): string =>
  moved
    ? `Push this by itself. When the Spoke is Ready, seal again what is sealed for the spoke: fleet reseal ${name} --deploy-keys fleet
(or fleet rotate-deploy-key ${name} --new, for deploy keys of its own), and its applications' secrets (docs/guides/secrets.md#keys-of-a-spoke).`
    : "Secrets are sealed with the stack's active generation from now on.";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, args, texts, problems } = readLine("sealing-keys", argv, options, {
    arguments: ["spoke"],
    files: ["certificate"],
  });
  const name = args.spoke;
  const checkout = resolve(values.repository ?? ".");
  const { folder, moved } = await ownSealingKeys(
    checkout,
    name,
    () => fleetFrom({ ...values, ...texts }),
    together(problems, certificateProblems(texts.certificate)),
  );
  console.log(`${folder} is up to date with the hub's stack. Next, in ${checkout}:
  git add --all ${relative(checkout, folder)} && git commit -m "Sealing keys of spoke ${name}" && git push
${afterPush(name, moved)}`);
  return 0;
}
