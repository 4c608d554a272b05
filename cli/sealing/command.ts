import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { parse } from "yaml";
import { hubName, hubSealingScope } from "../../lib/names.ts";
import { sealingScope } from "../../lib/spoke.ts";
import { certificateProblems, type FleetFacts, fleetFrom, sealingKeyFor, stackHelp } from "../fleet/facts.ts";
import { readLine } from "../line.ts";
import { readSpoke } from "../spoke/sealed-spoke.ts";
import { refuse, together } from "../usage.ts";
import { fromStdin, plainText, sizeProblems } from "./plain-text.ts";
import { seal } from "./seal.ts";
import { checkoutsNear, requestProblems, type SealRequest, typeProblems } from "./seal-rules.ts";

export const summary = "seal a Secret of an application for the cluster that it runs on";

export const help = `Usage: fleet seal --cluster NAME --namespace NAME --name SECRET --from-… [options]

Prints the SealedSecret, or writes it with --output. It is sealed with the active key of the cluster's scope, and opens in this
namespace and under this name alone. The plain text goes from a file or standard input into kubeseal through a pipe. There is no
option for a value itself: a command line is in the shell's history, and other users of the machine see it.

  --cluster NAME         the spoke that opens it, or ${hubName}
  --namespace NAME       the application, which has its namespace's name
  --name SECRET          the Secret's name
  --from-file KEY=PATH   a file is the value of KEY (default: the file's name); may be given more than once
  --from-env-file PATH   a file with lines KEY=VALUE, as kubectl reads it: quotes belong to the value; may be given more than once
  --from-stdin KEY       standard input is the value of KEY; of a single line, without its end
  --type TYPE            the Secret's type; default: Opaque
  --output FILE          write into this file; one with the same SealedSecret is replaced
  --system DIR           a checkout of gitops-system; default: the current folder, or gitops-system in it or beside it
  --workloads DIR        a checkout of gitops-workloads, in which the application is looked up; default: found in the same way
${stackHelp}
kubeseal must be on PATH.

Example:
  fleet seal --cluster green --namespace shop --name database --from-env-file database.env
`;

export const options = {
  cluster: { type: "string" },
  namespace: { type: "string" },
  name: { type: "string" },
  "from-file": { type: "string", multiple: true, default: [] as string[] },
  "from-env-file": { type: "string", multiple: true, default: [] as string[] },
  "from-stdin": { type: "string" },
  type: { type: "string" },
  output: { type: "string" },
  system: { type: "string" },
  workloads: { type: "string" },
  certificate: { type: "string" },
  fleet: { type: "string" },
  stack: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** What the command works with; tests replace it. */
interface World {
  readonly connect: typeof fleetFrom;
  readonly stdin: () => Promise<Uint8Array>;
}

const world: World = { connect: fleetFrom, stdin: () => buffer(process.stdin) };

/** The scope for which secrets of a cluster are sealed. @throws UsageError when the fleet has no such spoke */
async function scopeOf(cluster: string, fleet: FleetFacts, system: string): Promise<string> {
  if (cluster === hubName) return hubSealingScope;
  const { environment, sealing } = await readSpoke("seal", system, fleet.name, cluster, "--cluster");
  return sealingScope({ name: cluster, environment, sealing });
}

/** What a person does with the file. */
function nextOf(output: string): string {
  const list = join(dirname(output), "kustomization.yaml");
  const listed: unknown = existsSync(list) ? parse(readFileSync(list, "utf8"))?.resources : [basename(output)];
  const isListed = Array.isArray(listed) && listed.includes(basename(output));
  return isListed ? "Next: commit and push it." : `Next: name it under resources of ${list}, commit and push both.`;
}

export async function run(argv: readonly string[], { connect, stdin }: World = world): Promise<number> {
  const { values, texts, problems } = readLine("seal", argv, options, {
    required: {
      cluster: `the name of a spoke, or ${hubName}`,
      namespace: "the namespace of an application",
      name: "the name of the Secret",
    },
    files: ["certificate"],
  });
  const { cluster, namespace, name, type, "from-stdin": stdinKey } = values;
  const request: SealRequest = {
    ...{ cluster, namespace, name, type },
    output: values.output === undefined ? undefined : resolve(values.output),
  };
  const checkouts = checkoutsNear(process.cwd(), values);
  const origins = { files: values["from-file"], envFiles: values["from-env-file"], stdin: stdinKey };
  const { plain, problems: unreadable } = plainText(origins);
  const keys = [...plain.keys(), ...(stdinKey === undefined ? [] : [stdinKey])];
  const ofType = unreadable.length > 0 ? [] : typeProblems(request, keys);
  const wrong = [...requestProblems(request, checkouts), ...unreadable, ...ofType];
  refuse("seal", together(problems, [...wrong, ...certificateProblems(texts.certificate)]));
  const fleet = await connect({ ...values, ...texts });
  const key = sealingKeyFor(fleet, await scopeOf(cluster, fleet, checkouts.system ?? ""));
  const complete = new Map(plain);
  if (stdinKey !== undefined) complete.set(stdinKey, fromStdin(await stdin()));
  refuse("seal", sizeProblems(complete));
  if (checkouts.workloads === undefined && cluster !== hubName)
    console.error(
      `Note: it was not checked whether ${cluster} has an application ${namespace}, because here is no checkout of gitops-workloads; name one with --workloads`,
    );
  const sealed = await seal(fleet.kubeseal, key, { namespace, name, type, data: Object.fromEntries(complete) });
  if (request.output === undefined) {
    process.stdout.write(sealed);
    return 0;
  }
  await writeFile(request.output, sealed);
  console.log(`Wrote ${values.output}, sealed for ${key.scope}. ${nextOf(request.output)}`);
  return 0;
}
