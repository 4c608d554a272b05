/** Logs that an EKS control plane can write to CloudWatch (EKS API Reference, LogSetup). */
export const controlPlaneLogTypes = ["api", "audit", "authenticator", "controllerManager", "scheduler"] as const;

export type ControlPlaneLogType = (typeof controlPlaneLogTypes)[number];

/** Who did what, and who came in as whom. The default of hubs and spokes, and what the policy pack asks for. */
export const auditLogTypes: readonly ControlPlaneLogType[] = ["audit", "authenticator"];
