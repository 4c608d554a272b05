import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { writeFiles } from "../../../cli/change/files.ts";
import { newTeam, type TeamOptions } from "../../../cli/spoke/team.ts";
import type { TeamRequest } from "../../../cli/spoke/team-rules.ts";
import { UsageError } from "../../../cli/usage.ts";
import { root } from "../support/fleet.ts";

const role = (name: string) => `arn:aws:iam::111111111111:role/${name}`;

const spoke = (name: string) => `# Ours.
apiVersion: fleet.internal/v1alpha1
kind: Spoke
metadata:
  name: ${name}
  namespace: spokes
spec:
  region: eu-west-1 # near the users
  kubernetesVersion: "1.35"
  admins:
    - ${role("platform")}
  # The last one.
  environment: dev
`;

let folder: string;
let checkout: string;
const file = (name: string) => join(checkout, "spokes", "fleet", name, "spoke.yaml");
const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};
const read = (name: string) => readFileSync(file(name), "utf8");
const teams = (name: string) => parse(read(name)).spec.teams;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fleet-new-team-"));
  checkout = join(folder, "gitops-system");
  for (const part of ["templates", "platform", "tools"])
    cpSync(join(root, "repos", "gitops-system", part), join(checkout, part), { recursive: true });
  mkdirSync(join(checkout, "clusters", "fleet"), { recursive: true });
  for (const name of ["blue", "green"]) write(file(name), spoke(name));
});
afterEach(() => rmSync(folder, { recursive: true }));

