/** What other parts and the benchmarks use of the gateway. */
export { RECORDED_CLUSTERS } from "./eks/recorded-clusters.ts";
export { clearFaults, faultsFile, setFaults } from "./faults/faults.ts";
export { ensureGatewayKey } from "./key.ts";
export { ACCOUNT, REGION } from "./ministack.ts";
