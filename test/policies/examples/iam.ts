import { serviceAccountTrust, serviceTrust } from "../../../lib/iam/trust.ts";
import type { Properties, Resource } from "../support/evaluate.ts";
import { type Example, examplesOf } from "../support/example.ts";

const issuer = "oidc.eks.eu-central-1.amazonaws.com/id/0123";
const provider = `arn:aws:iam::111111111111:oidc-provider/${issuer}`;
const table = "arn:aws:dynamodb:eu-central-1:111111111111:table/orders";
const boundary = "arn:aws:iam::111111111111:policy/fleet-boundary";

const document = (...statements: object[]) => JSON.stringify({ Version: "2012-10-17", Statement: statements });
const allow = (statement: object) => ({
  Sid: "Orders",
  Effect: "Allow",
  Action: ["dynamodb:GetItem"],
  Resource: [table],
  ...statement,
});
const policy = (...statements: object[]): Resource => ({
  type: "aws:iam/rolePolicy:RolePolicy",
  props: { name: "shop", policy: document(...statements) },
});
const role = (props: Properties): Resource => ({ type: "aws:iam/role:Role", props });
const trusting = (...statements: object[]) => role({ assumeRolePolicy: document(...statements) });
const web = (condition: object, federated: string | string[] = provider) => ({
  Effect: "Allow",
  Principal: { Federated: federated },
  Action: "sts:AssumeRoleWithWebIdentity",
  Condition: condition,
});

const actions = examplesOf("iam-no-wildcard-actions");
const resources = examplesOf("iam-no-wildcard-resources");
const managed = examplesOf("iam-aws-managed-policies");
const delegated = examplesOf("iam-delegated-boundary");
const irsa = examplesOf("iam-irsa-trust");
const everybody = examplesOf("iam-no-public-trust");
const bounded = examplesOf("iam-permissions-boundary");
const keys = examplesOf("iam-no-user-keys");

const inline = (policy: string): Resource => role({ inlinePolicies: [{ name: "inline", policy }] });
const crossplane = (statement: object): Resource => ({
  type: "aws:iam/rolePolicy:RolePolicy",
  props: { name: "fleet-hub-crossplane", policy: document(allow(statement)) },
});
const inRegion = { Condition: { StringEquals: { "aws:RequestedRegion": "eu-central-1" } } };
const exception = { policy: "shop", statement: "Orders", reason: "a reason that people can judge" };
const attachment = (policyArn: string): Resource => ({
  type: "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
  props: { policyArn },
});

const wrongSubject = (got: string) =>
  `the trust policy fixes ${issuer}:sub to ${got}: StringEquals must name one service account, system:serviceaccount:<namespace>:<name>`;
const wrongAudience = (got: string) =>
  `the trust policy fixes ${issuer}:aud to ${got}: StringEquals must name sts.amazonaws.com`;
const subject = (...subjects: string[]) => ({ [`${issuer}:sub`]: subjects.length === 1 ? subjects[0] : subjects });
const audience = { [`${issuer}:aud`]: "sts.amazonaws.com" };
const shop = "system:serviceaccount:shop:orders";
const noBoundary = (environment: string) =>
  `the role has no permissions boundary: set permissionsBoundary, or exempt environment ${environment}`;

