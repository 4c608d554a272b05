import { describe, expect, test } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { grantsByRole, type Team } from "../../../functions/spoke/teams.ts";
import { spoke } from "./support/fixtures.ts";
import { World } from "./support/world.ts";

const role = (name: string) => `arn:aws:iam::000000000000:role/${name}`;
const payments: Team = {
  name: "payments",
  namespaces: ["payment-jobs", "payment-app"],
  members: [
    { role: role("payers"), access: "edit" },
    { role: role("auditors"), access: "view" },
  ],
};
const search: Team = {
  name: "search",
  namespaces: ["search"],
  members: [
    { role: role("searchers"), access: "admin" },
    { role: role("auditors"), access: "view" },
    { role: role("payers"), access: "view" },
  ],
};

/** Access policies and their scopes, by principal. */
function access(world: World): Record<string, string[]> {
  const associations = [...world.live.values()].filter(({ object }) => object.kind === "AccessPolicyAssociation");
  const rows = associations.map(({ object }) => at(object.spec, "forProvider") as Record<string, string>);
  const told = ({ policyArn = "", accessScope }: Record<string, unknown>) =>
    `${String(policyArn).replace(/^.*\//, "")} ${((at(accessScope, "namespaces") ?? []) as string[]).join(",")}`.trim();
  return Object.fromEntries(
    [...Map.groupBy(rows, ({ principalArn = "" }) => principalArn.replace(/^.*\//, ""))].map(([name, own]) => [
      name,
      own.map(told).sort(),
    ]),
  );
}

const entries = (world: World) =>
  [...world.live.values()]
    .filter(({ object }) => object.kind === "AccessEntry")
    .map(({ object }) => String(at(object.spec, "forProvider", "principalArn")).replace(/^.*\//, ""))
    .filter((name) => !name.startsWith("fleet-hub-"))
    .sort();

function ready(teams: readonly Team[], change: object = {}): World {
  const world = new World(spoke({ teams, ...change }));
  expect(world.settle().ready).toBe(true);
  return world;
}

describe("the members of teams", () => {
  test("have their team's access in their team's namespaces; a role of two teams has one entry, and each right only where its team is", () => {
    const world = ready([payments, search]);
    expect(entries(world)).toEqual(["auditors", "payers", "searchers"]);
    expect(access(world)).toEqual({
      payers: ["AmazonEKSEditPolicy payment-app,payment-jobs", "AmazonEKSViewPolicy search"],
      auditors: ["AmazonEKSViewPolicy payment-app,payment-jobs,search"],
      searchers: ["AmazonEKSAdminPolicy search"],
    });
    for (const { object } of world.live.values())
      if (object.kind === "AccessPolicyAssociation")
        expect(at(object.spec, "forProvider", "accessScope", "type")).toBe("namespace");
  });

  test("keep nothing of a namespace that is taken from the team, and nothing when the team goes", () => {
    const world = ready([payments]);
    world.change({ teams: [{ ...payments, namespaces: ["payment-app"] }] });
    expect(world.settle().ready).toBe(true);
    expect(access(world)).toEqual({
      payers: ["AmazonEKSEditPolicy payment-app"],
      auditors: ["AmazonEKSViewPolicy payment-app"],
    });
    world.change({ teams: [] });
    expect(world.settle().ready).toBe(true);
    expect(entries(world)).toEqual([]);
    expect(access(world)).toEqual({});
  });

  test("get other namespaces only once the former access is gone, whose removal would take the new one away", () => {
    const world = ready([payments]);
    const [policy = ""] = [...world.live.keys()].filter((key) => key.startsWith("access-policy-team-edit-"));
    const former = world.object(policy);
    world.removed.length = 0;
    world.change({ teams: [{ ...payments, namespaces: ["payment-app"] }] });
    expect(world.settle().ready).toBe(true);
    expect(world.removed).toContain(policy);
    expect(world.object(policy)).not.toBe(former);
    expect(at(world.forProvider(policy), "accessScope", "namespaces")).toEqual(["payment-app"]);
  });

  test("keep the access entry when they become administrators, and the other way round", () => {
    const world = ready([search]);
    const others = { ...search, members: search.members.slice(1) };
    world.removed.length = 0;
    world.change({ teams: [others], admins: [role("searchers")] });
    expect(world.settle().ready).toBe(true);
    expect(access(world)["searchers"]).toEqual(["AmazonEKSClusterAdminPolicy"]);
    world.change({ teams: [search], admins: [] });
    expect(world.settle().ready).toBe(true);
    expect(access(world)["searchers"]).toEqual(["AmazonEKSAdminPolicy search"]);
    expect(world.removed.filter((key) => key.startsWith("access-entry-"))).toEqual([]);
  });
});

test("the order of teams, members and namespaces changes no access", () => {
  const sorted = (teams: readonly Team[]) =>
    [...grantsByRole(teams)]
      .map(([arn, grants]) => [arn, grants.toSorted((a, b) => a.access.localeCompare(b.access))])
      .sort();
  const turned = [search, { ...payments, namespaces: payments.namespaces.toReversed() }];
  expect(sorted(turned)).toEqual(sorted([payments, search]));
});
