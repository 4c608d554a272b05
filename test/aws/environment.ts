import { type Problem, shown } from "../../lib/problems.ts";
import { type CaseName, caseNames, casesOf } from "./cases.ts";

/** What environment variables tell the proof; docs/guides/aws-proof.md describes each. */
export interface Environment {
  /** The account that resources may be made in. */
  readonly account: string;
  /** Region of the hub and of the spoke. */
  readonly region: string;
  readonly stack: string;
  /** File with the stack's configuration, where it is not the one that belongs to the stack's name. */
  readonly configFile: string | undefined;
  readonly fleet: string;
  /** Environment of the spoke. */
  readonly environment: string;
  /** Where this machine pushes to, by Git's own credentials: URLs or paths, by repository. */
  readonly repositories: Readonly<Record<ProofRepository, string>>;
  /** The application's repository as clusters read it. */
  readonly appUrl: string;
  /** Program that registers a read-only deploy key: `<program> <URL as clusters read it> <public key>`. */
  readonly deployKey: string;
  /** ARN of the role or user that looks into the spoke; undefined for the one that runs this. */
  readonly admin: string | undefined;
  /** Registries and chart repositories can't be asked from here. */
  readonly offline: boolean;
  /** Cases that only AWS can show. */
  readonly cases: readonly CaseName[];
  /** File to which the report is appended, as Markdown. */
  readonly report: string | undefined;
}

export type ProofRepository = "gitops-system" | "gitops-workloads" | "payment-app-manifests";

interface Variable {
  /** undefined: it may be left out. */
  readonly required: boolean;
  readonly form: RegExp;
  readonly allowed: string;
}

const anything = { form: /\S/, allowed: "a text" };
const repository = {
  required: true,
  form: /\S/,
  allowed: "the URL or path of a repository that this machine may push to",
};

/** Every variable, with its form. */
export const variables = {
  FLEET_AWS_CONFIRM_ACCOUNT: {
    required: true,
    form: /^\d{12}$/,
    allowed: "the ID of the AWS account in which resources that cost money are made and removed, 12 digits",
  },
  AWS_REGION: { required: true, form: /^[a-z]{2}(-[a-z]+)+-\d+$/, allowed: "an AWS region, such as eu-central-1" },
  FLEET_AWS_STACK: { required: true, form: /^[\w./-]+$/, allowed: "the name of a Pulumi stack of this project" },
  FLEET_AWS_CONFIG_FILE: { required: false, ...anything },
  FLEET_AWS_FLEET: {
    required: true,
    form: /^[a-z][-a-z0-9]{1,22}[a-z0-9]$/,
    allowed: "the fleet of the stack's configuration, 3 to 24 lower-case letters, digits and hyphens",
  },
  FLEET_AWS_ENVIRONMENT: { required: false, form: /^[a-z][-a-z0-9]*$/, allowed: "the name of an environment" },
  FLEET_AWS_SYSTEM_REPOSITORY: repository,
  FLEET_AWS_WORKLOADS_REPOSITORY: repository,
  FLEET_AWS_APP_REPOSITORY: repository,
  FLEET_AWS_APP_URL: {
    required: true,
    form: /^ssh:\/\/\S+$/,
    allowed: "the URL ssh://… of the application's repository",
  },
  FLEET_AWS_DEPLOY_KEY: { required: true, form: /\S/, allowed: "a program that registers a deploy key" },
  FLEET_AWS_ADMIN: {
    required: false,
    form: /^arn:aws[-a-z]*:iam::\d{12}:(role|user)\/\S+$/,
    allowed: "the ARN of an IAM role or user",
  },
  FLEET_AWS_OFFLINE: { required: false, form: /^[01]$/, allowed: "1 or 0" },
  FLEET_AWS_CASES: {
    required: false,
    form: new RegExp(`^(all|(${caseNames.join("|")})(,(${caseNames.join("|")}))*)$`),
    allowed: `all, or some of ${caseNames.join(",")}`,
  },
  FLEET_AWS_REPORT: { required: false, ...anything },
} as const satisfies Record<string, Variable>;

type Name = keyof typeof variables;

/** The environment, or everything that is wrong with it. */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): { readonly environment: Environment; readonly problems: readonly [] } | { readonly problems: readonly Problem[] } {
  const value = (name: Name): string | undefined => env[name]?.trim() || undefined;
  const problems = (Object.entries(variables) as [Name, Variable][]).flatMap(([key, { required, form, allowed }]) => {
    const got = value(key);
    if (got === undefined ? !required : form.test(got)) return [];
    const what = got === undefined ? "is not set" : "has another form";
    return [{ key, what, got: shown(got ?? ""), allowed, remedy: `export ${key}=…, see docs/guides/aws-proof.md` }];
  });
  if (problems.length > 0) return { problems };
  const text = (name: Name) => value(name) ?? "";
  return {
    problems: [],
    environment: {
      account: text("FLEET_AWS_CONFIRM_ACCOUNT"),
      region: text("AWS_REGION"),
      stack: text("FLEET_AWS_STACK"),
      configFile: value("FLEET_AWS_CONFIG_FILE"),
      fleet: text("FLEET_AWS_FLEET"),
      environment: value("FLEET_AWS_ENVIRONMENT") ?? "dev",
      repositories: {
        "gitops-system": text("FLEET_AWS_SYSTEM_REPOSITORY"),
        "gitops-workloads": text("FLEET_AWS_WORKLOADS_REPOSITORY"),
        "payment-app-manifests": text("FLEET_AWS_APP_REPOSITORY"),
      },
      appUrl: text("FLEET_AWS_APP_URL"),
      deployKey: text("FLEET_AWS_DEPLOY_KEY"),
      admin: value("FLEET_AWS_ADMIN"),
      offline: value("FLEET_AWS_OFFLINE") === "1",
      cases: casesOf(value("FLEET_AWS_CASES")),
      report: value("FLEET_AWS_REPORT"),
    },
  };
}