export const iamExamples: readonly Example[] = [
  actions("named actions pass", policy(allow({}))),
  actions("a Deny may hold wildcards", policy(allow({ Effect: "Deny", Action: "*" }))),
  actions("all actions of a service are stopped", policy(allow({ Action: ["dynamodb:*", "sqs:SendMessage"] })), [
    "statement Orders of policy shop allows dynamodb:*: name the actions, or add a reasoned exception",
  ]),
  actions(
    "everything is stopped, in any form that AWS takes",
    policy({ Effect: "Allow", Action: "*", Resource: table }),
    ["statement without a Sid of policy shop allows *: name the actions, or add a reasoned exception"],
  ),
  actions(
    "a part of a name with a wildcard is stopped",
    policy(allow({ Action: ["dynamodb:Put*", "dynamodb:Get?tem"] })),
    [
      "statement Orders of policy shop allows dynamodb:Put* and dynamodb:Get?tem: name the actions, or add a reasoned exception",
    ],
  ),
  actions("everything but some actions is stopped", policy(allow({ Action: undefined, NotAction: ["iam:PassRole"] })), [
    "statement Orders of policy shop allows all actions but iam:PassRole: name the actions in Action",
  ]),
  actions("inline policies of a role are read too", inline(document(allow({ Action: "dynamodb:*" }))), [
    "statement Orders of policy inline allows dynamodb:*: name the actions, or add a reasoned exception",
  ]),
  actions(
    "the reasoned list lets through exactly what it names",
    crossplane({ Sid: "Clusters", Action: ["eks:*Addon", "iam:*"] }),
    ["statement Clusters of policy fleet-hub-crossplane allows iam:*: name the actions, or add a reasoned exception"],
  ),
  actions("an exception of the configuration lets through", policy(allow({ Action: "dynamodb:*" })), [], {
    exceptions: [{ ...exception, actions: ["dynamodb:*"] }],
  }),
  actions(
    "an exception for another policy does not",
    policy(allow({ Action: "dynamodb:*" })),
    ["statement Orders of policy shop allows dynamodb:*: name the actions, or add a reasoned exception"],
    { exceptions: [{ ...exception, policy: "depot", actions: ["dynamodb:*"] }] },
  ),
  actions("a text that is not a policy is left to AWS to refuse", {
    type: "aws:iam/policy:Policy",
    props: { policy: "no policy" },
  }),

  resources(
    "a named resource and a prefix pass",
    policy(allow({ Resource: [table, "arn:aws:iam::111111111111:role/fleet-spoke-*"] })),
  ),
  resources("all resources are stopped", policy(allow({ Resource: "*" })), [
    "statement Orders of policy shop allows its actions on *: name the resources, or add a reasoned exception",
  ]),
  resources(
    "all resources of a kind are stopped",
    policy(allow({ Resource: [table, "arn:aws:iam::111111111111:role/*"] })),
    [
      "statement Orders of policy shop allows its actions on arn:aws:iam::111111111111:role/*: name the resources, or add a reasoned exception",
    ],
  ),
  resources("everything but some resources is stopped", policy(allow({ Resource: undefined, NotResource: [table] })), [
    `statement Orders of policy shop allows its actions on everything but ${table}: name the resources in Resource`,
  ]),
  resources(
    "the reasoned list asks for the condition that makes it bearable",
    [
      crossplane({ Sid: "LookUp", Resource: "*", ...inRegion }),
      { ...crossplane({ Sid: "LookUp", Resource: "*" }), name: "wide" },
    ],
    [
      "wide: statement LookUp of policy fleet-hub-crossplane allows its actions on *: name the resources, or add a reasoned exception",
    ],
  ),
  resources("an exception of the configuration lets through", policy(allow({ Resource: "*" })), [], {
    exceptions: [{ ...exception, allResources: true }],
  }),
  resources(
    "a statement without a Sid has no exception",
    policy(allow({ Sid: undefined, Resource: "*" })),
    ["statement without a Sid of policy shop allows its actions on *: name the resources, or add a reasoned exception"],
    { exceptions: [{ ...exception, statement: "", allResources: true }] },
  ),

  managed("what EKS asks for passes, in any partition", [
    attachment("arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"),
    attachment("arn:aws-cn:iam::aws:policy/AmazonEKS_CNI_Policy"),
  ]),
  managed("a policy of your own passes", attachment("arn:aws:iam::111111111111:policy/orders")),
  managed("administrator rights are stopped", attachment("arn:aws:iam::aws:policy/AdministratorAccess"), [
    "the AWS managed policy AdministratorAccess is attached: allowed are AmazonEKSClusterPolicy, AmazonEC2ContainerRegistryPullOnly, AmazonEKSWorkerNodePolicy, AmazonEKS_CNI_Policy and AmazonSSMManagedInstanceCore; write a policy with the rights that are needed",
  ]),
  managed("the names are a parameter", attachment("arn:aws:iam::aws:policy/ReadOnlyAccess"), [], {
    allowed: ["ReadOnlyAccess"],
  }),

  delegated(
    "roles may be made under a boundary",
    policy(allow({ Action: "iam:CreateRole", Condition: { StringEquals: { "iam:PermissionsBoundary": boundary } } })),
  ),
  delegated("upkeep that gives no rights needs none", policy(allow({ Action: ["iam:TagRole", "iam:DeleteRole"] }))),
  delegated(
    "making roles without a boundary is stopped",
    policy(allow({ Action: ["iam:CreateRole", "iam:PutRolePolicy"] })),
    [
      "statement Orders of policy shop allows iam:CreateRole and iam:PutRolePolicy without a boundary: add StringEquals iam:PermissionsBoundary with its ARN",
    ],
  ),
  delegated(
    "a boundary with a wildcard is none",
    policy(
      allow({
        Action: "iam:Attach*",
        Condition: { ArnEquals: { "iam:PermissionsBoundary": "arn:aws:iam::111111111111:policy/*" } },
      }),
    ),
    [
      "statement Orders of policy shop allows iam:AttachRolePolicy without a boundary: add StringEquals iam:PermissionsBoundary with its ARN",
    ],
  ),

  irsa(
    "what the program writes passes",
    trusting(
      ...serviceAccountTrust({ providerArn: provider, issuer }, { namespace: "shop", serviceAccount: "orders" })
        .Statement,
    ),
  ),
  irsa("a role of an AWS service is none of its business", trusting(...serviceTrust("eks.amazonaws.com").Statement)),
  irsa("any subject is stopped", trusting(web({ StringEquals: audience })), [wrongSubject("nothing")]),
  irsa("a pattern of subjects is stopped", trusting(web({ StringLike: subject(`${shop}*`), StringEquals: audience })), [
    wrongSubject("nothing"),
  ]),
  irsa(
    "a wildcard where StringEquals takes it literally is stopped",
    trusting(web({ StringEquals: { ...subject(`${shop}*`), ...audience } })),
    [wrongSubject(`${shop}*`)],
  ),
  irsa("two subjects are stopped", trusting(web({ StringEquals: { ...subject(shop, `${shop}-2`), ...audience } })), [
    wrongSubject(`${shop} and ${shop}-2`),
  ]),
  irsa("any audience is stopped", trusting(web({ StringEquals: subject(shop) })), [wrongAudience("nothing")]),
  irsa(
    "another audience is stopped",
    trusting(web({ StringEquals: { ...subject(shop), [`${issuer}:aud`]: "kubernetes" } })),
    [wrongAudience("kubernetes")],
  ),
  irsa(
    "conditions on another issuer are stopped",
    trusting(web({ StringEquals: { ...subject(shop), ...audience } }, `${provider}-other`)),
    [
      wrongSubject("nothing").replaceAll(issuer, `${issuer}-other`),
      wrongAudience("nothing").replaceAll(issuer, `${issuer}-other`),
    ],
  ),
  irsa(
    "every provider that one statement trusts is looked at",
    trusting(web({ StringEquals: { ...subject(shop), ...audience } }, [provider, `${provider}-other`])),
    [
      wrongSubject("nothing").replaceAll(issuer, `${issuer}-other`),
      wrongAudience("nothing").replaceAll(issuer, `${issuer}-other`),
    ],
  ),
  irsa(
    "a job of CI names its exact subject in its own form",
    trusting(
      web(
        {
          StringEquals: {
            "token.actions.githubusercontent.com:sub": "repo:example/fleet:environment:prod",
            "token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
          },
        },
        "arn:aws:iam::111111111111:oidc-provider/token.actions.githubusercontent.com",
      ),
    ),
  ),

  everybody(
    "named principals pass",
    trusting({ Effect: "Allow", Principal: { AWS: "arn:aws:iam::111111111111:root" }, Action: "sts:AssumeRole" }),
  ),
  everybody("a Deny for everybody passes", trusting({ Effect: "Deny", Principal: "*", Action: "sts:AssumeRole" })),
  everybody("everybody is stopped", trusting({ Effect: "Allow", Principal: "*", Action: "sts:AssumeRole" }), [
    "the trust policy lets every AWS account assume the role: name the principals",
  ]),
  everybody(
    "every AWS account is stopped",
    trusting({ Effect: "Allow", Principal: { AWS: ["*"] }, Action: "sts:AssumeRole" }),
    ["the trust policy lets every AWS account assume the role: name the principals"],
  ),

  bounded("a role with a boundary passes", role({ permissionsBoundary: boundary, tags: { environment: "prod" } })),
  bounded("development may go without", role({ tags: { environment: "dev" } })),
  bounded("a role of production without one is stopped", role({ tags: { environment: "prod" } }), [noBoundary("prod")]),
  bounded("a role without an environment is not exempt", role({}), [noBoundary("(no tag)")]),
  bounded("an empty one is none", role({ permissionsBoundary: "", tags: { environment: "prod" } }), [
    noBoundary("prod"),
  ]),
  bounded("the exempt environments are a parameter", role({ tags: { environment: "dev" } }), [noBoundary("dev")], {
    exceptEnvironments: [],
  }),

  keys("a user without a key passes", { type: "aws:iam/user:User", props: { name: "ci" } }),
  keys("an access key is stopped", { type: "aws:iam/accessKey:AccessKey", props: { user: "ci" } }, [
    "AccessKey is a long-lived credential of an IAM user: use a role instead",
  ]),
  keys(
    "a password for the console is stopped",
    { type: "aws:iam/userLoginProfile:UserLoginProfile", props: { user: "ci" } },
    ["UserLoginProfile is a long-lived credential of an IAM user: use a role instead"],
  ),
];
