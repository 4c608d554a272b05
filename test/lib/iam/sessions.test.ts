import { describe, expect, it } from "vitest";
import { spokeBoundary } from "../../../lib/iam/boundary.ts";
import { policy } from "../../../lib/iam/policy.ts";
import { identityTag } from "../../../lib/labels.ts";
import { permits } from "../../support/iam-effective.ts";
import { account, iam, role, spokeTags } from "./estate.ts";

const may = (action: string) =>
  permits(
    {
      roleArn: role("fleet-spoke-blue-node"),
      tags: { ...spokeTags("blue"), [identityTag]: "node" },
      policy: policy({ Effect: "Allow", Action: ["*"], Resource: ["*"] }),
      boundary: spokeBoundary({ ...account, fleet: "fleet", tenantBoundaryArn: iam("policy/fleet-tenant-boundary") }),
    },
    { action, resource: "*", context: { "aws:RequestedRegion": "us-east-1" } },
  );
// Systems Manager User Guide, "Add Session Manager permissions to an existing IAM role".
const ofSessions = [
  ...["ssm:UpdateInstanceInformation", "ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel"],
  ...["ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel"],
];

describe("Session Manager", () => {
  it.each(ofSessions)("lets a node %s", (action) => expect(may(action)).toBe(true));

  it.each(["ssm:GetParameter", "ssm:GetParameters", "ssm:PutInventory", "ssm:SendCommand", "ssm:StartSession"])(
    "does not let a node %s",
    (action) => expect(may(action)).toBe(false),
  );
});
