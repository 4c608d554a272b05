import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateClusterCommand,
  DeleteClusterCommand,
  DescribeClusterCommand,
  waitUntilClusterActive,
  waitUntilClusterDeleted,
} from "@aws-sdk/client-eks";
import {
  CreatePolicyVersionCommand,
  CreateRoleCommand,
  DeletePolicyVersionCommand,
  DeleteRoleCommand,
  DeleteRolePermissionsBoundaryCommand,
  DeleteRolePolicyCommand,
  GetRoleCommand,
  PutRolePermissionsBoundaryCommand,
  PutRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { CreateSecretCommand, DeleteSecretCommand, GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { GetCallerIdentityCommand } from "@aws-sdk/client-sts";
import { adminKubeconfig } from "@eks-gitops-fleet/local/clusters";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { account, instance, kubectl, outputs, tryKubectl } from "./support/fleet.ts";
import {
  actingAs,
  assume,
  ensureServiceAccount,
  foreignKey,
  resign,
  STS_AUDIENCE,
  serviceAccountToken,
  signingKey,
  tamper,
} from "./support/identity.ts";

const { bridgeData: bridge, clusterName } = await outputs();
const fleet: string = bridge.fleet;

/** The role and service account of an add-on, as the bridge tells them. */
const identity = (addon: string) => ({
  role: bridge[`${addon}_iam_role_arn`] as string,
  account: { namespace: bridge[`${addon}_namespace`] as string, name: bridge[`${addon}_service_account`] as string },
});

// Git makes the providers' service accounts; until then the test stands in for it.
const removals: (() => Promise<void>)[] = [];
beforeAll(async () => {
  for (const provider of ["crossplane_iam", "crossplane_eks"])
    removals.push(await ensureServiceAccount(identity(provider).account));
});
afterAll(async () => {
  for (const remove of removals) await remove();
});

describe("External Secrets", () => {
  const { role, account: subject } = identity("external_secrets");
  const gitSecret = `${fleet}/git/gitops-system`;
  const otherSecret = "another-team/database";

  beforeAll(async () => {
    await account.secretsmanager.send(new CreateSecretCommand({ Name: otherSecret, SecretString: "not yours" }));
  });
  afterAll(async () => {
    await account.secretsmanager.send(
      new DeleteSecretCommand({ SecretId: otherSecret, ForceDeleteWithoutRecovery: true }),
    );
  });

  test("its service account reads the hub's own secrets and no other", async () => {
    const { secretsmanager } = await actingAs(role, subject);
    const { SecretString } = await secretsmanager.send(new GetSecretValueCommand({ SecretId: gitSecret }));
    expect(Object.keys(JSON.parse(SecretString ?? ""))).toContain("identity");
    await expect(secretsmanager.send(new GetSecretValueCommand({ SecretId: otherSecret }))).rejects.toMatchObject({
      name: "AccessDeniedException",
    });
    await expect(
      secretsmanager.send(new CreateSecretCommand({ Name: `${fleet}/git/new`, SecretString: "x" })),
    ).rejects.toMatchObject({ name: "AccessDeniedException" });
  });

  test("no other service account, not even of the same namespace, assumes its role", async () => {
    await assume(role, await serviceAccountToken(subject));
    for (const other of [
      { ...subject, name: "default" },
      identity("crossplane_iam").account,
      { namespace: "default", name: "default" },
    ]) {
      const token = await serviceAccountToken(other);
      await expect(assume(role, token), `${other.namespace}/${other.name}`).rejects.toMatchObject({
        name: "AccessDenied",
      });
    }
  });

  test("a token for another audience is refused", async () => {
    await assume(role, await serviceAccountToken(subject, STS_AUDIENCE));
    const token = await serviceAccountToken(subject, "https://kubernetes.default.svc");
    await expect(assume(role, token)).rejects.toMatchObject({
      name: expect.stringMatching(/^(InvalidIdentityToken|AccessDenied)/),
    });
  });

  test("an expired token is refused, the same token within its time is not", async () => {
    const token = await serviceAccountToken(subject);
    const now = Math.floor(Date.now() / 1000);
    await assume(role, await resign(token, { exp: now + 600 }, signingKey(clusterName)));
    const expired = await resign(token, { iat: now - 7200, nbf: now - 7200, exp: now - 3600 }, signingKey(clusterName));
    await expect(assume(role, expired)).rejects.toMatchObject({ name: expect.stringMatching(/^ExpiredToken/) });
  });

  test("a token that was changed, or signed by another key, is refused", async () => {
    const other = await serviceAccountToken({ namespace: "default", name: "default" });
    const sub = `system:serviceaccount:${subject.namespace}:${subject.name}`;
    await assume(role, await resign(other, { sub }, signingKey(clusterName))); // the twin: only the signature is missing below
    await expect(assume(role, tamper(other, { sub }))).rejects.toMatchObject({
      name: expect.stringMatching(/^InvalidIdentityToken/),
    });
    await expect(assume(role, await resign(other, { sub }, foreignKey()))).rejects.toMatchObject({
      name: expect.stringMatching(/^InvalidIdentityToken/),
    });
  });
});

describe("a token of another cluster", () => {
  const name = `${fleet}-other`;
  const base = mkdtempSync(join(tmpdir(), "fleet-other-"));

  beforeAll(async () => {
    const { cluster: hub } = await account.eks.send(new DescribeClusterCommand({ name: clusterName }));
    await account.eks.send(
      new CreateClusterCommand({
        name,
        version: hub?.version,
        roleArn: hub?.roleArn,
        resourcesVpcConfig: { subnetIds: hub?.resourcesVpcConfig?.subnetIds },
        accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: true },
      }),
    );
    await waitUntilClusterActive({ client: account.eks, maxWaitTime: 180, minDelay: 1, maxDelay: 2 }, { name });
  });
  afterAll(async () => {
    rmSync(base, { recursive: true });
    await account.eks.send(new DeleteClusterCommand({ name }));
    await waitUntilClusterDeleted({ client: account.eks, maxWaitTime: 180, minDelay: 1, maxDelay: 2 }, { name });
  });

  test("with the same namespace and name is refused by the hub's role, and by the hub's API server", async () => {
    const { role, account: subject } = identity("external_secrets");
    const { cluster } = await account.eks.send(new DescribeClusterCommand({ name }));
    const other = ["--kubeconfig", adminKubeconfig(instance, name)];
    await kubectl([...other, "create", "namespace", subject.namespace]);
    await kubectl([...other, "create", "serviceaccount", subject.name, "--namespace", subject.namespace]);
    const create = ["create", "token", subject.name, "--namespace", subject.namespace];
    const token = async (flags: string[]) => (await kubectl([...flags, ...create, "--audience", STS_AUDIENCE])).trim();
    expect(cluster?.identity?.oidc?.issuer).toMatch(/^https:\/\/oidc\.eks\./);
    await assume(role, await token([]));
    await expect(assume(role, await token(other))).rejects.toMatchObject({
      name: expect.stringMatching(/^(InvalidIdentityToken|AccessDenied)/),
    });
    // The API servers' own audience. A user entry without a credential: the token is all that the hub is shown.
    const { cluster: hub } = await account.eks.send(new DescribeClusterCommand({ name: clusterName }));
    writeFileSync(join(base, "ca.crt"), Buffer.from(hub?.certificateAuthority?.data ?? "", "base64"));
    const server = ["--server", hub?.endpoint ?? "", "--certificate-authority", join(base, "ca.crt")];
    const whoami = async (flags: string[]) => {
      const bearer = (await kubectl([...flags, ...create])).trim();
      return tryKubectl(["--kubeconfig", "/dev/null", ...server, "--token", bearer, "auth", "whoami"]);
    };
    expect(await whoami([])).toMatchObject({ code: 0 });
    expect(await whoami(other)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Unauthorized|must be logged in/),
    });
  });
});

