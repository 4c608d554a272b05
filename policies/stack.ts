/** Rules over a whole stack: who may assume which role, and who may read which secret. */
import type { PolicyResource } from "@pulumi/policy";
import { each, type Parameter, stackRule, type Violation } from "./lib/rule.ts";
import { bindings, mayRead, ofType, type Reading, readings, trustedAccounts } from "./lib/stack.ts";
import { glob, text } from "./lib/values.ts";

const roleType = "aws:iam/role:Role";

const oneServiceAccount = stackRule({
  id: "stack-role-one-service-account",
  description:
    "Every role for service accounts is bound to exactly one, the one that it trusts; no two roles trust the same.",
  remediation:
    "Give each service account a role of its own. Annotate the account that the role trusts, or write it into the cluster secret.",
  *check(resources) {
    const { found, complete } = bindings(resources);
    const holders = new Map<string, string>();
    yield* each(ofType(resources, roleType), function* (role): Generator<Violation> {
      const accounts = trustedAccounts(role);
      if (accounts === undefined) return;
      const [account = ""] = accounts;
      if (accounts.length !== 1) {
        yield {
          message: `the role trusts ${accounts.length} service accounts${accounts.length > 0 ? ` (${accounts.join(", ")})` : ""}: a role must trust exactly one`,
          at: role,
        };
        return;
      }
      const holder = holders.get(account);
      if (holder)
        yield {
          message: `service account ${account} already has the role ${holder}: give each account one role`,
          at: role,
        };
      holders.set(account, role.name);
      const bound = found.filter(({ roleArn }) => roleArn === role.props["arn"]);
      for (const { at, account: other } of bound.filter((binding) => binding.account !== account))
        yield {
          message: `${other} is bound to role ${role.name}, which trusts ${account}: bind the account that the role trusts`,
          at,
        };
      if (complete && bound.length === 0)
        yield {
          message: `nothing binds service account ${account} to the role: annotate it, write it into the cluster secret, or remove the role`,
          at: role,
        };
    });
  },
});

/** A role that reads a secret in a way that the stack does not show. */
interface Reader {
  /** Pattern of the secret's name. */
  readonly secret: string;
  /** Pattern of the role's name. */
  readonly role: string;
  readonly reason: string;
}

const furtherReaders: { readonly readers: Parameter<readonly Reader[]> } = {
  readers: {
    type: "array",
    description: "Roles that read secrets in a way which the stack does not show, each with its reason.",
    items: {
      type: "object",
      properties: {
        secret: { type: "string", description: "pattern of the secret's name" },
        role: { type: "string", description: "pattern of the role's name" },
        reason: { type: "string", minLength: 10, description: "why" },
      },
      required: ["secret", "role", "reason"],
      additionalProperties: false,
    },
    default: [],
  },
};

const isOf = (secret: PolicyResource) => (reading: Reading) =>
  reading.secret === secret.props["name"] || reading.secret === secret.props["arn"];

const exactReaders = stackRule({
  id: "stack-secret-readers",
  description:
    "Every secret can be read by exactly the roles that read it: those behind the ExternalSecrets of the stack.",
  remediation:
    "Narrow the role's policy to the secrets that it reads, or add what it reads. A reader outside the stack goes into the configuration of this policy.",
  parameters: furtherReaders,
  *check(resources, config) {
    const { found, complete } = readings(resources);
    const nameless = found.filter(({ account }) => account === undefined);
    for (const { at, secret } of nameless)
      yield {
        message: `${secret} is read through a store without a service account: the role that reads it can't be determined`,
        at,
      };
    yield* each(ofType(resources, "aws:secretsmanager/secret:Secret"), function* (secret): Generator<Violation> {
      const name = text(secret.props["name"]);
      const reads = found.filter(isOf(secret));
      yield* each(ofType(resources, roleType), function* (role): Generator<Violation> {
        const readable = mayRead(role, secret, resources);
        const accounts = trustedAccounts(role) ?? [];
        const own = reads.filter(({ account }) => account !== undefined && accounts.includes(account));
        const roleName = text(role.props["name"]);
        const listed = config.readers.some((reader) => glob(reader.secret)(name) && glob(reader.role)(roleName));
        if (readable && own.length === 0 && !listed && complete)
          yield {
            message: `role ${roleName} may read secret ${name}, and nothing in the stack reads it through that role: narrow the policy of the role`,
            at: role,
          };
        if (!readable)
          for (const { at } of own)
            yield {
              message: `secret ${name} is read as role ${roleName}, which may not: allow secretsmanager:GetSecretValue on it`,
              at,
            };
      });
    });
  },
});

export const stackPolicies = [oneServiceAccount, exactReaders];
