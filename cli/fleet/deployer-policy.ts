import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { secretsKeyArn } from "../../infra/account-keys.ts";
import { fleetNameRule } from "../../infra/rules.ts";
import { keys } from "../../infra/settings.ts";
import { deployerPolicies } from "../../lib/iam/deployer.ts";
import { grafanaAuthentications } from "../../lib/iam/grafana.ts";
import { dnsSuffix, partitionOf } from "../../lib/iam/policy.ts";
import { fleetBoundaries, fleetNames } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { readLine } from "../line.ts";
import { folderProblems, refuse, together } from "../usage.ts";
import { newRegionOption, regionForm, unknownRegionProblems } from "./region.ts";

export const summary = "print the IAM policies of whoever runs pulumi up for a fleet";

export const help = `Usage: fleet deployer-policy --fleet NAME --account ID --region REGION [options]

Prints the policies as one JSON object, by name; nothing in AWS is asked or changed.

  --fleet NAME       fleet of the stack's configuration
  --account ID       AWS account of the hub, 12 digits
  --region REGION    AWS region of the hub, such as eu-central-1
  --new-region       take a region that this version of the project does not know
  --boundary ARN     permissionsBoundary of the stack's configuration: the deployer gives rights only to roles that carry it.
                     Without it the deployer can make itself as powerful as it likes
  --role-path PATH   rolePath of the stack's configuration; default: /
  --grafana METHOD   grafanaAuthentication of a stack with grafana: amg, AWS_SSO or SAML. Without it nothing of Grafana is allowed
  --secrets-key ARN  KMS key of the fleet's secrets, whose policy a stack with accounts changes (docs/guides/aws-account.md).
                     Without it no key's policy can be changed
  --out FOLDER       write <fleet>-<policy>.json for each policy into this folder instead, and say how they are made in AWS

Example:
  fleet deployer-policy --fleet pilot --account 123456789012 --region eu-central-1 --out policies
`;

