import { relative, resolve } from "node:path";
import { columns } from "../columns.ts";
import { stackOutputs } from "../fleet/outputs.ts";
import { readLine } from "../line.ts";
import { forProgram, type Output, outputHelp, outputOption, outputs } from "../output.ts";
import { folderProblems, refuse, together } from "../usage.ts";
import { fingerprintOf, isNextFile, ownerOf } from "./deploy-key-notes.ts";
import { type Generation, generationsOf } from "./generations.ts";
import { type Sealed, sealedIn } from "./sealed-secrets.ts";

export const summary =
  "show the sealing keys and the deploy keys of a fleet, and what in Git is sealed with or of each";

export const help = `Usage: fleet keys [--repository DIR]... [--stack NAME] [-o text|json|yaml]

Shows each generation of each scope's sealing key: when it was made and ends, whether the commands seal with it, and how many of
the SealedSecrets in the checkouts are sealed with it. What the fleet's commands seal says so in its annotations
fleet.internal/sealed-for (the scope) and fleet.internal/sealed-with (the SHA-256 of the certificate). Of what was sealed in
another way nobody but the controller on a cluster can tell. Then the deploy keys that these SealedSecrets note, each with its
fingerprint at the Git host, when it was made, and whether fleet rotate-deploy-key has still something to do with it.

  --repository DIR       a checkout in which SealedSecrets are counted: gitops-system, gitops-workloads and the applications'
                         repositories; may be given more than once; default: the current folder
  --stack NAME           Pulumi stack of the hub; default: the selected one
${outputHelp}; json and yaml name the files

Example:
  fleet keys --repository ../gitops-system --repository ../gitops-workloads --stack pilot
`;

export const options = {
  repository: { type: "string", multiple: true },
  stack: { type: "string" },
  output: outputOption,
  help: { type: "boolean", short: "h" },
} as const;

export const choices = { output: outputs };

interface Row extends Omit<Generation, "certificate"> {
  readonly sealed: readonly Sealed[];
}

/** A deploy key that SealedSecrets note. */
interface DeployRow {
  readonly publicKey: string;
  readonly fingerprint: string;
  /** A day; undefined for the fleet's own. */
  readonly made: string | undefined;
  readonly state: "in use" | "not used yet" | "former one to be removed";
  readonly sealed: readonly Sealed[];
}

interface Overview {
  readonly rows: readonly Row[];
  readonly deployKeys: readonly DeployRow[];
  /** Sealed with a certificate that the stack does not have. */
  readonly lost: readonly Sealed[];
  /** Do not say what they are sealed with. */
  readonly unknown: readonly Sealed[];
}

function stateOf({ file, deployKey }: Sealed): DeployRow["state"] {
  if (isNextFile(file)) return "not used yet";
  return deployKey?.former === undefined ? "in use" : "former one to be removed";
}

export function deployRows(sealed: readonly Sealed[]): DeployRow[] {
  const noted = sealed.filter(({ deployKey }) => deployKey !== undefined);
  const byKey = Map.groupBy(noted, (each) => `${each.deployKey?.publicKey} ${stateOf(each)}`);
  return [...byKey.values()].flatMap((group) => {
    const [first] = group;
    if (first?.deployKey === undefined) return [];
    const { publicKey, made } = first.deployKey;
    return [{ publicKey, fingerprint: fingerprintOf(publicKey), made, state: stateOf(first), sealed: group }];
  });
}

function overview(generations: readonly Generation[], sealed: readonly Sealed[]): Overview {
  const known = new Set(generations.map(({ fingerprint }) => fingerprint));
  return {
    rows: generations.map(({ certificate: _, ...generation }) => ({
      ...generation,
      sealed: sealed.filter(({ certificate }) => certificate === generation.fingerprint),
    })),
    deployKeys: deployRows(sealed),
    lost: sealed.filter(({ certificate }) => certificate !== undefined && !known.has(certificate)),
    unknown: sealed.filter(({ certificate }) => certificate === undefined),
  };
}

const DAY = 86_400_000;
const day = (date: Date): string => date.toISOString().slice(0, 10);
const count = (sealed: readonly unknown[]): string =>
  sealed.length === 1 ? "1 SealedSecret" : `${sealed.length} SealedSecrets`;

/** Files of SealedSecrets as a person finds them from the current folder. */
export const filesOf = (sealed: readonly Sealed[]): string[] =>
  [...new Set(sealed.map(({ file }) => relative(process.cwd(), file)))].sort();

/** A day with the age of what was made on it. */
const aged = (made: Date, now: Date): string =>
  `${day(made)} (${Math.floor((now.getTime() - made.getTime()) / DAY)} days)`;

function deployTable(keys: readonly DeployRow[], now: Date): string[] {
  if (keys.length === 0) return [];
  const cells = keys.map(({ publicKey, made, sealed, state, fingerprint }) => [
    made === undefined ? "(the fleet's)" : ownerOf(publicKey),
    made === undefined ? "" : aged(new Date(made), now),
    String(sealed.length),
    state,
    fingerprint,
  ]);
  const sorted = cells.sort(([a = ""], [b = ""]) => a.localeCompare(b));
  return ["", ...columns([["DEPLOY KEY", "MADE", "SEALED", "STATE", "KEY"], ...sorted])];
}

function text({ rows, deployKeys, lost, unknown }: Overview, now: Date): string {
  const cells = rows.map(({ scope, generation, isActive, made, expires, sealed, fingerprint }) => [
    scope,
    generation,
    isActive ? "yes" : "no",
    aged(made, now),
    expires < now ? `${day(expires)}, ended` : day(expires),
    String(sealed.length),
    fingerprint.slice(0, 12),
  ]);
  const notes = [
    ...(lost.length === 0
      ? []
      : [
          `${count(lost)} sealed with a key that this stack does not have, so no cluster of the fleet opens them:`,
          ...filesOf(lost).map((file) => `  ${file}`),
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `${count(unknown)} without a note of what they are sealed with (-o json names them); fleet rotate-key <scope> --context NAME finds out`,
        ]),
  ];
  const table = columns([["SCOPE", "GENERATION", "SEALS", "MADE", "ENDS", "SEALED", "KEY"], ...cells]);
  return [...table, ...deployTable(deployKeys, now), ...(notes.length > 0 ? ["", ...notes] : [])].join("\n");
}

/** What `-o json` and `-o yaml` write. */
const data = ({ rows, deployKeys, lost, unknown }: Overview): object => ({
  generations: rows.map(({ isActive, sealed, ...row }) => ({ ...row, seals: isActive, sealed })),
  deployKeys,
  lost,
  unknown,
});

/** @param ask asks the stack; its error says what to do */
export async function run(
  argv: readonly string[],
  ask: typeof stackOutputs = stackOutputs,
  now = new Date(),
): Promise<number> {
  const { values, problems } = readLine("keys", argv, options, { choices });
  const checkouts = values.repository ?? ["."];
  const missing = checkouts.flatMap((path) => folderProblems("--repository", path, "the folder of a checkout"));
  refuse("keys", together(problems, missing));
  const generations = generationsOf(await ask({ stack: values.stack }));
  const found = overview(generations, sealedIn(checkouts.map((path) => resolve(path))));
  const output = values.output as Output;
  console.log(output === "text" ? text(found, now) : forProgram(data(found), output).trimEnd());
  return 0;
}
