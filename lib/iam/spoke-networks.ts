import { networkStatements } from "./ec2.ts";
import type { Scope, Statement } from "./policy.ts";

export interface SpokeNetworkScope extends Scope {
  readonly fleet: string;
}

/** Networks of spokes, in the hub's region. */
export function spokeNetworkStatements(scope: SpokeNetworkScope): Statement[] {
  return networkStatements(scope, { endpoints: false });
}
