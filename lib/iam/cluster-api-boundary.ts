import { clusterApiMaker, fleetTag, madeByTag } from "../labels.ts";
import { type BoundaryScope, denyStatements, loadBalancerStatements, readStatements } from "./boundary.ts";
import { nodeStatements, onNodesStatement, tagInterfacesStatement } from "./nodes.ts";
import { type PolicyDocument, policy, type Statement } from "./policy.ts";

/** Denies calls on what Crossplane made for spokes, which carries the fleet's tag too; what the chart makes has its maker's beside it. */
export const notOfOthers = (Action: readonly string[]): Omit<Statement, "Sid"> => ({
  Effect: "Deny",
  Action,
  Resource: ["*"],
  Condition: {
    Null: { [`aws:ResourceTag/${fleetTag}`]: "false" },
    StringNotEquals: { [`aws:ResourceTag/${madeByTag}`]: clusterApiMaker },
  },
});

/**
 * The permissions boundary of the roles that Cluster API's AWS provider makes: the most that a control plane or a node of its clusters can
 * do. Of the fleet's boundary (`spokeBoundary`) it has what these two need, and besides what a node needs that only EKS tagged. They are in
 * the hub's account and region. Cluster API chooses the tags of these roles, another cluster's name among them: of what Crossplane made they
 * reach nothing whatever they are tagged as.
 */
export function clusterApiBoundary({
  partition,
  accountId,
  region,
  fleet,
}: Pick<BoundaryScope, "partition" | "accountId" | "region" | "fleet">): PolicyDocument {
  const scope = { partition, accountId, region, fleet };
  return policy(
    ...readStatements(scope),
    ...nodeStatements(scope),
    onNodesStatement("NodeInterfaces", ["*tachNetworkInterface", "ModifyNet*"]),
    tagInterfacesStatement(scope),
    ...loadBalancerStatements(scope),
    ...denyStatements(scope),
    notOfOthers(["ec2:*", "elasticloadbalancing:*"]),
  );
}
