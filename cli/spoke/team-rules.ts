import { type TeamAccess, teamAccessPolicies } from "../../functions/spoke/teams.ts";
import { isFleetRole, isPlatformNamespace, platformNamespaces } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { slug } from "../app/rules.ts";

/** The request to give a team access to its namespaces. */
export interface TeamRequest {
  readonly name: string;
  /** Spokes. */
  readonly clusters: readonly string[];
  readonly namespaces: readonly string[];
  /** `ARN=access` each, as a person writes it. */
  readonly roles: readonly string[];
}

export interface Member {
  readonly role: string;
  readonly access: TeamAccess;
}

/** A team as it stands in a Spoke. */
export interface WrittenTeam {
  readonly name: string;
  readonly namespaces: readonly string[];
  readonly members: readonly Member[];
}

const accesses = Object.keys(teamAccessPolicies);
const roleArn = /^arn:aws[-a-z]*:iam::[0-9]{12}:role\/[A-Za-z0-9_+=,.@/-]+$/;

/** The two halves of `ARN=access`; the name of a role may have an equals sign too. */
function halves(text: string): readonly [role: string, access: string] {
  const at = text.lastIndexOf("=");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** The members that the request names, each once. */
export function membersOf({ roles }: TeamRequest): Member[] {
  return [...new Set(roles)].map(halves).map(([role, access]) => ({ role, access: access as TeamAccess }));
}

function roleProblem(text: string, fleet: string): Omit<Problem, "key" | "got"> | undefined {
  const [role, access] = halves(text);
  if (!roleArn.test(role) || !accesses.includes(access))
    return {
      what: "is not a role with its access",
      allowed: `arn:aws:iam::<account>:role/<name>=<access>, with ${accesses.join(", ")}; no user, and no session of a role (assumed-role)`,
      remedy: "write the role's ARN, an equals sign and the access",
    };
  if (!isFleetRole(fleet, role)) return undefined;
  return {
    what: "is a role of the fleet itself: of its controllers, its nodes or an application's pods",
    allowed: "roles that people assume",
    remedy: "name the role of the team's members",
  };
}

/** The problems of the flags by themselves. */
export function teamProblems(request: TeamRequest, fleet: string): Problem[] {
  const { name, namespaces, roles } = request;
  const members = membersOf(request);
  const twice = members.filter(({ role }, index) => members.findIndex((other) => other.role === role) < index);
  return [
    ...(slug.test(name) && name !== "platform"
      ? []
      : [
          {
            key: "<team>",
            what: name === "platform" ? "administers the whole cluster" : "is not a name",
            got: shown(name),
            allowed:
              "at most 63 lower-case letters, digits and hyphens, not platform: what fleet onboard got as --tenant",
            remedy: name === "platform" ? "put its roles into spec.admins" : "correct the name",
          },
        ]),
    ...namespaces
      .filter((namespace) => !slug.test(namespace) || isPlatformNamespace(namespace))
      .map((namespace) => ({
        key: "--namespace",
        what: slug.test(namespace) ? "is a namespace of the platform" : "is not the name of a namespace",
        got: shown(namespace),
        allowed: `whole names of applications' namespaces, none of ${platformNamespaces.join(", ")}, and not kube-…`,
        remedy: "name the namespaces of the team's applications",
      })),
    ...[...new Set(roles)].flatMap((text) => {
      const problem = roleProblem(text, fleet);
      return problem === undefined ? [] : [{ key: "--role", got: shown(text), ...problem }];
    }),
    ...twice.map(({ role, access }) => ({
      key: "--role",
      what: "is named twice with different access",
      got: shown(`${role}=${access}`),
      allowed: "each role once",
      remedy: "keep the one that is meant; admin includes edit, and edit includes view",
    })),
  ];
}

/** What the files say of a spoke on which a team is to have access. */
export interface Place {
  readonly spoke: string;
  readonly teams: readonly WrittenTeam[];
  readonly admins: readonly string[];
  /** The namespaces that gitops-workloads puts there, and whose they are; undefined without a checkout of it. */
  readonly tenants?: ReadonlyMap<string, string | undefined> | undefined;
}

function namespaceProblems(team: string, namespace: string, { spoke, teams, tenants }: Place): Problem[] {
  const other = teams.find(({ name, namespaces }) => name !== team && namespaces.includes(namespace));
  if (other !== undefined)
    return [
      {
        key: "--namespace",
        what: `is a namespace of the team ${other.name} on ${spoke}`,
        got: namespace,
        allowed: "each namespace in one team",
        remedy: `name another one, or add the role to ${other.name}: a role can be a member of several teams`,
      },
    ];
  if (tenants === undefined || (tenants.has(namespace) && tenants.get(namespace) === team)) return [];
  const own = [...tenants].filter(([, tenant]) => tenant === team).map(([name]) => name);
  return [
    {
      key: "--namespace",
      what: tenants.has(namespace)
        ? `is a namespace of ${tenants.get(namespace) ?? "nobody"} on ${spoke}, by its label fleet.internal/tenant`
        : `is not among what gitops-workloads puts on ${spoke}`,
      got: namespace,
      allowed: own.sort().join(", ") || `(${team} has none there)`,
      remedy: `correct it, pull that checkout, or make the namespace with its application first: fleet onboard ${namespace} --cluster ${spoke} --tenant ${team} …`,
    },
  ];
}

function memberProblems(team: string, { role, access }: Member, { spoke, teams, admins }: Place): Problem[] {
  if (admins.includes(role))
    return [
      {
        key: "--role",
        what: `administers ${spoke} by spec.admins, so that it has more already`,
        got: shown(role),
        allowed: "roles that are not in admins",
        remedy: "leave it out, or take it out of spec.admins",
      },
    ];
  const own = teams.find(({ name }) => name === team)?.members.find((member) => member.role === role);
  if (own === undefined || own.access === access) return [];
  return [
    {
      key: "--role",
      what: `has another access in ${team} on ${spoke}`,
      got: access,
      allowed: own.access,
      remedy: "change it in spoke.yaml: the command only adds",
    },
  ];
}

/** The problems of the request beside what there is on a spoke. */
export function placeProblems(request: TeamRequest, place: Place): Problem[] {
  const { name, namespaces } = request;
  return [
    ...namespaces
      .filter((namespace) => slug.test(namespace) && !isPlatformNamespace(namespace))
      .flatMap((namespace) => namespaceProblems(name, namespace, place)),
    ...membersOf(request).flatMap((member) => memberProblems(name, member, place)),
  ];
}
