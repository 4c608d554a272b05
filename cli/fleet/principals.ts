import { GetRoleCommand, GetUserCommand, IAMClient, paginateListRoles } from "@aws-sdk/client-iam";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { type Problem, shown } from "../../lib/problems.ts";
import { all, unlessMissing } from "../aws-calls.ts";
import { type AwsConfig, isDenied, isNoLogin, logIn } from "../doctor/aws.ts";

/** IAM roles and users as access entries of EKS name them: by their ARN with its path. */

/** A session: the ARN that sts:GetCallerIdentity shows, also to users of IAM Identity Center. It has no path. */
const sessionForm = /^arn:(?<partition>aws[a-z-]*):sts::(?<account>\d{12}):assumed-role\/(?<role>[\w+=,.@-]+)\/[^/]+$/;
const principalForm =
  /^arn:(?<partition>aws[a-z-]*):iam::(?<account>\d{12}):(?<kind>role|user)\/(?:.+\/)?(?<name>[^/]+)$/;

/** Roles that IAM Identity Center makes for its permission sets (IAM Identity Center User Guide, "Referencing permission sets"). */
const ssoPath = "/aws-reserved/sso.amazonaws.com/";
/** Their name without the suffix, which changes when the permission set is provisioned again. */
const permissionSetOf = (role: string): string | undefined => /^(AWSReservedSSO_.+)_[0-9a-f]{16}$/.exec(role)?.[1];

/** The region of IAM's endpoint by partition (AWS General Reference, "IAM endpoints and quotas"). */
const iamRegions: Readonly<Record<string, string>> = { "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1" };

interface PrincipalParts {
  readonly account: string;
  readonly kind: "role" | "user";
  readonly name: string;
}

/** The parts of the ARN of a role or user; undefined for anything else. */
export const partsOf = (arn: string): PrincipalParts | undefined =>
  principalForm.exec(arn)?.groups as PrincipalParts | undefined;

const regionOf = (arn: string): string => iamRegions[arn.split(":")[1] ?? ""] ?? "us-east-1";

/** A client of IAM, which is global in the partition of an ARN. */
export const iamOf = (arn: string, config: AwsConfig = {}): IAMClient =>
  new IAMClient({ ...config, region: regionOf(arn) });

/** The account of the caller's credentials, in the partition of an ARN. */
export async function callersAccount(config: AwsConfig, arn: string): Promise<string | undefined> {
  const sts = new STSClient({ ...config, region: regionOf(arn) });
  return (await sts.send(new GetCallerIdentityCommand({}))).Account;
}

const roleNamed = async (iam: IAMClient, RoleName: string): Promise<string | undefined> =>
  (await unlessMissing(iam.send(new GetRoleCommand({ RoleName }))))?.Role?.Arn;

const userNamed = async (iam: IAMClient, UserName: string): Promise<string | undefined> =>
  (await unlessMissing(iam.send(new GetUserCommand({ UserName }))))?.User?.Arn;

/** The role that a permission set has now. */
async function roleOfSet(iam: IAMClient, permissionSet: string): Promise<string | undefined> {
  const roles = await all(paginateListRoles({ client: iam }, { PathPrefix: ssoPath }), ({ Roles }) => Roles);
  return roles.find(({ RoleName = "" }) => permissionSetOf(RoleName) === permissionSet)?.Arn;
}

/** What IAM has of a principal. */
export interface Standing {
  readonly exists: boolean;
  /** What has its place: the same name with another path, or the new role of its permission set. */
  readonly successor: string | undefined;
}

/** Whether a principal of the caller's account exists. */
export async function standingOf(iam: IAMClient, arn: string): Promise<Standing> {
  const { kind = "role", name = "" } = partsOf(arn) ?? {};
  const found = await (kind === "role" ? roleNamed(iam, name) : userNamed(iam, name));
  if (found !== undefined) return { exists: found === arn, successor: found === arn ? undefined : found };
  const permissionSet = permissionSetOf(name);
  return { exists: false, successor: permissionSet && (await roleOfSet(iam, permissionSet)) };
}

async function resolved(key: string, arn: string, config: AwsConfig): Promise<string | Problem> {
  const { account = "", role = "" } = sessionForm.exec(arn)?.groups ?? {};
  if (role === "") return arn;
  const problem = (what: string, remedy: string): Problem => ({
    ...{ key, what, got: shown(arn), remedy },
    allowed: "a session of a role that exists in its account, or the ARN of the role",
  });
  const look = `aws iam get-role --role-name ${role} --query Role.Arn --output text`;
  try {
    const found = await roleNamed(iamOf(arn, config), role);
    if (found === undefined)
      return problem("is a session of a role that IAM does not have", "log in again, and give the new ARN");
    const other = found.split(":")[4];
    if (other === account) return found;
    return problem(
      `is a session in account ${account}, and the credentials are for account ${other}`,
      `give the role's ARN, which this shows with credentials for ${account}: ${look}`,
    );
  } catch (error) {
    const { name, message } = error as Error;
    const remedy = isNoLogin(error) ? logIn : isDenied(error) ? "allow this identity iam:GetRole" : "correct this";
    return problem(`can't be resolved: ${name}: ${message}`, `${remedy}; or give the role's ARN, as shown by ${look}`);
  }
}

/** Replaces sessions by their roles, which IAM has with their path. Other values are unchanged. */
export async function rolesOf(
  key: string,
  arns: readonly string[],
  config: AwsConfig = {},
): Promise<{ readonly arns: string[]; readonly problems: Problem[] }> {
  const found = await Promise.all(arns.map((arn) => resolved(key, arn, config)));
  return {
    arns: found.map((each, index) => (typeof each === "string" ? each : (arns[index] ?? ""))),
    problems: found.filter((each) => typeof each !== "string"),
  };
}
