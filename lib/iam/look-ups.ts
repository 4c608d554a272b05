import { perRegion, type Scope, type Statement } from "./policy.ts";

/** What is looked up in the region and has no ARN to name: networks, versions of add-ons, aliases of keys, log groups. */
export function lookUpStatement(scope: Scope): Statement {
  return {
    Sid: "LookUp",
    Effect: "Allow",
    Action: ["ec2:Describe*", "eks:DescribeAddonVersions", "kms:ListAliases", "logs:DescribeLogGroups"],
    Resource: ["*"],
    Condition: { StringEquals: { "aws:RequestedRegion": perRegion(scope) } },
  };
}
