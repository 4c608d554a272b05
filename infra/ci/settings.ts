import { environmentOf, type Purpose, purposes, type Reviewer } from "../../lib/github-environments.ts";
import { jobs, type TrustedRepository } from "../../lib/iam/github-roles.ts";
import { grafanaAuthentications } from "../../lib/iam/grafana.ts";
import type { Problem } from "../../lib/problems.ts";
import { isEcr } from "../../lib/registries.ts";
import { secretsKeyArn } from "../account-keys.ts";
import { ownBoundaryRule } from "../boundary-rules.ts";
import type { RawConfig } from "../config.ts";
import { fromJson, isRecord, type Key, listOf, oneOf, text } from "../forms.ts";
import { loadOwnSettings, readOwnKeys, type SettingsOf } from "../own-stack.ts";
import { fleetNameRule } from "../rules.ts";
import { keys as hubKeys } from "../settings.ts";
import { tagRules } from "../tag-rules.ts";

/** A repository as GitHub returns it. */
const repository: Key<TrustedRepository> = {
  parse: (value) => {
    const read = fromJson(value);
    if (!isRecord(read)) return undefined;
    const { name, id, subjectPrefix, ...unknown } = read;
    // `pulumi config set --path` stores digits as a number.
    const number = typeof id === "number" ? String(id) : id;
    if (typeof name !== "string" || typeof number !== "string" || typeof subjectPrefix !== "string") return undefined;
    if (!/^[\w.-]+\/[\w.-]+$/.test(name) || !/^\d+$/.test(number) || Object.keys(unknown).length > 0) return undefined;
    // Both forms name the repository; the newer one has the IDs too (GitHub Docs, "Immutable subject claims").
    const [owner = "", repo = ""] = name.split("/").map((part) => part.replaceAll(".", "\\."));
    const forms = new RegExp(`^repo:(${owner}/${repo}|${owner}@\\d+/${repo}@${number})$`);
    return forms.test(subjectPrefix) ? { name, id: number, subjectPrefix } : undefined;
  },
  allowed:
    "{name: <owner>/<name>, id: <ID>, subjectPrefix: <sub_claim_prefix>}, as GitHub returns them: repo:<owner>/<name> or repo:<owner>@<ID>/<name>@<ID>",
  path: ".name",
  example: "<owner>/<name>   # then .id and .subjectPrefix: infra/ci/README.md",
};

function reviewer(value: unknown): Reviewer | undefined {
  const [, type, id] = /^(Team|User)\/(\d+)$/.exec(typeof value === "string" ? value : "") ?? [];
  return type === undefined ? undefined : { type: type as Reviewer["type"], id: Number(id) };
}

const purpose = (value: unknown): Purpose | undefined => purposes.find((known) => known === value);

const orEmpty = <T>({ parse, allowed, ...key }: Key<T>): Key<T | ""> => ({
  ...key,
  parse: (value) => (value === "" ? "" : parse(value)),
  allowed: `${allowed}, or empty`,
});

