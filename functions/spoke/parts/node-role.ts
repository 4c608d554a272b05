import { nodeTrust } from "../../../lib/eks-baseline.ts";
import { autoModePolicies } from "../../../lib/iam/auto-mode.ts";
import { managedPolicies } from "../../../lib/iam/deployer.ts";
import { isAuto } from "../auto-mode.ts";
import type { Context } from "../context.ts";
import type { RoleArgs } from "./roles.ts";

/** Role of the nodes. EKS makes the access entry by which they come in, of nodes of EKS Auto Mode too. */
export const nodeRole = ({ names, spoke }: Pick<Context, "names" | "spoke">): RoleArgs => ({
  role: "node",
  roleName: names.nodeRole,
  description: `Nodes of ${names.cluster}`,
  trust: nodeTrust,
  managedPolicies: [
    ...(isAuto(spoke) ? autoModePolicies.node : managedPolicies.node),
    ...(spoke.spec.sessionManager ? managedPolicies.sessions : []),
  ],
});
