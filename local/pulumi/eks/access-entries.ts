import * as aws from "@pulumi/aws";
import type { types } from "@pulumi/eks";
import * as pulumi from "@pulumi/pulumi";

/** An access entry each, with its policy associations as children. */
export function createAccessEntries(
  component: string,
  clusterName: pulumi.Input<string>,
  entries: Record<string, types.input.AccessEntryArgs>,
  opts: pulumi.CustomResourceOptions,
): aws.eks.AccessEntry[] {
  return Object.entries(entries).map(([name, { username, accessPolicies, ...args }]) => {
    const entry = new aws.eks.AccessEntry(
      `${component}-${name}`,
      { ...args, clusterName, ...(username !== undefined && { userName: username }) },
      opts,
    );
    for (const [key, association] of Object.entries(accessPolicies ?? {})) {
      const { accessScope, policyArn } = pulumi.output(association);
      new aws.eks.AccessPolicyAssociation(
        `${component}-${name}-${key}`,
        { accessScope, policyArn, principalArn: args.principalArn, clusterName },
        { ...opts, parent: entry, dependsOn: [entry] },
      );
    }
    return entry;
  });
}
