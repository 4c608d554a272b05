import type { Problem } from "../../lib/problems.ts";
import { spokesIn, spokesOfAll } from "../fleet/folders.ts";
import { askedAt, type Questionnaire } from "../prompt/ask.ts";
import type { Terminal } from "../prompt/terminal.ts";
import { together } from "../usage.ts";
import { spokeFacts } from "./clusters.ts";
import { requestProblems } from "./folder.ts";
import { type Line, lineOf } from "./onboard-line.ts";

/** What `fleet onboard` asks for on a terminal. */

/** What a command line gives of what is asked for. */
const given: Readonly<Record<string, (line: Line) => string | undefined>> = {
  "<app>": ({ args }) => args.app,
  "--cluster": ({ clusters: [first] }) => first,
  "--environment": ({ values }) => values.environment,
  "--tenant": ({ values }) => values.tenant,
  "--repository-url": ({ values }) => values["repository-url"],
  "--token-file": ({ values }) => values["token-file"],
};

const judged = ({ checkout, requests, access, told }: Line): readonly Problem[] =>
  together(told, requestProblems(checkout, requests, access));

const lacks = (line: Line, key: string): boolean => judged(line).some((problem) => problem.key === key);

/** The team that all of the clusters are of, as their Spokes say. */
function tenantOf({ clusters, system, values: { fleet } }: Line): string | undefined {
  const tenants = clusters.map((cluster) =>
    system === undefined ? undefined : spokeFacts(system, cluster, fleet)?.tenant,
  );
  return new Set(tenants).size === 1 ? tenants[0] : undefined;
}

/** The spokes of the fleet that is named, else of every one. */
function spokesAt({ system, values: { fleet } }: Line): string[] {
  if (system === undefined) return [];
  return fleet === undefined ? spokesOfAll(system) : spokesIn(system, fleet);
}

const questionnaire: Questionnaire<Line> = {
  command: "onboard",
  read: lineOf,
  judge: async (line) => judged(line),
  isAnswerable: ({ key }, line) => given[key] !== undefined && !given[key](line),
  questions: [
    ({ args }) => (args.app ? undefined : { key: "<app>", text: "Name of the application, and of its namespace" }),
    (line) => {
      if (line.clusters.length > 0) return undefined;
      const spokes = spokesAt(line);
      const [only] = spokes;
      const fallback = spokes.length === 1 ? only : undefined;
      return { key: "--cluster", text: "Cluster, or several", choices: spokes, fallback, several: true };
    },
    (line) => (lacks(line, "--environment") ? { key: "--environment", text: "Environment of the cluster" } : undefined),
    (line) =>
      line.values.tenant
        ? undefined
        : { key: "--tenant", text: "Team that owns the application", fallback: tenantOf(line) },
    ({ values }) =>
      values["repository-url"]
        ? undefined
        : { key: "--repository-url", text: "URL of the team's repository, ssh://… or https://…" },
    (line) =>
      lacks(line, "--token-file")
        ? {
            ...{ key: "--token-file", file: true },
            text: "File with an access token for it (a GitHub App is given by --github-app-…)",
          }
        : undefined,
  ],
};

/** The command line with what a person adds at the terminal. @throws Interrupted */
export const asked = (argv: readonly string[], terminal: Terminal): Promise<readonly string[]> =>
  askedAt(terminal, argv, questionnaire);
