import type * as amp from "@aws-sdk/client-amp";
import type { Known, Wire } from "../aws/wire.ts";

export type Workspace = Known<
  Wire<amp.WorkspaceDescription>,
  "workspaceId" | "arn" | "status" | "createdAt" | "prometheusEndpoint" | "tags"
>;
export type RuleGroupsNamespace = Known<
  Wire<amp.RuleGroupsNamespaceDescription>,
  "arn" | "name" | "status" | "data" | "createdAt" | "modifiedAt" | "tags"
>;
type AlertManagerDefinition = Known<
  Wire<amp.AlertManagerDefinitionDescription>,
  "status" | "data" | "createdAt" | "modifiedAt"
>;

export interface NamespaceRecord {
  namespace: RuleGroupsNamespace;
  readonly clientToken: string | undefined;
  /** The rules that Prometheus took last, base64; absent until it took some. */
  running?: string;
}

export interface AlertManagerRecord {
  definition: AlertManagerDefinition;
  readonly clientToken: string | undefined;
}

/** Everything that the API knows of one workspace: one file. */
export interface WorkspaceRecord {
  /** 0 to 24: its port derives from it. */
  readonly number: number;
  workspace: Workspace;
  readonly clientToken: string | undefined;
  configuration: { status: "ACTIVE" | "UPDATING"; retentionDays: number };
  namespaces: Record<string, NamespaceRecord>;
  alertManager?: AlertManagerRecord;
}
