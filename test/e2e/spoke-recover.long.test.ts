import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, get, kubectl } from "./support/fleet.ts";
import type { Editable } from "./support/repository.ts";
import { condition, fleet, managedOf, sharedSpoke, untilReady } from "./support/spokes.ts";

/** What a spoke looks like whose creations were interrupted, and what `fleet recover` does about it (docs/guides/clusters.md#interrupted-creations). */

const SPOKE = "harbor";
const annotation = (name: string) => `crossplane.io/${name}`;
/** Seconds until the provider has looked at an object that somebody touched, on a machine that is busy. */
const LOOK_SECONDS = 180;

/** The managed resource of a kind, with what Crossplane knows of it. */
async function object(kind: string): Promise<{ readonly name: string; readonly id: string; readonly synced: string }> {
  const found = (await managedOf(SPOKE)).find((each) => each.kind === kind);
  const { metadata, status } = (await get([kind, found?.metadata.name, "--namespace", "spokes"])) as Editable;
  const synced = status.conditions.find(({ type }: { type: string }) => type === "Synced");
  return {
    name: metadata.name,
    id: metadata.annotations[annotation("external-name")],
    synced: `${synced?.status} ${synced?.message ?? ""}`,
  };
}

const annotate = (kind: string, name: string, ...annotations: string[]) =>
  kubectl(["annotate", kind, name, "--namespace", "spokes", "--overwrite", ...annotations]);

async function recover(...more: string[]) {
  const { code, stdout, stderr } = await fleet(["recover", SPOKE, ...more]);
  return { code, said: stdout + stderr };
}

/** The spoke's condition says why, and what to do. */
const untilSays = (type: string, reason: string) =>
  eventually(LOOK_SECONDS, async () =>
    expect(await condition(SPOKE, type)).toMatchObject({
      reason,
      message: expect.stringContaining("fleet recover <name>"),
    }),
  );

beforeAll(() => sharedSpoke(SPOKE, "dev"));
afterAll(async () => {
  await recover("--yes");
  await untilReady(SPOKE);
});

test("of a spoke that runs nothing is interrupted", async () => {
  expect(await recover()).toEqual({
    code: 0,
    said: `Nothing of ${SPOKE} was interrupted (account 000000000000, us-east-1)\n`,
  });
});

test("a creation that nobody noted the end of waits for a person, until fleet recover finds what was made", async () => {
  const { name, id } = await object("VPC");
  const begun = new Date(Date.now() + 1000).toISOString();
  // As a provider leaves it that is killed between its two notes. It does not look at what only changes these.
  await annotate("vpc", name, `${annotation("external-create-pending")}=${begun}`, `${annotation("external-name")}-`);
  await annotate("vpc", name, "fleet.internal/touched=now");
  await eventually(LOOK_SECONDS, async () =>
    expect((await object("VPC")).synced).toMatch(/^False cannot determine creation result/),
  );
  await untilSays("NetworkReady", "CreationInterrupted");
  const first = await recover();
  expect(first).toMatchObject({ code: 1, said: expect.stringContaining(`VPC ${name}: ${id}`) });
  expect(first.said).toContain("Nothing was changed");
  expect((await object("VPC")).synced).toMatch(/^False/);
  expect(await recover("--yes")).toMatchObject({ code: 0, said: expect.stringContaining("Crossplane was told") });
  await eventually(LOOK_SECONDS, async () =>
    expect(await object("VPC")).toMatchObject({ id, synced: expect.stringMatching(/^True/) }),
  );
  await untilReady(SPOKE);
});

test("a lost ID of what AWS makes only once is found again", async () => {
  const { name, id } = await object("OpenIDConnectProvider");
  await annotate("openidconnectprovider", name, `${annotation("external-name")}-`);
  // AWS refuses to make it once more; in whose words depends on what it looks at first, the rights or what is there.
  await eventually(LOOK_SECONDS, async () =>
    expect((await object("OpenIDConnectProvider")).synced).toMatch(
      /^False create failed: (AccessDenied|EntityAlreadyExists)/,
    ),
  );
  expect(await recover("--yes")).toMatchObject({ code: 0, said: expect.stringContaining(id) });
  await eventually(LOOK_SECONDS, async () =>
    expect(await object("OpenIDConnectProvider")).toMatchObject({ id, synced: expect.stringMatching(/^True/) }),
  );
  await untilReady(SPOKE);
  expect(await recover()).toMatchObject({ code: 0 });
});
