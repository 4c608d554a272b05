import { resolve } from "node:path";
import { readLine } from "../line.ts";
import { kustomize } from "../render/kustomize.ts";
import { folderProblems, refuse, together, UsageError } from "../usage.ts";
import { blastRadius } from "./blast-radius.ts";
import { helmProgram } from "./charts.ts";
import { readHubData, readRecorded } from "./facts.ts";
import { markdown, terminalText } from "./markdown.ts";
import { previewProblems, readPreview } from "./preview.ts";
import type { Report } from "./report.ts";

export const summary = "show what a change does to every cluster and stack, after rendering";

export const help = `Usage: fleet diff <base> <head> [options]

Renders two states of the repositories for the hub, for every spoke and for one sample spoke of each environment: kustomize,
Flux's substitution, helm template, and what the composition function of each state makes of every Spoke. Then shows what
differs, for a person or as one comment for a pull request, with the changes of Spokes that the API server would refuse, and
what the change does to the list price of each spoke (fleet costs says what is in it).

<base> and <head> are Git revisions, or folders (write ./name where both would fit). They hold the project (repos/ and
functions/spoke), the checkouts of the repositories side by side, or one of the repositories alone.
With origin/main ahead of a branch, take as base $(git merge-base origin/main HEAD).

  --fleet NAME          the fleet whose clusters are compared, where gitops-system has several (default: that of --bridge)
  --repos DIR           where one repository is compared: folder with the checkouts of the others
  --preview STACK=FILE  what pulumi preview --json --stack STACK wrote; may be given more than once
  --bridge FILE         facts about the hub: pulumi stack output --json bridgeData (default: what fleet facts
                        recorded, of <base> first, or else samples)
  --observed DIR        recorded state of spokes, <spoke>.yaml: kubectl -n spokes get managed,configmaps,kustomizations
                        -l fleet.internal/cluster=<spoke> -o yaml (default: AWS as it answers when all goes well)
  --charts DIR          folder with charts as <name>-<version>.tgz (default: where the HelmRepositories are)
  --new-repositories    let helm fetch charts from HelmRepositories that <base> does not name
  --format              text (default on a terminal), markdown: one comment of a pull request (default elsewhere), or
                        json: everything, uncut
  --fail-on-refused     exit code 1 when the API server will refuse the change or the removal of a Spoke, or when the
                        Composition has not its Kubernetes version; the comment is written in any case

kustomize is the program that FLEET_KUSTOMIZE names, or else kustomize or kubectl on PATH; helm is taken from PATH, and without
it releases are compared by their values. It runs the composition function of both states: as with tests, run it only where
you would run the code of the change.
Exit code 0: compared, whether or not something changes; 1: only with --fail-on-refused; 2: it could not run.

Example:
  fleet diff origin/main HEAD --repos ..
`;

export const options = {
  fleet: { type: "string" },
  repos: { type: "string" },
  preview: { type: "string", multiple: true, default: [] as string[] },
  bridge: { type: "string" },
  observed: { type: "string" },
  charts: { type: "string" },
  "new-repositories": { type: "boolean", default: false },
  format: { type: "string" },
  "fail-on-refused": { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

const forms = {
  text: terminalText,
  markdown: (report: Report) => markdown(report),
  json: (report: Report) => `${JSON.stringify(report, null, 2)}\n`,
};

export const choices = { format: Object.keys(forms) };

/** The programs of this machine that it runs. */
const programs = { kustomize, helmProgram };

export async function run(argv: readonly string[], { kustomize, helmProgram } = programs): Promise<number> {
  const { values, args, problems } = readLine("diff", argv, options, {
    arguments: ["base", "head"],
    files: ["bridge"],
    choices,
  });
  const { base, head } = args;
  refuse(
    "diff",
    together(problems, [
      ...folderProblems("--repos", values.repos, "a folder with the checkouts of the other repositories"),
      ...folderProblems("--observed", values.observed, "a folder with <spoke>.yaml for each recorded spoke"),
      ...folderProblems("--charts", values.charts, "a folder with charts as <name>-<version>.tgz"),
      ...values.preview.flatMap(previewProblems),
    ]),
  );
  const format = (values.format ?? (process.stdout.isTTY ? "text" : "markdown")) as keyof typeof forms;
  const stacks = values.preview.map(readPreview);
  try {
    const report = await blastRadius({
      ...{ base, head, cwd: process.cwd(), build: kustomize(), stacks, recorded: readRecorded(values.observed) },
      ...(values.fleet === undefined ? {} : { fleet: values.fleet }),
      ...(values.repos === undefined ? {} : { others: resolve(values.repos) }),
      ...(values.bridge === undefined ? {} : { hub: readHubData(values.bridge) }),
      charts: {
        ...helmProgram(),
        ...(values.charts === undefined ? {} : { charts: resolve(values.charts) }),
        newRepositories: values["new-repositories"],
      },
    });
    process.stdout.write(forms[format](report));
    return values["fail-on-refused"] && report.clusters.some(({ refused }) => refused) ? 1 : 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`fleet diff could not run: ${(error as Error).message}`, { cause: error });
  }
}
