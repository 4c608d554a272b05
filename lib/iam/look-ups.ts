import { perRegion, type Scope, type Statement } from "./policy.ts";

/** What is looked up in the region and has no ARN to name: networks, versions of add-ons, aliases of keys, log groups, and what `also` names. */
export function lookUpStatement(scope: Scope, also: readonly string[] = []): Statement {
  return {
    Sid: "LookUp",
    Effect: "Allow",
    Action: ["ec2:Describe*", "eks:DescribeAddonVersions", "kms:ListAliases", "logs:DescribeLogGroups", ...also],
    Resource: ["*"],
    Condition: { StringEquals: { "aws:RequestedRegion": perRegion(scope) } },
  };
}
