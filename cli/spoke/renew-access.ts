import { resolve } from "node:path";
import { type Document, visit } from "yaml";
import type { Problem } from "../../lib/problems.ts";
import { asking } from "../aws-calls.ts";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { changesTo } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { foldersIn, spokesIn } from "../fleet/folders.ts";
import { callersAccount, iamOf, partsOf, type Standing, standingOf } from "../fleet/principals.ts";
import { checkoutProblems, textOf } from "../folder.ts";
import { readLine } from "../line.ts";
import { refuse, together } from "../usage.ts";
import { openSpoke, type SpokeFile } from "./file.ts";

export const summary = "replace principals of Spokes that IAM no longer has";

export const help = `Usage: fleet renew-access [options]

Looks up in IAM each role and user in spec.admins and spec.teams of every Spoke of a checkout of gitops-system, and writes the
ARN that IAM has now: the role of an IAM Identity Center permission set after it was provisioned again, or another path. Then
Crossplane replaces the access entries. It queries the account of your AWS credentials: principals of other accounts are listed.
Permissions: iam:GetRole, iam:GetUser, iam:ListRoles.

  --profile NAME         profile of the AWS CLI; default: the credentials of the environment
  --repository DIR       the checkout to write into; default: the current folder
${changeHelp}

Exit code 0: every principal exists, or was replaced; 1: IAM lacks a principal, or it is in another account; 2: usage error.

Example:
  fleet renew-access --repository ../fleet/gitops-system --push
`;

export const options = {
  ...changeOptions,
  profile: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** The principals that get access to a spoke. */
interface AccessSpec {
  readonly admins: readonly string[];
  readonly teams: readonly { readonly members?: readonly { readonly role?: string }[] }[];
}

type Spoke = SpokeFile<AccessSpec>;

const principalsOf = ({ spec: { admins = [], teams = [] } }: Spoke): string[] => [
  ...admins,
  ...teams.flatMap(({ members = [] }) => members.flatMap(({ role = [] }) => role)),
];

/** Writes other principals into a document; comments and order are kept. @returns whether it changed */
function replaced(document: Document, successors: ReadonlyMap<string, string>): boolean {
  let hasChanged = false;
  visit(document, {
    Scalar(_key, node) {
      const successor = successors.get(String(node.value));
      if (successor === undefined) return;
      node.value = successor;
      hasChanged = true;
    },
  });
  return hasChanged;
}

/** The Spokes of a checkout, and the problems of files that hold none. */
function spokesOf(checkout: string): { readonly spokes: Spoke[]; readonly problems: Problem[] } {
  const problems = checkoutProblems(checkout, "gitops-system", "spokes");
  if (problems.length > 0) return { spokes: [], problems };
  const files = foldersIn(resolve(checkout, "spokes")).flatMap((fleet) =>
    spokesIn(checkout, fleet).map((name) => openSpoke<AccessSpec>(checkout, fleet, name, "--repository")),
  );
  return {
    spokes: files.filter((file): file is Spoke => "spec" in file),
    problems: files.filter((file): file is Problem => "remedy" in file),
  };
}

const report = (arn: string, { exists, successor }: Standing): string[] => {
  if (exists) return [];
  return [
    successor === undefined
      ? `missing   ${arn}: IAM has no successor; correct or remove it`
      : `replaced  ${arn} by ${successor}`,
  ];
};

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, problems } = readLine("renew-access", argv, options);
  const checkout = resolve(values.repository ?? ".");
  const { spokes, problems: unknown } = spokesOf(checkout);
  refuse("renew-access", together([...problems, ...wishProblems(values, [checkout])], unknown));
  const arns = [...new Set(spokes.flatMap(principalsOf))];
  const [first] = arns;
  if (first === undefined) {
    console.log("Nothing to change: no Spoke names a principal");
    return 0;
  }
  const ask = asking("docs/reference/deployer-policy/fleet-doctor.json");
  const config = values.profile === undefined ? {} : { profile: values.profile };
  const account = await ask("sts:GetCallerIdentity", () => callersAccount(config, first));
  const own = arns.filter((arn) => partsOf(arn)?.account === account);
  const standings = await ask("iam:GetRole, iam:GetUser and iam:ListRoles", () =>
    Promise.all(own.map(async (arn) => [arn, await standingOf(iamOf(arn, config), arn)] as const)),
  );
  const others = arns.filter((arn) => !own.includes(arn));
  const lines = [
    ...standings.flatMap(([arn, standing]) => report(arn, standing)),
    ...others.map((arn) => `unchecked ${arn}: the credentials are for account ${account}`),
  ];
  if (lines.length > 0) console.log(lines.join("\n"));
  const successors = new Map(
    standings.flatMap(([arn, { successor }]) => (successor ? [[arn, successor] as const] : [])),
  );
  const changed = spokes.filter(({ document }) => replaced(document, successors));
  const files = changesTo(
    checkout,
    Object.fromEntries(changed.map(({ path, documents }) => [path, textOf(documents)])),
  );
  if (changed.length === 0) console.log("Nothing to change");
  else
    await carryOut(
      "renew-access",
      [{ repository: "gitops-system", checkout, files, subject: "Renew principals of spokes" }],
      values,
      {
        programs: using,
      },
    );
  return others.length > 0 || standings.some(([, { exists, successor }]) => !exists && successor === undefined) ? 1 : 0;
}