/** The keys of the stack of the workflows' roles, as Pulumi.yaml next to this file describes them. */
const keys = {
  fleet: hubKeys.fleet,
  project: repository,
  system: { ...repository, parse: (value: string) => (value === "{}" ? "none" : repository.parse(value)) } as Key<
    TrustedRepository | "none"
  >,
  purposes: listOf(purpose, { allowed: `a list of ${purposes.join(", ")}`, path: "[0]", example: "apply" }),
  reviewers: listOf(reviewer, {
    allowed: "a list of Team/<ID> and User/<ID>",
    path: "[0]",
    example: 'Team/"$(gh api orgs/<owner>/teams/<team> --jq .id)"',
  }),
  oidcProvider: oneOf("create", "existing"),
  backend: text(
    /^((s3|https):\/\/[\w.-]+(\/[\w./-]*)?(\?[\w=&.-]+)?)?$/,
    "s3://<bucket>, with a path and parameters if needed, https://<host> of Pulumi Cloud, or empty",
    "'s3://<bucket>'",
  ),
  stateKey: { ...orEmpty(secretsKeyArn), example: "arn:aws:kms:<region>:<account>:key/<id>" },
  pulumiToken: {
    ...text(
      /^(arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+)?$/,
      "the ARN of a secret in Secrets Manager, or empty",
      "arn:aws:secretsmanager:<region>:<account>:secret:<name>-<6 characters>",
    ),
    plaintext: true,
  },
  registry: {
    ...hubKeys.registry,
    parse: (value: string) => {
      const registry = hubKeys.registry.parse(value);
      return registry === undefined || registry === "" || isEcr(registry) ? registry : undefined;
    },
    allowed: "host or host/path of a registry in Amazon ECR, without a scheme and a slash at the end, or empty",
    example: "<account>.dkr.ecr.<region>.amazonaws.com/mirror",
  },
  hubBoundary: hubKeys.permissionsBoundary,
  grafana: orEmpty(oneOf(...grafanaAuthentications)),
  secretsKeyArn: orEmpty(secretsKeyArn),
  rolePath: hubKeys.rolePath,
  boundaryStatements: hubKeys.boundaryStatements,
  tags: hubKeys.tags,
} as const;

type Settings = SettingsOf<typeof keys>;
export type CiSettings = Settings & { readonly accountId: string; readonly region: string };

/** Reviewers approve the jobs of some environments; without them any collaborator's push would deploy. */
function purposeRules({ purposes: chosen = [], reviewers, system }: Partial<Settings>, stack: string): Problem[] {
  const reviewed = chosen.filter((each) => environmentOf(each, stack).rule.reviewers !== undefined);
  const ofSystem = chosen.filter((each) => jobs[each].repository === "system");
  return [
    ...(reviewed.length > 0 && reviewers?.length === 0
      ? [
          {
            key: "reviewers",
            what: `is empty, and the environments of ${reviewed.join(", ")} require reviewers`,
            got: "[]",
            allowed: keys.reviewers.allowed,
            remedy: `pulumi config set --path 'reviewers[0]' ${keys.reviewers.example}`,
          },
        ]
      : []),
    ...(ofSystem.length > 0 && system === "none"
      ? [
          {
            key: "system",
            what: `is missing, and ${ofSystem.join(", ")} runs in that repository`,
            got: "{}",
            allowed: keys.system.allowed,
            remedy: "set it (infra/ci/README.md), or remove rollouts from purposes",
          },
        ]
      : []),
  ];
}

/** Reads and checks all keys; the settings are complete if there are no problems. */
export function readCiConfig(
  raw: RawConfig,
  stack: string,
): { settings: Partial<CiSettings>; problems: readonly Problem[] } {
  const { settings, accounts, problems } = readOwnKeys(raw, keys);
  const [accountId] = accounts;
  // In the hub's stack a key of this name has other values.
  const { grafana: _, ...common } = settings;
  const region = raw.region || undefined;
  const regionProblem = {
    key: "aws:region",
    what: "is not set",
    got: "(nothing)",
    allowed: "the region of the hub",
    remedy: "pulumi config set aws:region eu-central-1",
  };
  // The policies name the account in their ARNs, before any call to AWS.
  const severalAccounts = {
    key: "aws:allowedAccountIds",
    what: "names several accounts",
    got: accounts.join(", "),
    allowed: "the account of the hub alone",
    remedy: "leave out the others; each account of a hub has a stack of its own here",
  };
  const { boundaryStatements = [], hubBoundary = "" } = settings;
  return {
    settings: { ...settings, ...(accountId && { accountId }), ...(region && { region }) },
    problems: [
      ...(region === undefined ? [regionProblem] : []),
      ...problems,
      ...(accounts.length > 1 ? [severalAccounts] : []),
      ...ownBoundaryRule({ boundaryStatements, permissionsBoundary: hubBoundary }, "hubBoundary"),
      ...fleetNameRule(common),
      ...purposeRules(settings, stack),
      ...tagRules(common),
    ],
  };
}

export const loadCiSettings = (stack: string): CiSettings => loadOwnSettings((raw) => readCiConfig(raw, stack));
