import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Problem, shown } from "../../lib/problems.ts";
import { readLine } from "../line.ts";
import { kustomize } from "../render/kustomize.ts";
import { folderProblems, refuse, together, UsageError } from "../usage.ts";
import { check } from "./check.ts";
import { type Format, formats, formatted } from "./format.ts";

export const summary = "check the repositories as the clusters would see them, before anything is merged";

export const help = `Usage: fleet check [--repos DIR] [--crds PATH]... [--list-unchecked] [--format text|json|github]

Builds the repositories with kustomize and Flux's substitution for the hub of every fleet, every spoke and one sample spoke for
each environment, and reports what is wrong, with file and line; also what the API server would refuse by the definitions'
rules (CEL).
Warns of Spokes whose Kubernetes version leaves EKS's standard support within 90 days.
The facts about a hub are those that fleet facts recorded (clusters/<fleet>/bridge.yaml), or else samples.

  --repos DIR    folder in which gitops-system, gitops-workloads and the applications' repositories lie side by side
                 (default: repos)
  --crds PATH    a folder or a file with CustomResourceDefinitions (kubectl get crds -o yaml > crds.yaml) and, for Kubernetes'
                 own kinds, OpenAPI documents (kubectl get --raw /openapi/v3/apis/apps/v1 > apps.json); may be given more than
                 once: of a kind that several define, the last --crds wins, and in a folder a list as kubectl prints it.
                 Without it the fields of objects are not checked, nor the rules; those of the repositories' own kinds
                 always are.
  --list-unchecked
                 names every kind whose fields were not checked, for lack of a definition
  --format       text (default), json, or github: annotations of a pull request

Reads nothing but the files of the repositories, no symbolic links among them, and writes nothing into them.

kustomize is the program that FLEET_KUSTOMIZE names, or else kustomize or kubectl on PATH. It gets no environment variables; on
Linux, where this user may make namespaces (root always) and the program is a binary that needs no libraries, it sees only the one
repository and has no network.
Exit code 0: clean, or warnings only; 1: findings; 2: it could not run.

Example:
  fleet check --repos ~/checkouts --crds ~/crds
`;

export const options = {
  repos: { type: "string", default: "repos" },
  crds: { type: "string", multiple: true, default: [] as string[] },
  "list-unchecked": { type: "boolean", default: false },
  format: { type: "string", default: "text" },
  help: { type: "boolean", short: "h", default: false },
} as const;

export const choices = { format: formats };

const missing = (path: string): Problem => ({
  key: "--crds",
  what: "names a path that does not exist",
  got: shown(path),
  allowed: "a folder or a file with definitions",
  remedy: "correct it; fleet check --help says how to get them",
});

export async function run(argv: readonly string[]): Promise<number> {
  const { values, problems } = readLine("check", argv, options, { choices });
  refuse(
    "check",
    together(problems, [
      ...folderProblems("--repos", values.repos, "a folder with the checkouts of the repositories"),
      ...values.crds.filter((path) => !existsSync(path)).map(missing),
    ]),
  );
  try {
    const definitions = values.crds.map((path) => resolve(path));
    const report = check({
      ...{ repos: resolve(values.repos), definitions, build: kustomize() },
      listsUnchecked: values["list-unchecked"],
    });
    process.stdout.write(formatted(report, values.format as Format, process.cwd()));
    return report.findings.length > 0 ? 1 : 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`fleet check could not run: ${(error as Error).message}`, { cause: error });
  }
}
