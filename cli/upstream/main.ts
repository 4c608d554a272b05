// `npm run check:upstream`: whether everything that the project takes from outside is there.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectReferences } from "./project.ts";
import { title } from "./references.ts";
import { exitCode, report } from "./report.ts";
import { resolve } from "./resolve.ts";

const help = `Usage: npm run check:upstream -- [--list] [--aws] [--report FILE]

Asks the chart repositories, container registries, GitHub and EKS's release calendar for every chart, image, Crossplane package,
action and Kubernetes version that the files name.

  --list         only prints what is referenced, and where
  --aws          asks EKS for the versions of add-ons too, with the environment's credentials and region
                 (eks:DescribeAddonVersions)
  --report FILE  writes the report there as well

GITHUB_TOKEN, if it is set, is used for GitHub's API.
Exit code 0: nothing is wrong; 1: something is; 2: a server gave no answer, or the command could not run.
`;

const options = {
  list: { type: "boolean", default: false },
  aws: { type: "boolean", default: false },
  report: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...argv], options, strict: true });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const { references, undecided } = projectReferences(join(import.meta.dirname, "..", ".."));
  if (values.list) {
    for (const reference of references) console.log(`${title(reference)}\n  ${reference.origins.join("\n  ")}`);
    for (const each of undecided) console.log(`not known from the files: ${each}`);
    return 0;
  }
  const githubToken = process.env["GITHUB_TOKEN"];
  const eks = values.aws ? new (await import("@aws-sdk/client-eks")).EKSClient() : undefined;
  const outcomes = await resolve(references, {
    fetch: (url, init) => fetch(url, init),
    pauses: [1_000, 4_000],
    today: new Date().toISOString().slice(0, 10),
    ...(githubToken ? { githubToken } : {}),
    ...(eks ? { eks } : {}),
  });
  const text = report(outcomes, undecided);
  process.stdout.write(text);
  if (values.report !== undefined) writeFileSync(values.report, text);
  return exitCode(outcomes);
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  console.error(`check:upstream could not run: ${(error as Error).message}. See npm run check:upstream -- --help`);
  process.exitCode = 2;
}
