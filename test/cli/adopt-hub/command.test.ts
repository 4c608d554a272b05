import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LookForHub } from "../../../cli/adopt-hub/aws.ts";
import { run } from "../../../cli/adopt-hub/command.ts";
import type { HubInAws } from "../../../cli/adopt-hub/locate.ts";
import { readPreview } from "../../../cli/adopt-hub/preview.ts";
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
const named = (
  more: readonly (readonly [string, { readonly id: string; readonly unusable?: string }])[],
): HubInAws => ({
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
    "crossplane-roleRole": "shop-hub-crossplane",
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
      "Network.0",
      "EncryptionKey.0",
      "IrsaRole.0",
      "GitCredentials/ManagedSecret.0",
      "GitCredentials/ManagedSecret.1",
    ],
  ]);
});

test("says what pulumi up makes, what is not looked for, what is left, and the next commands", async () => {
  const stranger = { kind: "EIP" as const, id: "eipalloc-9", tags: { Name: "somebody's" } };
  await adopt({ ...inAws, tagged: [...inAws.tagged, stranger], oidcProviders: ["arn:aws:iam::1:oidc-provider/old"] });
  expect(said).toContain("Found of the hub in account 111122223333, eu-central-1:\n  Vpc hub-vpc ");
  expect(said).toMatch(/Not there, pulumi up makes it:\n {2}Secret prod\/1-secret\n/);
  expect(said).toMatch(/Not looked for[^\n]*\n {2}Workspace metrics\n/);
  expect(said).toMatch(/of no use to the new one[^\n]*\n {2}eipalloc-9\n {2}arn:aws:iam::1:oidc-provider\/old\n/);
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
  expect(written().resources.map(({ name }) => name)).toContain("crossplane-roleRole");
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
    /has to be kept first:\n {2}Secret git-secret: AWS is about to delete it: restore it/,
  ],
  [
    "a sealing key would be replaced",
    named([[sealingUrn, { id: "arn" }]]),
    /\n {2}prod\/1\n.*give each scope a generation whose name was never used/s,
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
