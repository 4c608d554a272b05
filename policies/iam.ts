/** IAM: rights, trust, boundaries and credentials. */
import { managedPolicies } from "../lib/iam/deployer.ts";
import { stsAudience } from "../lib/iam/trust.ts";
import {
  coversAction,
  hasWildcard,
  identityPolicies,
  identityPolicyTypes,
  isEverything,
  type Statement,
  serviceAccountSubject,
  statements,
  trustedIssuers,
} from "./lib/iam-documents.ts";
import { type Exception, exceptions, exceptionsFor } from "./lib/iam-exceptions.ts";
import { type Checked, each, type Parameter, resourceRule, strings } from "./lib/rule.ts";
import { environmentOf, exceptEnvironments } from "./lib/tags.ts";
import { text, words } from "./lib/values.ts";

const role = ["aws:iam/role:Role"];

const furtherExceptions: { readonly exceptions: Parameter<readonly Exception[]> } = {
  exceptions: {
    type: "array",
    description: "Exceptions besides those in policies/lib/iam-exceptions.ts, each with its reason.",
    items: {
      type: "object",
      properties: {
        policy: { type: "string", description: "pattern of the policy's name" },
        statement: { type: "string", minLength: 1, description: "Sid of the statement" },
        actions: { type: "array", items: { type: "string" }, description: "actions with a wildcard that it may allow" },
        allResources: { type: "boolean", description: "whether it may name all resources" },
        conditions: { type: "array", items: { type: "string" }, description: "condition keys that must narrow it" },
        reason: { type: "string", minLength: 10, description: "why" },
      },
      required: ["policy", "statement", "reason"],
      additionalProperties: false,
    },
    default: [],
  },
};

/** Checks each statement that allows something in the rights of identities. */
function* eachAllowed(
  { type, name, props }: Checked,
  check: (statement: Statement, where: string, policy: string) => Iterable<string>,
): Generator<string> {
  yield* each(identityPolicies(type, props), function* (read) {
    const { name: policy, document } = read();
    for (const statement of statements(document) ?? [])
      if (statement.allows)
        yield* check(statement, `statement ${statement.sid || "without a Sid"} of policy ${policy || name}`, policy);
  });
}

const wildcardActions = resourceRule({
  id: "iam-no-wildcard-actions",
  description: "Policies name the actions that they allow; wildcards stand on a reasoned list.",
  remediation:
    "Name the actions. Where that is not possible, add an exception with its reason to policies/lib/iam-exceptions.ts or to the configuration of this policy.",
  parameters: furtherExceptions,
  types: identityPolicyTypes,
  *check(resource, config) {
    const known = [...exceptions, ...config.exceptions];
    yield* eachAllowed(resource, function* (statement, where, policy) {
      const excepted = exceptionsFor(known, policy, statement).flatMap(({ actions = [] }) => actions);
      const wild = statement.actions.filter((action) => hasWildcard(action) && !excepted.includes(action));
      if (wild.length > 0) yield `${where} allows ${words(wild)}: name the actions, or add a reasoned exception`;
      if (statement.notActions.length > 0)
        yield `${where} allows all actions but ${words(statement.notActions)}: name the actions in Action`;
    });
  },
});

const wildcardResources = resourceRule({
  id: "iam-no-wildcard-resources",
  description: "Policies name the resources on which they allow actions; wildcards stand on a reasoned list.",
  remediation:
    "Name the resources, or a prefix of their names. Where that is not possible, restrict it by conditions and add an exception with its reason to policies/lib/iam-exceptions.ts or to the configuration of this policy.",
  parameters: furtherExceptions,
  types: identityPolicyTypes,
  *check(resource, config) {
    const known = [...exceptions, ...config.exceptions];
    yield* eachAllowed(resource, function* (statement, where, policy) {
      const excepted = exceptionsFor(known, policy, statement).some(({ allResources }) => allResources);
      const wild = statement.resources.filter(isEverything);
      if (wild.length > 0 && !excepted)
        yield `${where} allows its actions on ${words(wild)}: name the resources, or add a reasoned exception`;
      if (statement.notResources.length > 0)
        yield `${where} allows its actions on everything but ${words(statement.notResources)}: name the resources in Resource`;
    });
  },
});

const awsManagedPolicies = resourceRule({
  id: "iam-aws-managed-policies",
  description: "The only AWS managed policies that are attached are those that EKS requires.",
  remediation: "Write a policy with the rights that are needed, or allow the name in the configuration of this policy.",
  parameters: {
    allowed: strings("Names of AWS managed policies that may be attached.", Object.values(managedPolicies).flat()),
  },
  types: [
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:iam/userPolicyAttachment:UserPolicyAttachment",
    "aws:iam/groupPolicyAttachment:GroupPolicyAttachment",
    "aws:iam/policyAttachment:PolicyAttachment",
  ],
  *check({ props }, { allowed }) {
    const name = /^arn:[^:]*:iam::aws:policy\/(.+)$/.exec(text(props["policyArn"]))?.[1];
    if (name !== undefined && !allowed.includes(name))
      yield `the AWS managed policy ${name} is attached: allowed are ${words(allowed)}; write a policy with the rights that are needed`;
  },
});