export const options = {
  fleet: { type: "string" },
  account: { type: "string" },
  region: { type: "string" },
  ...newRegionOption,
  boundary: { type: "string" },
  "role-path": { type: "string" },
  grafana: { type: "string" },
  "secrets-key": { type: "string" },
  out: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

export const choices = { grafana: grafanaAuthentications };

interface Request {
  readonly fleet: string;
  readonly account: string;
  readonly region: string;
  readonly boundary: string | undefined;
  readonly "role-path": string | undefined;
  readonly "secrets-key": string | undefined;
}

/** What the program accepts, flag by flag, and the forms of AWS. */
export const forms: Readonly<
  Record<keyof Request, { readonly parse: (value: string) => unknown; readonly allowed: string }>
> = {
  fleet: keys.fleet,
  account: { parse: (value) => /^\d{12}$/.exec(value) ?? undefined, allowed: "12 digits" },
  region: regionForm,
  boundary: keys.permissionsBoundary,
  "role-path": keys.rolePath,
  "secrets-key": secretsKeyArn,
};

/** Every problem in the flags. */
function problemsOf(request: Request): Problem[] {
  const malformed = (Object.keys(forms) as (keyof Request)[]).flatMap((flag): Problem[] => {
    const value = request[flag];
    const { parse, allowed } = forms[flag];
    if (value === undefined || parse(value) !== undefined) return [];
    return [
      { key: `--${flag}`, what: "has another form", got: shown(value), allowed, remedy: `give another --${flag}` },
    ];
  });
  if (malformed.length > 0) return malformed;
  const named = fleetNameRule(request).map((problem) => ({ ...problem, key: "--fleet" }));
  return [...named, ...ownBoundaryProblems(request), ...foreignKeyProblems(request)];
}

/** The problem of a folder to write into that is a file. */
const outProblems = (out: string | undefined): Problem[] =>
  out !== undefined && existsSync(out)
    ? folderProblems("--out", out, "a folder, or a path at which nothing exists")
    : [];

/** The fleet's own policies can't limit the deployer, which creates and changes them. */
export function ownBoundaryProblems({ fleet, boundary = "" }: Pick<Request, "fleet" | "boundary">): Problem[] {
  const changed = [...fleetBoundaries(fleet), ...fleetNames(fleet).crossplanePolicies];
  if (!changed.some((name) => boundary.endsWith(`:policy/${name}`))) return [];
  return [
    {
      key: "--boundary",
      what: "is a policy that the deployer itself creates and changes",
      got: boundary,
      allowed: "a policy that somebody else maintains",
      remedy: "ask the account's administrators to create one, and set it as permissionsBoundary of the stack too",
    },
  ];
}

/** The key is the hub's, so it is where the hub is. */
function foreignKeyProblems({ account, region, "secrets-key": arn }: Request): Problem[] {
  const place = `arn:${partitionOf(region)}:kms:${region}:${account}:key/`;
  if (arn === undefined || arn.startsWith(place)) return [];
  return [
    {
      key: "--secrets-key",
      what: "is not a key of the hub's account and region",
      got: arn,
      allowed: `${place}<id>`,
      remedy: "correct --secrets-key, or --account and --region",
    },
  ];
}

type PolicyFile = readonly [name: string, path: string];

const creations = (files: readonly PolicyFile[]): string =>
  files
    .map(([name, path]) => `  aws iam create-policy --policy-name ${name} --policy-document file://${path}`)
    .join("\n");

const attachments = (files: readonly PolicyFile[], partition: string, account: string): string =>
  files
    .map(([name]) => {
      const arn = `arn:${partition}:iam::${account}:policy/${name}`;
      return `  aws iam attach-role-policy --role-name <role> --policy-arn ${arn}`;
    })
    .join("\n");

export async function run(argv: readonly string[]): Promise<number> {
  const { values, problems } = readLine("deployer-policy", argv, options, {
    required: { fleet: forms.fleet.allowed, account: forms.account.allowed, region: forms.region.allowed },
    choices,
  });
  const { fleet, account, region } = values;
  const boundary = values.boundary || undefined;
  const { "role-path": rolePath, "secrets-key": secretsKey } = values;
  refuse(
    "deployer-policy",
    together(problems, [
      ...problemsOf({ fleet, account, region, boundary, "role-path": rolePath, "secrets-key": secretsKey }),
      ...unknownRegionProblems(region, values["new-region"]),
      ...outProblems(values.out),
    ]),
  );
  const grafana = grafanaAuthentications.find((known) => known === values.grafana);
  const partition = partitionOf(region);
  const policies = deployerPolicies({
    fleet,
    partition,
    accountId: account,
    region,
    dnsSuffix: dnsSuffix(partition),
    ...(boundary === undefined ? {} : { permissionsBoundary: boundary }),
    ...(rolePath === undefined ? {} : { rolePath }),
    ...(grafana === undefined ? {} : { grafana }),
    ...(secretsKey === undefined ? {} : { secretsKeyArn: secretsKey }),
  });
  const named = Object.entries(policies).map(([name, document]) => [`${fleet}-${name}`, document] as const);
  if (values.out === undefined) {
    console.log(JSON.stringify(Object.fromEntries(named), undefined, 2));
    return 0;
  }
  const folder = resolve(values.out);
  await mkdir(folder, { recursive: true });
  const files = named.map(([name]) => [name, join(folder, `${name}.json`)] as const);
  for (const [name, document] of named)
    await writeFile(join(folder, `${name}.json`), `${JSON.stringify(document, undefined, 2)}\n`);
  console.log(`Wrote ${files.length} policies to ${folder}. Create them:
${creations(files)}

Then attach them to the role that runs pulumi up (to a user: attach-user-policy --user-name <user>):
${attachments(files, partition, account)}`);
  return 0;
}
