import * as pulumi from "@pulumi/pulumi";
import { GitHubRoles } from "../../components/github-roles.ts";
import { jobs } from "../../lib/iam/github-roles.ts";
import { fleetTag } from "../../lib/labels.ts";
import { environmentCommands } from "./commands.ts";
import { loadCiSettings } from "./settings.ts";

/** IAM roles of the GitHub workflows of a hub's stack: docs/guides/checks.md#pull-requests. */

// Environments at GitHub are named after the hub's stack, and so is this stack.
const stack = pulumi.getStack();
const settings = loadCiSettings(stack);
const { accountId, region, fleet, purposes, backend, reviewers, project, registry, system } = settings;
const repositories = { project, ...(system !== "none" && { system }) };
const [, bucket] = /^s3:\/\/([^/?]+)/.exec(backend) ?? [];

const ci = new GitHubRoles("ci", {
  ...{ accountId, region, fleet, stack, purposes, repositories },
  state: { bucket, keyArn: settings.stateKey || undefined, tokenArn: settings.pulumiToken || undefined },
  registry: registry || undefined,
  existingProvider: settings.oidcProvider === "existing",
  hubBoundary: settings.hubBoundary || undefined,
  rolePath: settings.rolePath,
  boundaryStatements: settings.boundaryStatements,
  grafana: settings.grafana || undefined,
  secretsKeyArn: settings.secretsKeyArn || undefined,
  tags: { ...settings.tags, [fleetTag]: fleet },
});

/** ARN of each role. */
export const { roleArns, boundaryArn } = ci;
/** For `clusterAdmins` and `clusterViewers` of the hub's stack, whose access entries give these roles the Kubernetes API. */
export const clusterAdmins = pulumi.all(
  purposes.filter((each) => each === "apply").map((each) => roleArns[each] ?? ""),
);
export const clusterViewers = pulumi.all(
  purposes.filter((each) => each === "drift" || each === "preview").map((each) => roleArns[each] ?? ""),
);
/** A shell script: it creates the environments at GitHub and sets the variables that the workflows read. */
export const environments = pulumi.output(roleArns).apply((arns) =>
  environmentCommands(
    purposes.map((purpose) => ({
      purpose,
      repository: repositories[jobs[purpose].repository]?.name ?? "",
      arn: arns[purpose] ?? "",
    })),
    { stack, region, backend, registry, reviewers },
  ),
);
