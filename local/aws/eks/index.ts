/** The resources of EKS. */
import type { Handler } from "../handler.ts";
import { accessEntry, accessPolicyAssociation } from "./access.ts";
import { addon } from "./addon.ts";
import { cluster } from "./cluster.ts";
import { nodeGroup } from "./node-group.ts";
import { podIdentityAssociation } from "./pod-identity.ts";

export const eksResources: readonly Handler[] = [
  accessEntry,
  accessPolicyAssociation,
  addon,
  cluster,
  nodeGroup,
  podIdentityAssociation,
];
