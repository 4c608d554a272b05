/** What is known outside of the AWS API of an instance. */
export { RECORDED_CLUSTERS } from "./eks/recorded-clusters.ts";
export { ensureGatewayKey } from "./key.ts";
export { ACCOUNT, REGION } from "./ministack.ts";
