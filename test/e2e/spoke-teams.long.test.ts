import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CreateRoleCommand,
  DeleteRoleCommand,
  DeleteUserPolicyCommand,
  PutUserPolicyCommand,
} from "@aws-sdk/client-iam";
import { deployerArn } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { withSpec } from "../support/checkout.ts";
import { account, aws, eventually, execute, instance, realAws, scratch, tryKubectl } from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import { addSpoke, clusterOf, on, onSpoke, system, untilGone, untilReady } from "./support/spokes.ts";

const name = "teal"; // environment dev
const roles = ["payers", "auditors", "searchers"] as const;
type Member = (typeof roles)[number];
const arnOf = (role: Member) => deployerArn.replace("user/deployer", `role/${role}`);
const member = (role: Member, access: string) => ({ role: arnOf(role), access });

/** The emulator asks for it besides the trust policies that name the deployer. */
const assuming = { UserName: "deployer", PolicyName: "members-of-teams" };

const payments = {
  name: "payments",
  namespaces: ["payment-app"],
  members: [member("payers", "edit"), member("auditors", "view")],
};
const search = { name: "search", namespaces: ["search"], members: [member("searchers", "admin")] };

let repository: Checkout;
const tokens = new Map<Member, string>();

/** A token of a member's session, as `aws eks get-token` makes it. */
async function tokenOf(role: Member): Promise<string> {
  const asked = await aws(["sts", "assume-role", "--role-arn", arnOf(role), "--role-session-name", "member"]);
  const { AccessKeyId, SecretAccessKey, SessionToken } = JSON.parse(asked).Credentials;
  const { code, stdout, stderr } = await execute(realAws(), ["eks", "get-token", "--cluster-name", clusterOf(name)], {
    env: {
      AWS_ENDPOINT_URL: instance.awsEndpoint,
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: AccessKeyId,
      AWS_SECRET_ACCESS_KEY: SecretAccessKey,
      AWS_SESSION_TOKEN: SessionToken,
    },
  });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout).status.token;
}

/** Address and CA of the spoke as kubectl flags, with nobody's credential. */
function server(): string[] {
  const [, kubeconfig = ""] = on(name);
  const [{ cluster }] = parse(readFileSync(kubeconfig, "utf8")).clusters;
  const ca = join(scratch, `${name}.crt`);
  writeFileSync(ca, Buffer.from(cluster["certificate-authority-data"], "base64"));
  return ["--kubeconfig", "/dev/null", "--server", cluster.server, "--certificate-authority", ca];
}

const as = (role: Member, args: readonly string[]) =>
  tryKubectl([...server(), "--token", tokens.get(role) ?? "", ...args]);
const may = async (role: Member, args: readonly string[]) => {
  const { code, stderr } = await as(role, args);
  expect(code, stderr).toBe(0);
};
const mayNot = async (role: Member, args: readonly string[]) => {
  const { code, stderr } = await as(role, args);
  expect(code).toBe(1);
  expect(stderr).toMatch(/Forbidden|forbidden/);
};

async function setTeams(teams: readonly object[], message: string): Promise<void> {
  await repository.edit(`spokes/fleet/${name}/spoke.yaml`, withSpec({ teams }));
  await repository.push(message);
}

beforeAll(async () => {
  const Statement = [{ Effect: "Allow", Principal: { AWS: deployerArn }, Action: "sts:AssumeRole" }];
  const AssumeRolePolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement });
  for (const RoleName of roles) await account.iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }));
  const own = [{ Effect: "Allow", Action: "sts:AssumeRole", Resource: roles.map(arnOf) }];
  const PolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement: own });
  await account.iam.send(new PutUserPolicyCommand({ ...assuming, PolicyDocument }));
  repository = await system();
  await addSpoke(repository, name, "dev", withSpec({ teams: [payments, search] }));
  await repository.push(`Add spoke ${name} with two teams`);
  await untilReady(name);
  for (const namespace of ["payment-app", "search"]) await onSpoke(name, ["create", "namespace", namespace]);
  for (const role of roles) tokens.set(role, await tokenOf(role));
  // EKS, and the embedded cloud, need a moment until an association holds in a new namespace.
  await eventually(60, () => may("searchers", ["get", "pods", "--namespace", "search"]));
  await eventually(60, () => may("auditors", ["get", "pods", "--namespace", "payment-app"]));
});

