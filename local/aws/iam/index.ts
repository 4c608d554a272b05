/** The resources of IAM. */
import type { Handler } from "../handler.ts";
import { openIdConnectProvider } from "./open-id-connect-provider.ts";
import { policy } from "./policy.ts";
import { role, rolePolicy, rolePolicyAttachment } from "./roles.ts";

export const iamResources: readonly Handler[] = [openIdConnectProvider, policy, role, rolePolicy, rolePolicyAttachment];
