/** Where pods ask (EKS User Guide, "EKS Pod Identity considerations"). Nodes here have no IPv6, so not under [fd00:ec2::23]. */
export const AGENT_ADDRESS = "169.254.170.23";
