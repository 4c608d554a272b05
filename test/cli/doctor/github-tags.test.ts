import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { checkReleaseTags } from "../../../cli/doctor/github-tags.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import type { Answer } from "../upstream/server.ts";
import { fakeGitHub, noGitHub, ofCheckout, recorded } from "./support/github.ts";
import { devStack, programs } from "./support/programs.ts";

const root = temporaryFolder("fleet-doctor-tags");
mkdirSync(join(root, ".git"));
writeFileSync(join(root, "Pulumi.yaml"), "name: fleet\nconfig: {}\n");
const closing: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

const git = ofCheckout(root);
const project = "repos/acme/fleet";
const listing = `${project}/rulesets?includes_parents=true&targets=tag&per_page=100`;
const ruleset = (id: number, answer: Answer) => ({ [`${project}/rulesets/${id}?includes_parents=true`]: answer });

const all = ["creation", "update", "deletion"];
const admins = [{ actor_type: "RepositoryRole", actor_id: 5 }];
const good: Readonly<Record<string, Answer>> = {
  [`${project}/environments/release`]: recorded.environment({ others: false }, recorded.custom),
  [listing]: recorded.rulesets("active"),
  ...ruleset(1, recorded.ruleset(all, {}, admins)),
};

async function examined(routes: Readonly<Record<string, Answer>>) {
  const fake = await fakeGitHub(routes);
  closing.push(fake.close);
  return checkReleaseTags(await devStack(), { root, run: programs(git), github: fake.github });
}

describe("fleet doctor, tags that release", () => {
  test.for([
    ["the role of administrators", {}, admins, "role admin"],
    [
      "a team and deploy keys",
      {},
      [
        { actor_type: "Team", actor_id: 7 },
        { actor_type: "DeployKey", actor_id: null },
      ],
      "Team 7, DeployKey",
    ],
    ["no one, by a pattern of all tags", { include: ["~ALL"] }, [], "no one"],
    ["no one, by one of several patterns", { include: ["refs/tags/x", "refs/tags/v*.*.*"] }, [], "no one"],
  ] as const)("are ok if a ruleset restricts them to %s", async ([, refs, actors, who]) => {
    expect(await examined({ ...good, ...ruleset(1, recorded.ruleset(all, refs, actors)) })).toEqual([
      { status: "ok", name: "tags v*", message: `can be created only by: ${who}`, todo: "" },
    ]);
  });

  test("are ok if two rulesets restrict them together", async () => {
    const routes = {
      [listing]: recorded.rulesets("active", "active"),
      ...ruleset(1, recorded.ruleset(["creation"], {}, admins)),
      ...ruleset(
        2,
        recorded.ruleset(["update", "deletion", "required_signatures"], { include: ["refs/tags/**/*"] }, []),
      ),
    };
    expect(await examined({ ...good, ...routes })).toMatchObject([{ status: "ok" }]);
  });

  test.for<[string, Readonly<Record<string, Answer>>, string]>([
    ["have no ruleset", { [listing]: recorded.rulesets() }, "can create, move, delete them"],
    ["have a disabled ruleset", { [listing]: recorded.rulesets("disabled") }, "can create, move, delete them"],
    ["have a ruleset under evaluation", { [listing]: recorded.rulesets("evaluate") }, "can create, move, delete them"],
    ["can be created", ruleset(1, recorded.ruleset(["update", "deletion"], {}, admins)), "can create them"],
    ["can be moved and deleted", ruleset(1, recorded.ruleset(["creation"], {}, admins)), "can move, delete them"],
    ["are excluded", ruleset(1, recorded.ruleset(all, { exclude: ["refs/tags/v9*"] }, admins)), "can create, move"],
    [
      "are restricted in part",
      ruleset(1, recorded.ruleset(all, { include: ["refs/tags/v1.*"] }, admins)),
      "can create",
    ],
    [
      "are bypassed by everyone who can push",
      ruleset(1, recorded.ruleset(all, {}, [...admins, { actor_type: "RepositoryRole", actor_id: 4 }])),
      "can create, move, delete them",
    ],
  ])("are wrong if they %s", async ([, routes, message]) => {
    expect(await examined({ ...good, ...routes })).toMatchObject([
      {
        status: "wrong",
        name: "tags v*",
        message: expect.stringContaining(`everyone who can push to acme/fleet ${message}`),
        todo: expect.stringContaining("docs/guides/signatures.md#publish-it"),
      },
    ]);
  });

  test("are a note if GitHub doesn't show who bypasses the ruleset, never ok", async () => {
    expect(await examined({ ...good, ...ruleset(1, recorded.ruleset(all)) })).toMatchObject([
      {
        status: "note",
        message: expect.stringContaining("who bypasses it"),
        todo: expect.stringContaining("administrator"),
      },
    ]);
  });

  test.for<[string, Readonly<Record<string, Answer>>, string]>([
    ["the rulesets", { [listing]: recorded.forbidden }, "status 403"],
    ["one ruleset", ruleset(1, recorded.notFound), "status 404"],
  ])("are a note if GitHub doesn't return %s", async ([, routes, message]) => {
    expect(await examined({ ...good, ...routes })).toMatchObject([
      { status: "note", name: "tags v*", message: expect.stringContaining(message) },
    ]);
  });

  test("have no finding without the environment release, without a token, and on an embedded cloud", async () => {
    expect(await examined({ [listing]: recorded.rulesets() })).toEqual([]);
    const stack = await devStack();
    const options = { root, run: programs(git), github: noGitHub };
    expect(await checkReleaseTags(stack, options)).toEqual([]);
    expect(await checkReleaseTags({ ...stack, embedded: true }, options)).toEqual([]);
  });
});
