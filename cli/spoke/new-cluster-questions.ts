import { join } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { foldersIn, spokesIn } from "../fleet/folders.ts";
import { checkoutProblems } from "../folder.ts";
import { askedAt, type Question, type Questionnaire } from "../prompt/ask.ts";
import type { Terminal } from "../prompt/terminal.ts";
import { together } from "../usage.ts";
import { openSpoke } from "./file.ts";
import { problemsOf, spokeTemplate } from "./folder.ts";
import { type Line, lineOf, requestOf } from "./new-cluster-line.ts";
import { readOffer, versionProblems } from "./rules.ts";

/** What `fleet new-cluster` asks for on a terminal. */

/** What a command line gives of what is asked for. */
const given: Readonly<Record<string, (line: Line) => string | undefined>> = {
  "<name>": ({ args }) => args.name,
  "--environment": ({ values }) => values.environment,
  "--tenant": ({ values }) => values.tenant,
  "--kubernetes-version": ({ values }) => values["kubernetes-version"],
  "--region": ({ values }) => values.region,
};

/** Teams that have a spoke. */
function tenantsIn(checkout: string): string[] {
  const fleets = foldersIn(join(checkout, "spokes"));
  const tenants = fleets.flatMap((fleet) =>
    spokesIn(checkout, fleet).flatMap((name) => {
      const file = openSpoke<{ tenant: string }>(checkout, fleet, name, "--tenant");
      return "spec" in file ? (file.spec.tenant ?? []) : [];
    }),
  );
  return [...new Set(tenants)].sort();
}

/** The only one of some choices. */
const onlyOf = (choices: readonly string[]): string | undefined => (choices.length === 1 ? choices[0] : undefined);

async function judge(line: Line): Promise<readonly Problem[]> {
  const notHere = checkoutProblems(line.checkout, "gitops-system", spokeTemplate);
  if (notHere.length > 0) return together(line.told, notHere);
  const { request, told } = await requestOf(line);
  return together(told, problemsOf(line.checkout, request, await readOffer(line.checkout)));
}

async function version({ checkout, values }: Line): Promise<Question | undefined> {
  const offer = await readOffer(checkout);
  const isNeeded = versionProblems(values["kubernetes-version"], values.environment, offer).length > 0;
  const text = `Kubernetes version, one that spokes of ${values.environment} run`;
  return isNeeded ? { key: "--kubernetes-version", text, choices: offer.kubernetesVersions } : undefined;
}

/** Where the stack is not asked, nothing else says the region. */
const isRegionNeeded = ({ values }: Line): boolean =>
  values.fleet !== undefined && values.certificate !== undefined && values.region === undefined;

const questionnaire = ({ env }: Terminal): Questionnaire<Line> => ({
  command: "new-cluster",
  read: lineOf,
  judge,
  isAnswerable: ({ key }, line) => given[key] !== undefined && !given[key](line),
  questions: [
    ({ args }) => (args.name === "" ? { key: "<name>", text: "Name of the cluster" } : undefined),
    async ({ values, checkout }) => {
      if (values.environment) return undefined;
      const { environments } = await readOffer(checkout);
      const text = "Environment, which can't be changed later";
      return { key: "--environment", text, choices: environments, fallback: onlyOf(environments) };
    },
    ({ values, checkout }) => {
      if (values.tenant) return undefined;
      const tenants = tenantsIn(checkout);
      const text =
        tenants.length === 0 ? "Team that owns the cluster" : "Team that owns the cluster, a new one or one of";
      return { key: "--tenant", text, choices: tenants, fallback: onlyOf(tenants) };
    },
    version,
    (line) =>
      isRegionNeeded(line)
        ? { key: "--region", text: "AWS region", fallback: env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] }
        : undefined,
  ],
});

/** The command line with what a person adds at the terminal. @throws Interrupted */
export const asked = (argv: readonly string[], terminal: Terminal): Promise<readonly string[]> =>
  askedAt(terminal, argv, questionnaire(terminal));
