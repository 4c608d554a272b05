/** What a principal can do in the end: by itself, and through every role that it could make, take over, assume or pass. */
import { type PolicyDocument, policy } from "../../lib/iam/policy.ts";
import { allowed } from "./iam.ts";
import { type IamRequest, mentions } from "./iam-evaluator.ts";

/** A session of a role, with the role's tags overlaid by those of the session. */
export interface Session {
  readonly roleArn: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly policy: PolicyDocument;
  readonly boundary?: PolicyDocument;
}

/** What an attacker may try. */
export interface Attack {
  /** ARNs of roles to make, or to take over where they exist. */
  readonly roleArns: readonly string[];
  /** Tags of a role or of a session of it. */
  readonly tags: readonly Readonly<Record<string, string>>[];
  /** Tags that a role needs for some to be allowed to make it. */
  readonly makerTags: Readonly<Record<string, string>>;
  /** Managed policies that can be a boundary, by ARN. */
  readonly boundaries: Readonly<Record<string, PolicyDocument>>;
  /** Managed policies to attach, by ARN: each stands for all rights. */
  readonly attachable: readonly string[];
  /** Roles that exist already. */
  readonly existing: readonly Session[];
}

const everything = policy({ Effect: "Allow", Action: ["*"], Resource: ["*"] });

const principals = new WeakMap<Session, Readonly<Record<string, string>>>();

/** What IAM knows of a caller. */
function principalContext(session: Session): Readonly<Record<string, string>> {
  const { roleArn, tags } = session;
  const context = principals.get(session) ?? {
    "aws:RequestedRegion": "us-east-1",
    "aws:PrincipalArn": roleArn,
    ...Object.fromEntries(Object.entries(tags).map(([key, value]) => [`aws:PrincipalTag/${key}`, value])),
  };
  principals.set(session, context);
  return context;
}

/** Whether policy and boundary together allow the request of this session. */
export function permits(session: Session, request: IamRequest): boolean {
  const { policy: own, boundary } = session;
  // Most requests end here, before anything is compared.
  if ([own, boundary ?? own].some((document) => !mentions(document, request.action))) return false;
  const context = { ...principalContext(session), ...request.context };
  const inContext = { ...request, context };
  return allowed(own, inContext) && (boundary === undefined || allowed(boundary, inContext));
}

/** The boundary that is left of `arn` when the session can rewrite the policy or take it off the role. */
function leftOf(
  session: Session,
  roleArn: string,
  arn: string | undefined,
  attack: Attack,
): PolicyDocument | undefined {
  if (arn === undefined) return undefined;
  const context = { "iam:PermissionsBoundary": arn };
  const freed =
    permits(session, { action: "iam:DeleteRolePermissionsBoundary", resource: roleArn, context }) ||
    permits(session, { action: "iam:CreatePolicyVersion", resource: arn });
  return freed ? everything : attack.boundaries[arn];
}

/** Conditions that judge a role by its tags, in a request that gives them to it and in one that finds them on it. */
const tagContext = (prefix: string, tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [`${prefix}/${key}`, value]));
const existingTags = (tags: Readonly<Record<string, string>>) => ({
  ...tagContext("aws:ResourceTag", tags),
  ...tagContext("iam:ResourceTag", tags),
});

/** Whether the session gives the role any right that it likes: an inline policy, or a managed one. */
function givesRights(
  session: Session,
  {
    roleArn,
    tags,
    bounded,
  }: Pick<Session, "roleArn" | "tags"> & { readonly bounded: Readonly<Record<string, string>> },
  attack: Attack,
): boolean {
  const context = { ...bounded, ...existingTags(tags) };
  return (
    permits(session, { action: "iam:PutRolePolicy", resource: roleArn, context }) ||
    attack.attachable.some((policyArn) =>
      permits(session, {
        action: "iam:AttachRolePolicy",
        resource: roleArn,
        context: { ...context, "iam:PolicyARN": policyArn },
      }),
    )
  );
}

/** Roles that the session makes: with any trust, so that it assumes them with any tags, whatever tags they need to be made. */
function made(session: Session, attack: Attack): Session[] {
  return [undefined, ...Object.keys(attack.boundaries)].flatMap((boundary) => {
    const bounded = boundary === undefined ? {} : { "iam:PermissionsBoundary": boundary };
    const creates = (resource: string, tags: Session["tags"]) =>
      permits(session, {
        action: "iam:CreateRole",
        resource,
        context: { ...bounded, ...tagContext("aws:RequestTag", tags) },
      }) && givesRights(session, { roleArn: resource, tags, bounded }, attack);
    return attack.roleArns.flatMap((roleArn) => {
      const own = [{}, attack.makerTags].find((tags) => creates(roleArn, tags));
      if (own === undefined) return [];
      const left = leftOf(session, roleArn, boundary, attack);
      return attack.tags.map((tags) => ({
        roleArn,
        tags: { ...own, ...tags },
        policy: everything,
        ...(left === undefined ? {} : { boundary: left }),
      }));
    });
  });
}

/** Roles that are there already and whose trust the session rewrites: it assumes them with any tags. */
function taken(session: Session, attack: Attack): Session[] {
  return attack.existing
    .filter((role) => {
      const [arn] = Object.entries(attack.boundaries).find(([, document]) => document === role.boundary) ?? [];
      const context = { ...existingTags(role.tags), ...(arn !== undefined && { "iam:PermissionsBoundary": arn }) };
      return permits(session, { action: "iam:UpdateAssumeRolePolicy", resource: role.roleArn, context });
    })
    .flatMap((role) => attack.tags.map((tags) => ({ ...role, tags: { ...role.tags, ...tags } })));
}

/** Services whose machines and pods act with a role that is passed to them, and which the session may use in a cluster of its own. */
const passedTo = ["ec2.amazonaws.com", "eks.amazonaws.com", "pods.eks.amazonaws.com"];

/** Roles that exist and that the session passes to such a service. */
const passed = (session: Session, attack: Attack): Session[] =>
  attack.existing.filter(({ roleArn: resource, tags }) =>
    passedTo.some((service) =>
      permits(session, {
        action: "iam:PassRole",
        resource,
        context: { ...existingTags(tags), "iam:PassedToService": service },
      }),
    ),
  );

const documents = new Map<PolicyDocument | undefined, number>();
const numberOf = (document: PolicyDocument | undefined): number => {
  if (!documents.has(document)) documents.set(document, documents.size);
  return documents.get(document) ?? -1;
};
const identityOf = ({ roleArn, tags, policy: own, boundary }: Session): string =>
  JSON.stringify([roleArn, tags, numberOf(own), numberOf(boundary)]);

/** Every session that `first` comes to, itself included. */
export function effective(first: Session, attack: Attack): Session[] {
  const found = new Map([[identityOf(first), first]]);
  // A Map yields what is added while it is walked.
  for (const session of found.values())
    for (const next of [...made(session, attack), ...taken(session, attack), ...passed(session, attack)])
      if (!found.has(identityOf(next))) found.set(identityOf(next), next);
  return [...found.values()];
}
