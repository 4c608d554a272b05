/** The cases of Managed Prometheus: its workspaces need the program of Prometheus, which not every instance has. */
import type { HandlerCase } from "./aws-handler-cases.ts";

const WORKSPACE = "aws:amp/workspace:Workspace";
const tags = { team: "platform" };
const otherTags = { stage: "two" };

const rules = (expr: string) => `groups: [{ name: case, rules: [{ record: case, expr: ${expr} }] }]`;
const alertManager = (receiver: string) =>
  `alertmanager_config: |\n  route: { receiver: ${receiver} }\n  receivers: [{ name: ${receiver} }]\n`;

export const ampCases: readonly HandlerCase[] = [
  {
    token: WORKSPACE,
    inputs: async (make) => ({
      alias: "one",
      kmsKeyArn: `arn:aws:kms:us-east-1:000000000000:key/${await make("aws:kms/key:Key", { enableKeyRotation: false })}`,
      tags,
    }),
    change: { alias: "two", tags: otherTags },
  },
  {
    token: "aws:amp/ruleGroupNamespace:RuleGroupNamespace",
    inputs: async (make) => ({ workspaceId: await make(WORKSPACE, {}), name: "case", data: rules("up"), tags }),
    change: { data: rules("down"), tags: otherTags },
  },
  {
    token: "aws:amp/alertManagerDefinition:AlertManagerDefinition",
    inputs: async (make) => ({ workspaceId: await make(WORKSPACE, {}), definition: alertManager("one") }),
    change: { definition: alertManager("two") },
  },
];
