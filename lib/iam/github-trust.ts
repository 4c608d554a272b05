import type { Condition } from "./policy.ts";

/** The part of a role's trust policy that admits GitHub's OIDC tokens, as IAM stores it: a list of one member may be that member. */

type OneOrMore<T> = T | readonly T[];

interface StoredStatement {
  readonly Effect: string;
  readonly Principal?: string | Readonly<Record<string, OneOrMore<string>>>;
  readonly Condition?: Condition;
}

export interface StoredPolicy {
  readonly Statement?: OneOrMore<StoredStatement>;
}

/** What the subject of a token must be: each list is a condition, and one value of each must match. */
interface TrustedSubjects {
  readonly conditions: readonly { readonly operator: string; readonly values: readonly string[] }[];
}

const list = <T>(value: OneOrMore<T> | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];

/** The providers of an issuer; an enterprise may have the path /<enterprise> in its issuer (GitHub Docs, "Customizing the issuer value"). */
function providers({ Principal }: StoredStatement, issuer: string): string[] {
  const federated = typeof Principal === "object" ? list(Principal["Federated"]) : [];
  return federated.flatMap((arn) => {
    const provider = arn.split(":oidc-provider/")[1];
    return provider === issuer || provider?.startsWith(`${issuer}/`) ? [provider] : [];
  });
}

/** Matches a value with the wildcards of IAM's StringLike. */
function isLike(pattern: string, text: string): boolean {
  const expression = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${expression}$`, "s").test(text);
}

/** The operators with which a subject can be named (IAM User Guide, "IAM JSON policy elements: Condition operators"). */
const operators: Readonly<Record<string, (value: string, text: string) => boolean>> = {
  StringEquals: (value, text) => value === text,
  StringEqualsIgnoreCase: (value, text) => value.toLowerCase() === text.toLowerCase(),
  StringLike: isLike,
};

/** The operator without what a condition key of one value doesn't need. */
const plain = (operator: string): string => operator.replace(/^For(Any|All)Values?:/, "").replace(/IfExists$/, "");

/** What each statement of a trust policy requires of the subject of GitHub's tokens; empty if the role doesn't trust the issuer. */
export function trustedSubjects({ Statement }: StoredPolicy, issuer: string): TrustedSubjects[] {
  return list(Statement)
    .filter(({ Effect }) => Effect === "Allow")
    .flatMap((statement) =>
      providers(statement, issuer).map((provider) => ({
        conditions: Object.entries(statement.Condition ?? {}).flatMap(([operator, keys]) =>
          Object.entries(keys)
            // Names of condition keys are not case-sensitive (IAM User Guide, "Condition").
            .filter(([key]) => key.toLowerCase() === `${provider}:sub`.toLowerCase() && plain(operator) in operators)
            .map(([, values]) => ({ operator: plain(operator), values: list(values) })),
        ),
      })),
    );
}

const passes = (conditions: TrustedSubjects["conditions"], subject: string): boolean =>
  conditions.every(({ operator, values }) => values.some((value) => operators[operator]?.(value, subject)));

/** A branch as anyone with write access can push it. */
const pushedBranch = "refs/heads/unmerged";

/** Whether every statement that trusts the issuer denies tokens of a pushed branch, which the subject of an environment doesn't contain. */
export const restrictsRefs = ({ Statement }: StoredPolicy, issuer: string): boolean =>
  list(Statement)
    .filter(({ Effect }) => Effect === "Allow")
    .flatMap((statement) => providers(statement, issuer).map((provider) => ({ statement, provider })))
    .every(({ statement, provider }) =>
      Object.entries(statement.Condition ?? {}).some(([operator, keys]) =>
        // With IfExists or ForAllValues a token without the claim passes too, so these operators don't count.
        Object.entries(keys).some(
          ([key, values]) =>
            key.toLowerCase() === `${provider}:ref`.toLowerCase() &&
            list(values).every((value) => operators[operator]?.(value, pushedBranch) === false),
        ),
      ),
    );

/** Whether a statement admits the subject with another owner too: it has no condition about subjects, or only too wide a pattern. */
export const admitsOtherOwners = (trusted: readonly TrustedSubjects[], subject: string): boolean =>
  trusted.some(({ conditions }) => passes(conditions, subject.replace(/^repo:[^/]+/, "repo:another-owner")));

/** Whether a statement names this subject and passes all its conditions about the subject. */
export const admits = (trusted: readonly TrustedSubjects[], subject: string): boolean =>
  trusted.some(({ conditions }) => conditions.length > 0 && passes(conditions, subject));
