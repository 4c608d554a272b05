import { networkStatements } from "./ec2.ts";
import type { Scope, Statement } from "./policy.ts";

export interface SpokeNetworkScope extends Scope {
  readonly fleet: string;
}

/** What is left over when nodes go, and keeps a subnet from being deleted: the VPC CNI's interfaces carry the fleet's tag. */
const leftovers = ["DeleteNetworkInterface", "DetachNetworkInterface", "DisassociateAddress"];

/** Networks of spokes, in the hub's region. */
export function spokeNetworkStatements(scope: SpokeNetworkScope): Statement[] {
  return networkStatements(scope, { changes: leftovers });
}
