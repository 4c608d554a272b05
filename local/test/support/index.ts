/** Support for tests on parts of the embedded cloud. */
export { command } from "./cloud.ts";
export { type ControlPlane, startControlPlane } from "./control-plane.ts";
export { deployed, nodeGroupsOf, removed, watchAvailability } from "./drained-app.ts";
export {
  allow,
  arnOf,
  assume,
  type Clients,
  type Credentials,
  type GatewayCloud,
  outcome,
  startGatewayCloud,
  trustOf,
} from "./gateway.ts";
export { machineState } from "./machine.ts";
export { type Network, networkAt, podNetwork } from "./pod-network.ts";
export { claimPolicyAddresses } from "./policy-addresses.ts";
export type { Place } from "./policy-cluster.ts";
export { killHard } from "./processes.ts";
export { type Layout, makeProject, type Project } from "./project.ts";
export { signedCalls } from "./signed-call.ts";