const delegatedBoundary = resourceRule({
  id: "iam-delegated-boundary",
  description: "Identities may create roles or change their rights only under a permissions boundary.",
  remediation: "Add a StringEquals condition on iam:PermissionsBoundary with the ARN of the boundary.",
  types: identityPolicyTypes,
  *check(resource) {
    const delegating = ["iam:CreateRole", "iam:PutRolePolicy", "iam:AttachRolePolicy"];
    yield* eachAllowed(resource, function* (statement, where) {
      const actions = delegating.filter((action) => coversAction(statement, action));
      const { StringEquals, ArnEquals } = statement.conditions;
      const boundaries = (StringEquals ?? ArnEquals)?.["iam:PermissionsBoundary"] ?? [];
      if (actions.length > 0 && (boundaries.length === 0 || boundaries.some(hasWildcard)))
        yield `${where} allows ${words(actions)} without a boundary: add StringEquals iam:PermissionsBoundary with its ARN`;
    });
  },
});

const irsaTrust = resourceRule({
  id: "iam-irsa-trust",
  description: "A role for a service account trusts exactly one subject and exactly one audience of its issuer.",
  remediation:
    "Fix both with StringEquals: <issuer>:sub to system:serviceaccount:<namespace>:<name>, <issuer>:aud to sts.amazonaws.com.",
  types: role,
  *check({ props }) {
    for (const statement of statements(props["assumeRolePolicy"]) ?? []) {
      const fixed = statement.conditions["StringEquals"] ?? {};
      for (const issuer of trustedIssuers(statement)) {
        const subjects = fixed[`${issuer}:sub`] ?? [];
        const [subject = ""] = subjects;
        // Subjects of other issuers, such as GitHub's, have another form.
        const form = /^oidc[.-]eks\./.test(issuer) ? serviceAccountSubject : /^[^*?]+$/;
        if (subjects.length !== 1 || !form.test(subject))
          yield `the trust policy fixes ${issuer}:sub to ${words(subjects)}: StringEquals must name one service account, system:serviceaccount:<namespace>:<name>`;
        const audiences = fixed[`${issuer}:aud`] ?? [];
        if (audiences.length !== 1 || audiences[0] !== stsAudience)
          yield `the trust policy fixes ${issuer}:aud to ${words(audiences)}: StringEquals must name ${stsAudience}`;
      }
    }
  },
});

const publicTrust = resourceRule({
  id: "iam-no-public-trust",
  description: "No role can be assumed by everybody.",
  remediation: "Name the principals in the trust policy.",
  types: role,
  *check({ props }) {
    for (const { allows, principals } of statements(props["assumeRolePolicy"]) ?? [])
      if (allows && (principals["AWS"] ?? []).some((principal) => principal === "*"))
        yield "the trust policy lets every AWS account assume the role: name the principals";
  },
});

const permissionsBoundary = resourceRule({
  id: "iam-permissions-boundary",
  description: "Roles carry a permissions boundary.",
  remediation:
    "Set permissionsBoundary in the configuration of the stack to the ARN of a policy that the deployer can't change.",
  parameters: { exceptEnvironments: exceptEnvironments("whose roles may be without one", ["dev"]) },
  types: role,
  *check(resource, config) {
    if (config.exceptEnvironments.includes(environmentOf(resource)) || resource.props["permissionsBoundary"]) return;
    yield `the role has no permissions boundary: set permissionsBoundary, or exempt environment ${environmentOf(resource) || "(no tag)"}`;
  },
});

const userKeys = resourceRule({
  id: "iam-no-user-keys",
  description: "Nobody gets a long-lived credential of an IAM user.",
  remediation: "Use a role: IRSA for pods, OIDC for CI, IAM Identity Center for people.",
  types: [
    "aws:iam/accessKey:AccessKey",
    "aws:iam/serviceSpecificCredential:ServiceSpecificCredential",
    "aws:iam/signingCertificate:SigningCertificate",
    "aws:iam/userLoginProfile:UserLoginProfile",
  ],
  *check({ type }) {
    yield `${type.split(":").at(-1)} is a long-lived credential of an IAM user: use a role instead`;
  },
});

export const iamPolicies = [
  wildcardActions,
  wildcardResources,
  awsManagedPolicies,
  delegatedBoundary,
  irsaTrust,
  publicTrust,
  permissionsBoundary,
  userKeys,
];
