import { type BoundaryScope, denyStatements, loadBalancerStatements, readStatements } from "./boundary.ts";
import { nodeStatements, onNodesStatement, tagInterfacesStatement } from "./nodes.ts";
import { type PolicyDocument, policy } from "./policy.ts";

/**
 * The permissions boundary of the roles that Cluster API's AWS provider makes: the most that a control plane or a node of its clusters can
 * do. Of the fleet's boundary (`spokeBoundary`) it has what these two need, and besides what a node needs that only EKS tagged. They are in
 * the hub's account and region.
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
  );
}