describe("Crossplane's providers", () => {
  const asProvider = (service: string) => {
    const { role, account: subject } = identity(`crossplane_${service}`);
    return actingAs(role, subject);
  };
  const boundary: string = bridge.permissions_boundary_arn;
  const spokeRole = `${bridge.spoke_prefix}test-node`;
  const outside = `${fleet}-outside`;
  const trust = JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Principal: { Service: "eks.amazonaws.com" }, Action: "sts:AssumeRole" }],
  });
  const allowAll = JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: "*", Resource: "*" }],
  });
  const create = (RoleName: string, PermissionsBoundary?: string) =>
    new CreateRoleCommand({
      RoleName,
      AssumeRolePolicyDocument: trust,
      ...(PermissionsBoundary === undefined ? {} : { PermissionsBoundary }),
    });
  const denied = { name: expect.stringMatching(/^AccessDenied/) };
  let crossplane: Awaited<ReturnType<typeof actingAs>>;
  let eks: typeof crossplane;

  beforeAll(async () => {
    crossplane = await asProvider("iam");
    eks = await asProvider("eks");
    await crossplane.iam.send(create(spokeRole, boundary));
    await account.iam.send(create(outside));
  });
  afterAll(async () => {
    await crossplane.iam.send(new DeleteRoleCommand({ RoleName: spokeRole }));
    await account.iam.send(new DeleteRoleCommand({ RoleName: outside }));
  });

  test("create a role under the fleet's prefix with the boundary, and neither without it nor with another one", async () => {
    const RoleName = `${bridge.spoke_prefix}test-allowed`;
    await crossplane.iam.send(create(RoleName, boundary));
    await crossplane.iam.send(new DeleteRoleCommand({ RoleName }));
    await expect(crossplane.iam.send(create(`${bridge.spoke_prefix}test-none`))).rejects.toMatchObject(denied);
    await expect(
      crossplane.iam.send(create(`${bridge.spoke_prefix}test-admin`, "arn:aws:iam::aws:policy/AdministratorAccess")),
    ).rejects.toMatchObject(denied);
  });

  test("create no role outside the prefix, with the boundary or without", async () => {
    const RoleName = `${bridge.spoke_prefix}test-prefix`;
    await crossplane.iam.send(create(RoleName, boundary));
    await crossplane.iam.send(new DeleteRoleCommand({ RoleName }));
    for (const name of [`${fleet}-hub-test`, "administrator"])
      await expect(crossplane.iam.send(create(name, boundary)), name).rejects.toMatchObject(denied);
  });

  test("neither change nor remove a boundary, which the account's administrator can", async () => {
    const put = new PutRolePermissionsBoundaryCommand({ RoleName: spokeRole, PermissionsBoundary: boundary });
    const remove = new DeleteRolePermissionsBoundaryCommand({ RoleName: spokeRole });
    await expect(crossplane.iam.send(put)).rejects.toMatchObject(denied);
    await expect(crossplane.iam.send(remove)).rejects.toMatchObject(denied);
    await account.iam.send(remove);
    await account.iam.send(put);
    const { Role } = await crossplane.iam.send(new GetRoleCommand({ RoleName: spokeRole }));
    expect(Role?.PermissionsBoundary?.PermissionsBoundaryArn).toBe(boundary);
  });

  test("can't widen the boundary policy itself, which the account's administrator can", async () => {
    const PolicyDocument = allowAll;
    await expect(
      crossplane.iam.send(new CreatePolicyVersionCommand({ PolicyArn: boundary, PolicyDocument, SetAsDefault: true })),
    ).rejects.toMatchObject(denied);
    const { PolicyVersion } = await account.iam.send(
      new CreatePolicyVersionCommand({ PolicyArn: boundary, PolicyDocument }),
    );
    await account.iam.send(
      new DeletePolicyVersionCommand({ PolicyArn: boundary, VersionId: PolicyVersion?.VersionId }),
    );
  });

  test("write policies on roles under the prefix that carry the boundary, and on no other role", async () => {
    const policy = { PolicyName: "test", PolicyDocument: allowAll };
    await crossplane.iam.send(new PutRolePolicyCommand({ RoleName: spokeRole, ...policy }));
    await crossplane.iam.send(new DeleteRolePolicyCommand({ RoleName: spokeRole, PolicyName: policy.PolicyName }));
    for (const RoleName of [outside, identity("crossplane_iam").role.split("/").at(-1)])
      await expect(
        crossplane.iam.send(new PutRolePolicyCommand({ RoleName, ...policy })),
        RoleName,
      ).rejects.toMatchObject(denied);
  });

  test("pass roles under the prefix to EKS, and no role outside it", async () => {
    const cluster = async (name: string, roleName: string) => {
      const roleArn = `arn:aws:iam::${bridge.aws_account_id}:role/${roleName}`;
      // The subnets don't exist: whoever is allowed gets as far as that.
      const resourcesVpcConfig = { subnetIds: ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"] };
      await eks.eks.send(
        new CreateClusterCommand({ name, roleArn, resourcesVpcConfig, accessConfig: { authenticationMode: "API" } }),
      );
    };
    const name = `${bridge.spoke_prefix}test`;
    await expect(cluster(name, spokeRole)).rejects.toMatchObject({
      name: "InvalidParameterException",
      message: expect.stringContaining("subnet"),
    });
    await expect(cluster(name, outside)).rejects.toMatchObject({
      ...denied,
      message: expect.stringContaining("iam:PassRole"),
    });
    await expect(cluster(`${fleet}-elsewhere`, spokeRole)).rejects.toMatchObject({
      ...denied,
      message: expect.stringContaining("eks:CreateCluster"),
    });
  });

  test("do nothing of another's service: that for IAM makes no clusters, that for EKS no roles", async () => {
    const none = new DeleteClusterCommand({ name: `${bridge.spoke_prefix}none` });
    await expect(crossplane.eks.send(none)).rejects.toMatchObject(denied);
    await expect(eks.iam.send(create(`${bridge.spoke_prefix}test-eks`, boundary))).rejects.toMatchObject(denied);
  });

  test("leave the hub's own cluster and secrets alone", async () => {
    expect((await eks.sts.send(new GetCallerIdentityCommand({}))).Arn).toContain(":assumed-role/");
    // The twin: whoever is allowed gets as far as that there is no such cluster.
    const none = new DeleteClusterCommand({ name: `${bridge.spoke_prefix}none` });
    await expect(eks.eks.send(none)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
    await expect(eks.eks.send(new DeleteClusterCommand({ name: clusterName }))).rejects.toMatchObject(denied);
    const read = new GetSecretValueCommand({ SecretId: `${fleet}/git/gitops-system` });
    for (const provider of [crossplane, eks])
      await expect(provider.secretsmanager.send(read)).rejects.toMatchObject(denied);
  });
});
