import { readdir } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { type Aws, finishing, type Handler, type Properties, samePolicy } from "../../../../aws/index.ts";
import type { Session } from "../../../../pulumi/aws/config.ts";
import { definitionOf } from "../../../../pulumi/aws/definition.ts";
import { type Journal, journalIn } from "../../../../pulumi/aws/journal.ts";
import {
  openSdk,
  ResourceNotReadyError,
  type ResourceShape,
  Secret,
  UNKNOWN,
} from "../../../../pulumi/framework/index.ts";
import { scratch } from "../../../support/scratch.ts";

/** Roles in memory: what AWS would hold. */
class Roles {
  readonly held = new Map<string, Properties>();
  readonly log: string[] = [];
  broken = false;

  readonly handler: Handler = {
    token: "aws:iam/role:Role",
    regional: false,
    tagged: true,
    inputs: ["name", "path", "assumeRolePolicy", "description", "maxSessionDuration"],
    computed: ["maxSessionDuration"],
    completed: [],
    replaceOn: ["name", "path"],
    defaults: { path: "/" },
    autoName: { property: "name", maxLength: 64 },
    compare: { assumeRolePolicy: samePolicy },
    create: (_aws, inputs) => {
      const name = inputs["name"] as string;
      this.log.push(`create ${name}`);
      this.held.set(name, { maxSessionDuration: 3600, ...inputs });
      return finishing(name, () => (this.broken ? Promise.reject(new Error("killed half way")) : Promise.resolve()));
    },
    read: (_aws, id) => Promise.resolve(this.held.get(id) ?? null),
    update: (_aws, id, change) => {
      this.log.push(`update ${id}`);
      this.held.set(id, { ...this.held.get(id), ...change.new });
      return Promise.resolve();
    },
    delete: (_aws, id) => {
      this.log.push(`delete ${id}`);
      this.held.delete(id);
      return Promise.resolve();
    },
  };
}

const urn = "urn:pulumi:dev::p::aws:iam/role:Role::hub";
const session: Session = { aws: {} as Aws, defaultTags: { fleet: "one" } };
const context = {
  ...{
    session,
    urn,
    name: "hub",
    token: "aws:iam/role:Role",
    timeoutSeconds: undefined,
    signal: new AbortController().signal,
  },
  log: { debug() {}, info() {}, warning() {}, status() {} },
};
const shape = openSdk("aws").resource("aws:iam/role:Role") as ResourceShape;
const trust = JSON.stringify({ Version: "2012-10-17", Statement: [] });
const inputs = { name: "hub", path: "/", assumeRolePolicy: trust };

let folder: string;
let roles: Roles;
let journal: Journal;
beforeEach(() => {
  folder = scratch("fleet-journal-");
  roles = new Roles();
  journal = journalIn(folder);
});

const definition = () => definitionOf(roles.handler, shape, journal);
const create = () => definition().create({ ...context, inputs });
const diff = (
  newInputs: object,
  oldInputs: object = inputs,
  state: object = { ...oldInputs, tagsAll: { fleet: "one" } },
) => definition().diff?.({ ...context, id: "hub", oldInputs, newInputs, state } as never);
const check = (news: object) => definition().check?.({ ...context, olds: {}, news, seed: new Uint8Array() } as never);

describe("inputs", () => {
  test("take a policy as an object too", async () => {
    const document = { Version: "2012-10-17", Statement: [{ Effect: "Allow" }] };
    const checked = await check({ ...inputs, assumeRolePolicy: document });
    expect(checked?.inputs?.["assumeRolePolicy"]).toBe(JSON.stringify(document));
    const unknown = await check({ ...inputs, assumeRolePolicy: { Statement: [UNKNOWN] } });
    expect(unknown?.inputs?.["assumeRolePolicy"]).toBe(UNKNOWN);
    const secret = await check({ ...inputs, assumeRolePolicy: new Secret(document) });
    expect(secret?.inputs?.["assumeRolePolicy"]).toBeInstanceOf(Secret);
  });
});

describe("differences", () => {
  test("are none for a policy of the same meaning", async () => {
    const spaced = JSON.stringify(JSON.parse(trust), null, 2);
    expect((await diff({ ...inputs, assumeRolePolicy: spaced }))?.properties).toEqual({});
  });

  test("replace where the type says so, and delete first because the name is the same", async () => {
    const changed = await diff({ ...inputs, path: "/fleet/" });
    expect(changed).toEqual({ properties: { path: { kind: "update", replace: true } }, deleteBeforeReplace: true });
    expect((await diff({ ...inputs, name: "other" }))?.deleteBeforeReplace).toBe(false);
  });

  test("are none when the program stops setting what AWS fills in", async () => {
    expect((await diff(inputs, { ...inputs, maxSessionDuration: 7200 }))?.properties).toEqual({});
    expect((await diff(inputs, { ...inputs, description: "x" }))?.properties).toEqual({
      description: { kind: "delete", replace: false },
    });
  });

  test("are none in a region that is the provider's, whether the program names it or not; another region is another resource", async () => {
    const here = { ...context, session: { ...session, aws: { region: "eu-west-1" } as Aws }, id: "hub" };
    const regional = definitionOf({ ...roles.handler, regional: true }, shape, journal);
    const changed = async (before: object, after: object, state: object = {}) =>
      (
        await regional.diff?.({
          ...{ ...here, oldInputs: { ...inputs, ...before }, newInputs: { ...inputs, ...after } },
          state: { ...inputs, tagsAll: { fleet: "one" }, ...state },
        } as never)
      )?.properties;
    // As an import records it, and the program does not.
    expect(await changed({ region: "eu-west-1" }, {})).toEqual({});
    expect(await changed({}, { region: "eu-west-1" })).toEqual({});
    const moved = { region: { kind: "update", replace: true } };
    expect(await changed({}, { region: "eu-north-1" })).toEqual(moved);
    expect(await changed({}, {}, { region: "us-east-1" })).toEqual(moved);
  });

  test("show changed default tags", async () => {
    const state = { ...inputs, tagsAll: { fleet: "another" } };
    expect((await diff(inputs, inputs, state))?.properties).toEqual({ tagsAll: { kind: "update", replace: false } });
  });
});

