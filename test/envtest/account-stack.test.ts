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
import { ACCOUNT, REGION } from "@eks-gitops-fleet/local/gateway";
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
const boundary = (account: string) => arnOf(`policy/${FLEET}-boundary`, account);

let cloud: GatewayCloud;
let deployer: Clients;
let project: Project;
let secretsKeyArn: string;

/** The hub's role of this name, with the right to assume every role. */
async function hubRole(name: string): Promise<Clients> {
  const { iam } = cloud.deployer;
  const AssumeRolePolicyDocument = trustOf({ AWS: arnOf("user/deployer") });
  await iam.send(new CreateRoleCommand({ RoleName: name, AssumeRolePolicyDocument }));
  const PolicyDocument = JSON.stringify(allow({ Action: "sts:AssumeRole" }));
  await iam.send(new PutRolePolicyCommand({ RoleName: name, PolicyName: "assume", PolicyDocument }));
  return cloud.as(await assume(cloud.deployer, name));
}

beforeAll(async () => {
  cloud = await startGatewayCloud();
  const scope = { fleet: FLEET, region: REGION, partition: "aws", accountId: OTHER, dnsSuffix: "amazonaws.com" };
  const { "deployer-identity": identity } = deployerPolicies(scope);
  // As infra/account/README.md says, and no more.
  deployer = await cloud.account(OTHER, { "deployer-identity": identity as object });
  const kms = new KMSClient({
    endpoint: cloud.instance.awsEndpoint,
    region: REGION,
    credentials: cloud.deployer.credentials as Credentials,
  });
  const { KeyMetadata } = await kms.send(new CreateKeyCommand({}));
  secretsKeyArn = KeyMetadata?.Arn ?? "";
  project = await accountStack(cloud.instance.awsEndpoint, deployer.credentials, { account: OTHER, secretsKeyArn });
});
afterAll(async () => {
  await project?.remove();
  await cloud?.remove();
});

describe("the stack of another account", () => {
  test("is made with the documented rights, and a second run changes nothing", async () => {
    expect((await project.run("preview")).changes).toMatchObject({ create: expect.any(Number) });
    const made = await project.run("up");
    expect(made.code, made.text).toBe(0);
    const again = await project.run("up");
    expect(Object.keys(again.changes), again.text).toEqual(["same"]);
    expect(await project.outputs()).toEqual({
      crossplaneRoleArn: arnOf(`role/${CROSSPLANE}`, OTHER),
      boundaryArns: ["boundary", "tenant-boundary", "addon-boundary", "auto-mode-boundary"].map((name) =>
        arnOf(`policy/${FLEET}-${name}`, OTHER),
      ),
    });
    const { Roles = [] } = await cloud.deployer.iam.send(new ListRolesCommand({}));
    expect(Roles.map(({ RoleName }) => RoleName)).not.toContain(CROSSPLANE);
  });

  test("lets the hub's Crossplane act there within its boundary, and nobody else of the hub's account", async () => {
    const roleArn = arnOf(`role/${CROSSPLANE}`, OTHER);
    const crossplane = cloud.as(await assume(await hubRole(CROSSPLANE), roleArn));
    expect(await crossplane.sts.send(new GetCallerIdentityCommand({}))).toMatchObject({ Account: OTHER });
    expect(await outcome(assume(await hubRole(`${FLEET}-hub-flux`), roleArn))).toBe("AccessDenied");
    expect(await outcome(assume(cloud.deployer, roleArn))).toBe("AccessDenied");
    expect(await outcome(assume(deployer, roleArn))).toBe("AccessDenied");
    const make = (name: string, PermissionsBoundary?: string) =>
      outcome(
        crossplane.iam.send(
          new CreateRoleCommand({
            RoleName: name,
            AssumeRolePolicyDocument: trustOf({ Service: "ec2.amazonaws.com" }),
            Tags: [{ Key: fleetTag, Value: FLEET }],
            PermissionsBoundary,
          }),
        ),
      );
    expect(await make(`${FLEET}-spoke-blue-node`)).toBe("AccessDenied");
    expect(await make(`${FLEET}-spoke-blue-node`, boundary(ACCOUNT))).toBe("AccessDenied");
    expect(await make("of-somebody-else", boundary(OTHER))).toBe("AccessDenied");
    expect(await make(`${FLEET}-spoke-blue-node`, boundary(OTHER))).toBe("allowed");
    const { iam } = await cloud.root(OTHER);
    await iam.send(new DeleteRoleCommand({ RoleName: `${FLEET}-spoke-blue-node` }));
  });

  test("is refused with the hub's credentials, before anything is made", async () => {
    const { credentials } = cloud.deployer;
    const hubs = await accountStack(cloud.instance.awsEndpoint, credentials, { account: OTHER, secretsKeyArn });
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