afterAll(async () => {
  await repository?.remove(`spokes/fleet/${name}`);
  await repository?.push(`Remove spoke ${name}`);
  await untilGone(name);
  await account.iam.send(new DeleteUserPolicyCommand(assuming));
  for (const RoleName of roles) await account.iam.send(new DeleteRoleCommand({ RoleName }));
});

describe("a member of a team, with a token of EKS", () => {
  test("does in the team's namespace what the access says", async () => {
    await may("payers", ["create", "configmap", "mine", "--namespace", "payment-app"]);
    await may("auditors", ["get", "configmap", "mine", "--namespace", "payment-app"]);
    await may("searchers", ["create", "configmap", "ours", "--namespace", "search"]);
    await may("searchers", ["get", "roles,rolebindings", "--namespace", "search"]);
  });

  test.for<[string, Member, readonly string[]]>([
    ["read the other team's pods", "payers", ["get", "pods", "--namespace", "search"]],
    ["change the other team's namespace", "payers", ["create", "configmap", "x", "--namespace", "search"]],
    ["as its administrator read another team's Secrets", "searchers", ["get", "secrets", "--namespace", "payment-app"]],
    ["read Secrets of flux-system", "searchers", ["get", "secrets", "--namespace", "flux-system"]],
    ["read pods of all namespaces", "payers", ["get", "pods", "--all-namespaces"]],
    ["list nodes", "searchers", ["get", "nodes"]],
    ["make a namespace", "searchers", ["create", "namespace", "more"]],
    [
      "make itself administrator of the cluster",
      "searchers",
      ["create", "clusterrolebinding", "more", "--clusterrole=cluster-admin", "--user=searchers"],
    ],
    [
      "give more than it has in its own namespace",
      "searchers",
      ["create", "rolebinding", "more", "--clusterrole=cluster-admin", "--user=searchers", "--namespace", "search"],
    ],
    [
      "as its administrator make a Role, not even for what it may do itself",
      "searchers",
      ["create", "role", "reader", "--verb=get", "--resource=pods", "--namespace", "search"],
    ],
    [
      "as its administrator see Flux's objects in its namespace",
      "searchers",
      ["get", "kustomizations.kustomize.toolkit.fluxcd.io", "--namespace", "search"],
    ],
    ["lift its quota", "searchers", ["create", "quota", "more", "--namespace", "search"]],
    ["change anything with view", "auditors", ["create", "configmap", "x", "--namespace", "payment-app"]],
    ["read Secrets with view", "auditors", ["get", "secrets", "--namespace", "payment-app"]],
    [
      "hand out rights with edit",
      "payers",
      ["create", "role", "x", "--verb=get", "--resource=pods", "--namespace", "payment-app"],
    ],
  ])("does not %s", ([, role, args]) => mayNot(role, args));

  test("has access to a namespace that its team gets, and goes on having it to the others", async () => {
    await onSpoke(name, ["create", "namespace", "search-index"]);
    await mayNot("searchers", ["get", "pods", "--namespace", "search-index"]);
    await setTeams([payments, { ...search, namespaces: ["search", "search-index"] }], "Give search another namespace");
    await eventually(180, () => may("searchers", ["create", "configmap", "ours", "--namespace", "search-index"]));
    await may("searchers", ["get", "pods", "--namespace", "search"]);
    await mayNot("payers", ["get", "pods", "--namespace", "search-index"]);
    await setTeams([payments, search], "Take the namespace away again");
    await eventually(180, () => mayNot("searchers", ["get", "pods", "--namespace", "search-index"]));
    await eventually(180, () => may("searchers", ["get", "pods", "--namespace", "search"]));
  });

  test("has the new access after a commit, and none once the team is gone", async () => {
    await setTeams(
      [payments, { ...search, members: [...search.members, member("payers", "view")] }],
      "Let payers look at search",
    );
    await eventually(120, () => may("payers", ["get", "pods", "--namespace", "search"]));
    await mayNot("payers", ["create", "configmap", "x", "--namespace", "search"]);
    await setTeams([payments], "Take the team search away");
    await eventually(120, async () =>
      expect((await as("searchers", ["get", "pods"])).stderr).toMatch(/Unauthorized|must be logged in/),
    );
    await eventually(120, () => mayNot("payers", ["get", "pods", "--namespace", "search"]));
    await may("payers", ["get", "pods", "--namespace", "payment-app"]);
  });
});
