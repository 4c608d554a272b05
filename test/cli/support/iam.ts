import { result } from "../doctor/support/aws.ts";

/** A role of a permission set, as IAM Identity Center makes it. */
export const ssoRole =
  "arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/eu-central-1/AWSReservedSSO_Admins_0123456789abcdef";

const role = (arn: string): string => `<RoleName>${arn.split("/").at(-1)}</RoleName><Arn>${arn}</Arn>`;

/** An answer of GetRole. */
export const roleAnswer = (arn: string): string => result("GetRole", `<Role>${role(arn)}</Role>`);

/** An answer of ListRoles. */
export const rolesAnswer = (...arns: readonly string[]): string =>
  result(
    "ListRoles",
    `<Roles>${arns.map((arn) => `<member>${role(arn)}</member>`).join("")}</Roles><IsTruncated>false</IsTruncated>`,
  );