const request: TeamRequest = {
  name: "payments",
  clusters: ["blue"],
  namespaces: ["payment-app"],
  roles: [`${role("payers")}=edit`],
};
/** @returns the files that were changed */
async function make(change: Partial<TeamRequest> = {}, options?: TeamOptions): Promise<string[]> {
  const { files } = await newTeam(checkout, { ...request, ...change }, options);
  await writeFiles(checkout, files);
  return files.map(({ path }) => path);
}
const refusal = async (change: Partial<TeamRequest>, options?: TeamOptions): Promise<string> => {
  const before = ["blue", "green"].map(read);
  const error = await make(change, options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect(["blue", "green"].map(read)).toEqual(before);
  return (error as UsageError).message;
};

/** A checkout of gitops-workloads with these namespaces on blue, by their tenants. */
function workloads(tenants: Readonly<Record<string, string>>): string {
  const beside = join(folder, "gitops-workloads");
  mkdirSync(join(beside, "templates", "app"), { recursive: true });
  for (const [name, tenant] of Object.entries(tenants))
    write(
      join(beside, "clusters", "blue", name, "namespace.yaml"),
      `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n  labels:\n    fleet.internal/tenant: ${tenant}\n`,
    );
  return beside;
}

describe("fleet new-team", () => {
  test("adds the team to each spoke that is named, behind what is there, and leaves comments", async () => {
    const changed = await make({ clusters: ["blue", "green"], roles: [`${role("a")}=edit`, `${role("b=c")}=view`] });
    expect(changed).toEqual(["spokes/fleet/blue/spoke.yaml", "spokes/fleet/green/spoke.yaml"]);
    const added = `  teams:
    - name: payments
      namespaces:
        - payment-app
      members:
        - role: ${role("a")}
          access: edit
        - role: ${role("b=c")}
          access: view
`;
    for (const name of ["blue", "green"]) expect(read(name)).toBe(`${spoke(name)}${added}`);
  });

  test("changes nothing when it runs again, in whatever order, and when a flag is given twice", async () => {
    const both = { namespaces: ["payment-app", "payment-jobs"], roles: [`${role("a")}=edit`, `${role("b")}=view`] };
    await make(both);
    const before = read("blue");
    expect(await make(both)).toEqual([]);
    const turned = { namespaces: both.namespaces.toReversed(), roles: [...both.roles.toReversed(), ...both.roles] };
    expect(await make({ ...turned, clusters: ["blue", "blue"] })).toEqual([]);
    expect(read("blue")).toBe(before);
  });

  test("adds what the team lacks, and takes nothing away", async () => {
    await make();
    await make({ name: "search", namespaces: ["search"] });
    await make({ namespaces: ["payment-jobs"], roles: [`${role("auditors")}=view`] });
    expect(teams("blue")).toEqual([
      {
        name: "payments",
        namespaces: ["payment-app", "payment-jobs"],
        members: [
          { role: role("payers"), access: "edit" },
          { role: role("auditors"), access: "view" },
        ],
      },
      { name: "search", namespaces: ["search"], members: [{ role: role("payers"), access: "edit" }] },
    ]);
  });

  test("writes a list of its own where the file has an empty one", async () => {
    write(file("blue"), `${spoke("blue")}  teams: []\n`);
    await make();
    expect(read("blue")).toContain("  teams:\n    - name: payments\n");
  });

  test("leaves what else is in the file", async () => {
    const other = "---\n# Theirs.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: notes\n";
    write(file("blue"), `${spoke("blue")}${other}`);
    await make();
    expect(read("blue").endsWith(`access: edit\n${other}`)).toBe(true);
  });

  test.each<[string, Partial<TeamRequest>, string]>([
    ["a team that is not a name", { name: "The Team" }, "<team>: is not a name"],
    ["the platform as a team", { name: "platform" }, "<team>: administers the whole cluster"],
    ["a spoke that the fleet does not have", { clusters: ["red"] }, "--cluster: is not a spoke of fleet"],
    ["a namespace of the platform", { namespaces: ["flux-system"] }, "--namespace: is a namespace of the platform"],
    ["a namespace of an add-on", { namespaces: ["cert-manager"] }, "--namespace: is a namespace of the platform"],
    ["a pattern of namespaces", { namespaces: ["pay-*"] }, "--namespace: is not the name of a namespace"],
    ["a role without its access", { roles: [role("a")] }, "--role: is not a role with its access"],
    ["an unknown access", { roles: [`${role("a")}=cluster-admin`] }, "--role: is not a role with its access"],
    [
      "a session of a role",
      { roles: ["arn:aws:sts::111111111111:assumed-role/a/b=view"] },
      "--role: is not a role with its access",
    ],
    ["a role of the fleet", { roles: [`${role("fleet-spoke-blue-node")}=view`] }, "--role: is a role of the fleet"],
    ["an administrator", { roles: [`${role("platform")}=edit`] }, "--role: administers blue by spec.admins"],
    [
      "one role with two kinds of access",
      { roles: [`${role("a")}=edit`, `${role("a")}=view`] },
      "--role: is named twice with different access",
    ],
  ])("refuses %s, and writes nothing", async (_, change, message) => {
    const said = await refusal(change);
    expect(said).toMatch(/^1 problem in fleet new-team/);
    expect(said).toContain(message);
  });

  test("refuses a namespace of another team, and another access than a member has", async () => {
    await make();
    expect(await refusal({ name: "search" })).toContain("is a namespace of the team payments on blue");
    expect(await refusal({ roles: [`${role("payers")}=admin`] })).toContain("has another access in payments on blue");
  });

  test("lists all mistakes at once", async () => {
    const wrong = { name: "A", clusters: ["blue", "red"], namespaces: ["default"], roles: ["me=edit"] };
    const said = await refusal(wrong);
    expect(said).toMatch(/^4 problems in fleet new-team/);
    for (const key of ["<team>: ", "--cluster: ", "--namespace: ", "--role: "]) expect(said).toContain(key);
  });

  test("refuses more than a Spoke can hold, by its definition", async () => {
    const namespaces = Array.from({ length: 11 }, (_, index) => `app-${index}`);
    expect(await refusal({ namespaces })).toContain("must NOT have more than 10 items");
  });

  test("finds the namespaces in gitops-workloads: there they must be the team's", async () => {
    const beside = workloads({ "payment-app": "payments", search: "search" });
    await make({}, { workloads: beside });
    expect(await refusal({ namespaces: ["search"] }, { workloads: beside })).toContain(
      "is a namespace of search on blue, by its label fleet.internal/tenant",
    );
    const missing = await refusal({ namespaces: ["payment-jobs"] }, { workloads: beside });
    expect(missing).toContain("is not among what gitops-workloads puts on blue");
    expect(missing).toContain("allowed: payment-app");
    expect(missing).toContain("fleet onboard payment-jobs --cluster blue --tenant payments");
  });

  test("takes a Spoke whose lists are begun and empty, and tells of teams that the API would refuse", async () => {
    write(file("blue"), `${spoke("blue")}  teams:\n`.replace(/admins:\n.*\n/, "admins:\n"));
    expect(await make()).toEqual(["spokes/fleet/blue/spoke.yaml"]);
    write(file("green"), `${spoke("green")}  teams:\n    - name: others\n`);
    const message = await refusal({ clusters: ["green"] });
    expect(message).toContain("spokes/fleet/green/spoke.yaml");
    expect(message).toContain("namespaces");
  });

  test("asks for the fleet where there are several", async () => {
    write(join(checkout, "spokes", "other", "red", "spoke.yaml"), spoke("red"));
    mkdirSync(join(checkout, "clusters", "other"));
    await expect(make()).rejects.toThrow(/--fleet: is needed[\s\S]*allowed: fleet, other/);
    expect(await make({ clusters: ["red"] }, { fleet: "other" })).toEqual(["spokes/other/red/spoke.yaml"]);
  });
});
