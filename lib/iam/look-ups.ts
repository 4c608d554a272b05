import { perRegion, type Scope, type Statement } from "./policy.ts";

/** What is looked up in the region and has no ARN to name: networks, versions of add-ons, aliases of keys, log groups. */
export const lookUps = [
  "ec2:Describe*",
  "eks:DescribeAddonVersions",
  "kms:ListAliases",
  "logs:DescribeLogGroups",
] as const;

/** Lets look up what `actions` name. */
export const lookUpStatement = (scope: Scope, actions: readonly string[] = lookUps): Statement => ({
  Sid: "LookUp",
  Effect: "Allow",
  Action: actions,
  Resource: ["*"],
  Condition: { StringEquals: { "aws:RequestedRegion": perRegion(scope) } },
});
