import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LookForHub } from "../../../cli/adopt-hub/aws.ts";
import { run } from "../../../cli/adopt-hub/command.ts";
import type { HubInAws, Named } from "../../../cli/adopt-hub/locate.ts";
import { readPreview, whyOf } from "../../../cli/adopt-hub/preview.ts";
import { aliasUrn, importJson, inAws, previewJson, sealingUrn, secretUrn } from "./support/hub.ts";

let folder: string;
let said = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "adopt-hub-"));
  said = "";
  vi.spyOn(console, "log").mockImplementation((text) => {
    said += `${text}\n`;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const file = () => join(folder, "import.json");

async function adopt(its: HubInAws = inAws, preview: unknown = previewJson, ...more: string[]) {
  const asked: Parameters<LookForHub>[] = [];
  const stacks: (string | undefined)[] = [];
  const look: LookForHub = async (...args) => {
    asked.push(args);
    return its;
  };
  const ask = async (stack: string | undefined) => {
    stacks.push(stack);
    return readPreview(preview, importJson);
  };
  const code = await run(["--file", file(), "--stack", "prod", ...more], ask, look);
  return { code, asked, stacks };
}

interface Line {
  readonly name: string;
  readonly parent?: string;
  readonly id?: string;
  readonly component?: boolean;
}
const written = (): { readonly nameTable: unknown; readonly resources: readonly Line[] } =>
  JSON.parse(readFileSync(file(), "utf8"));
const named = (more: readonly (readonly [string, Named])[]): HubInAws => ({
  ...inAws,
  named: new Map([...inAws.named, ...more]),
});

test("writes the import ID of everything that AWS has, in the form of its type", async () => {
  const { code, asked, stacks } = await adopt(inAws, previewJson, "--profile", "ops");
  expect(code).toBe(0);
  expect(stacks).toEqual(["prod"]);
  expect(asked[0]?.[0]).toMatchObject({ fleet: "shop", cluster: "shop-hub", region: "eu-central-1" });
  expect(asked[0]?.[1]).toEqual({ profile: "ops" });
  expect(Object.fromEntries(written().resources.flatMap(({ name, id }) => (id ? [[name, id]] : [])))).toEqual({
    "hub-vpcVpc": "vpc-1",
    "hub-private-0RouteTable": "rtb-1",
    "hub-private-0Subnet": "subnet-1",
    "hub-private-0-natRoute": "rtb-1_0.0.0.0/0",
    "hub-private-0-0RouteTableAssociation": "subnet-1/rtb-1",
    "hub-defaultDefaultSecurityGroup": "sg-1",
    "secrets-keyKey": "1234",
    "secrets-aliasAlias": "alias/shop-secrets",
    "crossplane-iam-roleRole": "shop-hub-crossplane-iam",
    "git-secretSecret": "arn:aws:secretsmanager:eu-central-1:111122223333:secret:shop/git/gitops-system-abcdef",
  });
});

test("keeps the components that it belongs to, each before what is in it, and no others", async () => {
  await adopt();
  const { nameTable, resources } = written();
  expect(nameTable).toEqual(importJson.nameTable);
  const names = resources.map(({ name }) => name);
  for (const { name, parent } of resources)
    if (parent !== undefined) expect(names.slice(0, names.indexOf(name))).toContain(parent);
  expect(resources.filter(({ component }) => component).map(({ name }) => name)).toEqual([
    ...[
      ...["Network.0", "EncryptionKey.0", "IrsaRole.0", "GitCredentials/ManagedSecret.0"],
      "GitCredentials/ManagedSecret.1",
    ],
  ]);
});

test("says what pulumi up makes, what is not looked for, what is left, and the next commands", async () => {
  const stranger = { kind: "EIP" as const, id: "eipalloc-9", tags: { Name: "somebody's" } };
  await adopt({ ...inAws, tagged: [...inAws.tagged, stranger], oidcProviders: ["arn:aws:iam::1:oidc-provider/old"] });
  expect(said).toContain("Found of the hub in account 111122223333, eu-central-1:\n  Vpc hub-vpc ");
  expect(said).toMatch(/Not there, pulumi up makes it:\n {2}Secret prod\/1-secret\n {2}Workspace metrics\n/);
  expect(said).toMatch(/Not looked for[^\n]*\n {2}Table other\n/);
  expect(said).toMatch(/of no use to the new one[^\n]*\n {2}EIP eipalloc-9\n {2}OpenIdConnectProvider arn:aws:iam::1:/);
  expect(said).toContain(`pulumi import --file ${file()} --generate-code=false --protect=false --stack prod\n`);
  expect(said).not.toMatch(/PrivateKey|Cluster hub|SecretVersion/);
});

test("writes nothing where AWS has nothing", async () => {
  const { code } = await adopt({ ...inAws, tagged: [], named: new Map(), defaultGroups: {} });
  expect(code).toBe(0);
  expect(said).toContain("Nothing of the hub is in account 111122223333, eu-central-1: pulumi up makes it");
  expect(existsSync(file())).toBe(false);
});

test("goes on where a former import ended: what the state has is not in the file", async () => {
  const steps = previewJson.steps.map((step) => (step.urn === aliasUrn ? { ...step, op: "same" } : step));
  await adopt(inAws, { ...previewJson, steps });
  expect(written().resources.map(({ name }) => name)).not.toContain("secrets-aliasAlias");
  expect(written().resources.map(({ name }) => name)).toContain("crossplane-iam-roleRole");
});

const withoutAlias = (more: Partial<HubInAws["tagged"][number]>): HubInAws => ({
  ...inAws,
  named: new Map([...inAws.named].filter(([urn]) => urn !== aliasUrn)),
  tagged: [...inAws.tagged, { kind: "Key", id: "5678", tags: { Name: "shop-secrets" }, ...more }],
});

test("finds a key by its tags where its alias is gone, and keeps one that AWS is about to delete", async () => {
  await adopt(withoutAlias({}));
  expect(written().resources).toContainEqual(expect.objectContaining({ name: "secrets-keyKey", id: "5678" }));
  await expect(adopt(withoutAlias({ leaving: true }))).rejects.toThrow(
    "Key secrets-key: AWS is about to delete it: aws kms cancel-key-deletion --key-id 5678",
  );
});

test("takes nothing that AWS failed to make", async () => {
  const failed = { kind: "Subnet" as const, id: "subnet-9", tags: { Name: "hub-private-0" }, failed: "no address" };
  await adopt({ ...inAws, tagged: [...inAws.tagged, failed] });
  expect(said).toContain("Subnet subnet-9");
  expect(written().resources).toContainEqual(expect.objectContaining({ name: "hub-private-0Subnet", id: "subnet-1" }));
});

test("takes workspaces in with what is in them", async () => {
  const rules = ["arn:aws:aps:eu-central-1:111122223333:rulegroupsnamespace/ws-1/fleet"];
  await adopt({
    ...inAws,
    workspaces: { "aws:amp/workspace:Workspace": ["ws-1"] },
    inMetrics: { rules, alertManagers: ["ws-1"] },
  });
  const ids = Object.fromEntries(written().resources.map(({ name, id }) => [name, id]));
  expect(ids).toMatchObject({
    metricsWorkspace: "ws-1",
    "metrics-rulesRuleGroupNamespace": rules[0],
    "metrics-managerAlertManagerDefinition": "ws-1",
  });
});

test("asks AWS with the profile of the stack, and refuses an account that the stack does not name", async () => {
  const config = { ...previewJson.config, "aws:profile": "prod", "aws:allowedAccountIds": '["111122223333"]' };
  const { asked } = await adopt(inAws, { ...previewJson, config });
  expect(asked[0]?.[1]).toEqual({ profile: "prod" });
  await expect(adopt({ ...inAws, account: "999" }, { ...previewJson, config })).rejects.toThrow(
    /asked in account 999, and aws:allowedAccountIds of the stack has 111122223333.*--profile/,
  );
});

test("tells why Pulumi failed: its errors, and no warning of a newer version", () => {
  const diagnostics = [
    { severity: "warning", message: "old" },
    { severity: "error", message: "sealingKeys: nothing is active\n" },
  ];
  const stderr = "warning: A new version of Pulumi is available\n";
  expect(whyOf({ stdout: JSON.stringify({ steps: [], diagnostics }, undefined, 2), stderr })).toBe(
    "sealingKeys: nothing is active",
  );
  expect(whyOf({ stdout: "", stderr: `${stderr}error: no stack named 'prod'\n` })).toBe("error: no stack named 'prod'");
  expect(whyOf({ code: "ENOENT" })).toBe("pulumi is not on PATH");
});

test.each([
  ["the cluster is there", { ...inAws, hasCluster: true }, /EKS has the cluster shop-hub.*Restore the state/],
  [
    "two could be the same",
    { ...inAws, tagged: [...inAws.tagged, { ...inAws.tagged[0], id: "vpc-2" }] as HubInAws["tagged"] },
    /Vpc hub-vpc: vpc-1, vpc-2\nTake the tag fleet.internal\/cluster off/,
  ],
  [
    "AWS is about to delete it",
    named([[secretUrn, { id: "arn", unusable: "AWS is about to delete it: restore it" }]]),
    /keep them first:\n {2}Secret git-secret: AWS is about to delete it: restore it/,
  ],
  [
    "a sealing key would be replaced",
    named([[sealingUrn, { id: "arn", certificate: "PEM" }]]),
    /\n {2}prod\/1\n.*\n {2}eks-gitops-fleet:sealingKeys: .*\n {4}- \{ scope: prod, generation: "2", active: true \}\n.*\n {6}certificate: PEM\n/s,
  ],
])("refuses, and writes nothing, where %s", async (_, its, message) => {
  await expect(adopt(its)).rejects.toThrow(message);
  await expect(adopt(its)).rejects.toThrow("Nothing was changed");
  expect(existsSync(file())).toBe(false);
});

test("refuses a stack whose state has its hub", async () => {
  const steps = previewJson.steps.map((step) => ({ ...step, op: "same" }));
  await expect(adopt(inAws, { ...previewJson, steps })).rejects.toThrow("is it the right --stack?");
});