test("a preview knows all tags, and only what AWS decides is unknown", async () => {
  const shown = await definition().preview?.({ ...context, inputs, oldInputs: undefined, state: undefined });
  expect(shown).toMatchObject({ ...inputs, tagsAll: { fleet: "one" }, arn: UNKNOWN, maxSessionDuration: UNKNOWN });
});

test("create, read and update give the same outputs for the same role", async () => {
  const created = await create();
  expect(created).toMatchObject({
    id: "hub",
    outputs: { ...inputs, maxSessionDuration: 3600, tagsAll: { fleet: "one" } },
  });
  const request = { ...context, id: "hub", state: created.outputs as never, inputs, rawInputs: inputs };
  await expect(definition().read(request)).resolves.toEqual({ id: "hub", outputs: created.outputs, inputs });
  const updated = await definition().update?.({
    ...request,
    oldInputs: inputs,
    inputs: { ...inputs, description: "new" },
  });
  expect(updated).toEqual({ ...created.outputs, description: "new" });
});

test("a refresh shows what was changed, and what somebody set beside the program", async () => {
  const created = await create();
  roles.held.set("hub", {
    ...roles.held.get("hub"),
    description: "by hand",
    maxSessionDuration: 7200,
    path: "/other/",
  });
  const request = { ...context, id: "hub", state: created.outputs as never, inputs, rawInputs: inputs };
  const current = await definition().read(request);
  // maxSessionDuration is AWS's own to fill in while the program does not set it.
  expect(current?.inputs).toEqual({ ...inputs, path: "/other/", description: "by hand" });
});

test("a role that is half made is recorded with its id and the reason", async () => {
  roles.broken = true;
  const error = await create().catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ResourceNotReadyError);
  expect(error).toMatchObject({
    id: "hub",
    reasons: ["create aws:iam/role:Role hub: killed half way"],
    outputs: { name: "hub" },
  });
});

describe("after an interrupted creation that AWS then failed to finish", () => {
  const message = "unexpected state 'CREATE_FAILED'";
  const failing = (status: string) => {
    const ready = () => Promise.reject(new Error(message));
    roles.held.set("hub", { ...inputs, status });
    return definitionOf({ ...roles.handler, failed: ["CREATE_FAILED"], ready }, shape, journal);
  };
  const state = { ...inputs, status: "CREATING", tagsAll: { fleet: "one" } };
  const request = { ...context, id: "hub", oldInputs: inputs, state, inputs: { ...inputs, description: "new" } };

  test("the next run records that, and the one after it replaces the resource", async () => {
    const definition = failing("CREATE_FAILED");
    const error = (await definition.update?.(request).catch((thrown: unknown) => thrown)) as ResourceNotReadyError;
    expect(error).toBeInstanceOf(ResourceNotReadyError);
    expect(error).toMatchObject({ id: "hub", outputs: { status: "CREATE_FAILED" }, inputs });
    expect(error.reasons).toEqual([`update aws:iam/role:Role hub: ${message}. The next run replaces it`]);
    expect(roles.log).toEqual([]);
    const next = { ...context, id: "hub", oldInputs: inputs, newInputs: inputs, state: error.outputs };
    expect(await definition.diff?.(next as never)).toMatchObject({ properties: { status: { replace: true } } });
  });

  test("the next run fails as AWS does where AWS still works on it", async () => {
    await expect(failing("CREATING").update?.(request)).rejects.toThrow(`update aws:iam/role:Role hub: ${message}`);
  });
});

describe("after the engine was killed before it recorded a creation", () => {
  test("the next run takes over what was made", async () => {
    await create();
    roles.log.length = 0;
    await expect(create()).resolves.toMatchObject({ id: "hub" });
    expect(roles.log).toEqual([]);
  });

  test("the next run replaces what is not as it is wanted", async () => {
    await create();
    roles.held.set("hub", { ...inputs, path: "/elsewhere/" });
    roles.log.length = 0;
    await create();
    expect(roles.log).toEqual(["delete hub", "create hub"]);
  });

  test("the next run makes anew what is gone", async () => {
    await create();
    roles.held.clear();
    await expect(create()).resolves.toMatchObject({ id: "hub" });
  });
});

test("what the engine has recorded is forgotten, but not the replacement that it has not recorded yet", async () => {
  await create();
  await journal.known(urn, "another");
  await expect(readdir(folder)).resolves.toHaveLength(1);
  await diff(inputs);
  await expect(readdir(folder)).resolves.toHaveLength(0);
});
