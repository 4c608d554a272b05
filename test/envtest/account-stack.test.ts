/** The stack of an account besides the hub's (infra/account), against the real Pulumi engine and two accounts of an AWS API of its own. */

import {
  CreateRoleCommand,
  DeleteRoleCommand,
  ListPoliciesCommand,
  ListRolesCommand,
  PutRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { CreateKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { GetCallerIdentityCommand } from "@aws-sdk/client-sts";
import { ACCOUNT, clearFaults, REGION, setFaults } from "@eks-gitops-fleet/local/gateway";
import {
  allow,
  arnOf,
  assume,
  type Clients,
  type Credentials,
  type GatewayCloud,
  outcome,
  type Project,
  startGatewayCloud,
  trustOf,
} from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deployerPolicies } from "../../lib/iam/deployer.ts";
import { fleetTag } from "../../lib/labels.ts";
import { accountStack } from "./support/account-stack.ts";

const OTHER = "222222222222";
const FLEET = "fleet";
const CROSSPLANE = `${FLEET}-hub-crossplane`;
const ROLE_PATH = "/company/";
const COMPANY_BOUNDARY = "arn:aws:iam::aws:policy/AdministratorAccess";
/** As a company requires it of every role. */
const config = {
  rolePath: ROLE_PATH,
  permissionsBoundary: COMPANY_BOUNDARY,
  "boundaryStatements[0].Effect": "Deny",
  "boundaryStatements[0].Action": "organizations:*",
  "boundaryStatements[0].Resource": "*",
};
const role = (name: string, account: string) => arnOf(`role${ROLE_PATH}${name}`, account);
const boundary = (account: string) => arnOf(`policy/${FLEET}-boundary`, account);

let cloud: GatewayCloud;
let deployer: Clients;
let project: Project;
let secretsKeyArn: string;

/** What a company requires of every role: one of its boundaries or of the fleet's, and its path (docs/guides/aws-account.md). */
const required = [
  {
    Effect: "Deny",
    Action: ["iam:CreateRole", "iam:PutRolePermissionsBoundary"],
    Resource: "*",
    Condition: {
      StringNotLike: { "iam:PermissionsBoundary": [COMPANY_BOUNDARY, `arn:aws:iam::*:policy/${FLEET}-*boundary`] },
    },
  },
  { Effect: "Deny", Action: "iam:CreateRole", NotResource: `arn:aws:iam::*:role${ROLE_PATH}*` },
] as const;

/** The hub's role of this name, with the right to assume every role. */
async function hubRole(name: string): Promise<Clients> {
  const { iam } = cloud.deployer;
  const AssumeRolePolicyDocument = trustOf({ AWS: arnOf("user/deployer") });
  await iam.send(new CreateRoleCommand({ RoleName: name, Path: ROLE_PATH, AssumeRolePolicyDocument }));
  const PolicyDocument = JSON.stringify(allow({ Action: "sts:AssumeRole" }));
  await iam.send(new PutRolePolicyCommand({ RoleName: name, PolicyName: "assume", PolicyDocument }));
  return cloud.as(await assume(cloud.deployer, role(name, ACCOUNT)));
}

beforeAll(async () => {
  cloud = await startGatewayCloud();
  const scope = { fleet: FLEET, region: REGION, partition: "aws", accountId: OTHER, dnsSuffix: "amazonaws.com" };
  const ofCompany = { rolePath: ROLE_PATH, permissionsBoundary: COMPANY_BOUNDARY };
  const { "deployer-identity": identity } = deployerPolicies({ ...scope, ...ofCompany });
  // As infra/account/README.md says, and no more.
  deployer = await cloud.account(OTHER, { "deployer-identity": identity as object });
  const kms = new KMSClient({
    endpoint: cloud.instance.awsEndpoint,
    region: REGION,
    credentials: cloud.deployer.credentials as Credentials,
  });
  const { KeyMetadata } = await kms.send(new CreateKeyCommand({}));
  secretsKeyArn = KeyMetadata?.Arn ?? "";
  project = await accountStack(cloud.instance.awsEndpoint, deployer.credentials, {
    account: OTHER,
    secretsKeyArn,
    more: config,
  });
});
afterAll(async () => {
  await project?.remove();
  await cloud?.remove();
});

describe("the stack of another account", () => {
  test("is made with the documented rights, as its company requires roles, and a second run changes nothing", async () => {
    await setFaults(cloud.instance, { serviceControlPolicy: [...required] });
    expect((await project.run("preview")).changes).toMatchObject({ create: expect.any(Number) });
    const made = await project.run("up");
    expect(made.code, made.text).toBe(0);
    const again = await project.run("up");
    expect(Object.keys(again.changes), again.text).toEqual(["same"]);
    await clearFaults(cloud.instance);
    expect(await project.outputs()).toEqual({
      crossplaneRoleArn: role(CROSSPLANE, OTHER),
      boundaryArns: ["boundary", "tenant-boundary", "addon-boundary", "auto-mode-boundary"].map((name) =>
        arnOf(`policy/${FLEET}-${name}`, OTHER),
      ),
    });
    const { Roles = [] } = await cloud.deployer.iam.send(new ListRolesCommand({}));
    expect(Roles.map(({ RoleName }) => RoleName)).not.toContain(CROSSPLANE);
  });

  test("lets the hub's Crossplane act there within its boundary, and nobody else of the hub's account", async () => {
    const roleArn = role(CROSSPLANE, OTHER);
    const crossplane = cloud.as(await assume(await hubRole(`${CROSSPLANE}-iam`), roleArn));
    expect(await crossplane.sts.send(new GetCallerIdentityCommand({}))).toMatchObject({ Account: OTHER });
    for (const name of [`${FLEET}-hub-flux`, CROSSPLANE, `${CROSSPLANE}-packages`])
      expect(await outcome(assume(await hubRole(name), roleArn)), name).toBe("AccessDenied");
    expect(await outcome(assume(cloud.deployer, roleArn))).toBe("AccessDenied");
    expect(await outcome(assume(deployer, roleArn))).toBe("AccessDenied");
    const make = (name: string, PermissionsBoundary?: string, Path: string = ROLE_PATH) =>
      outcome(
        crossplane.iam.send(
          new CreateRoleCommand({
            RoleName: name,
            Path,
            AssumeRolePolicyDocument: trustOf({ Service: "ec2.amazonaws.com" }),
            Tags: [{ Key: fleetTag, Value: FLEET }],
            PermissionsBoundary,
          }),
        ),
      );
    expect(await make(`${FLEET}-spoke-blue-node`)).toBe("AccessDenied");
    expect(await make(`${FLEET}-spoke-blue-node`, boundary(ACCOUNT))).toBe("AccessDenied");
    expect(await make(`${FLEET}-spoke-blue-node`, boundary(OTHER), "/")).toBe("AccessDenied");
    expect(await make("of-somebody-else", boundary(OTHER))).toBe("AccessDenied");
    expect(await make(`${FLEET}-spoke-blue-node`, boundary(OTHER))).toBe("allowed");
    const { iam } = await cloud.root(OTHER);
    await iam.send(new DeleteRoleCommand({ RoleName: `${FLEET}-spoke-blue-node` }));
  });

  test("is refused with the hub's credentials, before anything is made", async () => {
    const { credentials } = cloud.deployer;
    const hubs = await accountStack(cloud.instance.awsEndpoint, credentials, {
      account: OTHER,
      secretsKeyArn,
      more: config,
    });
    try {
      const { code, text } = await hubs.run("preview");
      expect(code).not.toBe(0);
      expect(text).toContain(`aws:allowedAccountIds allows ${OTHER}`);
    } finally {
      await hubs.remove();
    }
  });

  test("is destroyed and leaves nothing", async () => {
    const { code, text } = await project.run("destroy");
    expect(code, text).toBe(0);
    const { iam } = await cloud.root(OTHER);
    const { Roles = [] } = await iam.send(new ListRolesCommand({}));
    const { Policies = [] } = await iam.send(new ListPoliciesCommand({ Scope: "Local" }));
    const left = [...Roles.map(({ RoleName }) => RoleName), ...Policies.map(({ PolicyName }) => PolicyName)];
    expect(left.filter((name) => name?.startsWith(FLEET))).toEqual([]);
  });
});
