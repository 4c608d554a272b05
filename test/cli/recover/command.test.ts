import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { InAws } from "../../../cli/adopt/aws.ts";
import type { Api } from "../../../cli/kubernetes/api.ts";
import { run } from "../../../cli/recover/command.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { spoke } from "../../functions/spoke/support/fixtures.ts";
import { running } from "../../functions/spoke/support/world.ts";
import { inAwsOf } from "../adopt/support/made.ts";
import { interruptedIn } from "./support/interrupted.ts";

const world = running(spoke({ network: { cidr: "10.100.0.0/16" } }));
const { begun, failing, known, objectsWith } = interruptedIn(world);
const made = inAwsOf(world);

let said: string;
beforeEach(() => {
  said = "";
  vi.spyOn(console, "log").mockImplementation((text: string) => {
    said += `${text}\n`;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The exit code, and the annotations that were set, by object. */
async function recover(objects: readonly KubeObject[], inAws: InAws, ...more: string[]) {
  const told: Record<string, Readonly<Record<string, string>>> = {};
  const hub: Api = {
    list: async ({ apiVersion, plural }) =>
      objects.filter((each) => each.apiVersion === apiVersion && `${each.kind.toLowerCase()}s` === plural),
    find: async (_, name) => (name === "blue" ? world.spoke : undefined),
    annotate: async ({ namespace }, { name }, annotations) => {
      told[`${namespace}/${name}`] = annotations;
    },
    log: async () => "",
  };
  const connect = async () => ({ hub, profile: undefined, reach: async () => hub });
  const code = await run(["blue", ...more], { connect }, async () => inAws);
  return { code, told };
}

const now = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

describe("fleet recover", () => {
  const interrupted = objectsWith({ vpc: begun, "nat-0": failing });

  test("says what it would do and changes nothing without --yes", async () => {
    expect(await recover(interrupted, made)).toEqual({ code: 1, told: {} });
    expect(said).toContain(
      `its ID is noted:\n  NATGateway blue-nat-0: ${known("nat-0")}\n  VPC blue-vpc: ${known("vpc")}\n`,
    );
    expect(said).toContain("Nothing was changed: --yes does it");
  });

  test("notes the IDs and that the creations have ended", async () => {
    const { code, told } = await recover(interrupted, made, "--yes");
    expect(code).toBe(0);
    expect(told).toEqual({
      "spokes/blue-vpc": {
        "crossplane.io/external-name": known("vpc"),
        "crossplane.io/external-create-succeeded": now,
      },
      "spokes/blue-nat-0": {
        "crossplane.io/external-name": known("nat-0"),
        "crossplane.io/external-create-succeeded": now,
      },
    });
    expect(said).toContain("Crossplane was told. fleet why blue shows how it goes on");
  });

  test("lets Crossplane make what AWS does not have", async () => {
    const without = { ...made, tagged: made.tagged.filter(({ kind }) => kind !== "NATGateway") };
    const { told } = await recover(objectsWith({ "nat-0": begun }), without, "--yes");
    expect(told).toEqual({ "spokes/blue-nat-0": { "crossplane.io/external-create-succeeded": now } });
  });

  test("chooses none of several, and ends with 1", async () => {
    const vpc = made.tagged.find(({ kind }) => kind === "VPC") as (typeof made.tagged)[number];
    const twice = { ...made, tagged: [...made.tagged, { ...vpc, id: "vpc-2" }] };
    expect(await recover(objectsWith({ vpc: begun }), twice, "--yes")).toEqual({ code: 1, told: {} });
    expect(said).toContain(`run this again:\n  VPC blue-vpc: ${known("vpc")}, vpc-2\n`);
  });

  test("names what was made twice, and has nothing else to do", async () => {
    const vpc = made.tagged.find(({ kind }) => kind === "VPC") as (typeof made.tagged)[number];
    const twice = { ...made, tagged: [...made.tagged, { ...vpc, id: "vpc-2" }] };
    expect(await recover(objectsWith({}), twice, "--yes")).toEqual({ code: 0, told: {} });
    expect(said).toBe(
      "In account 000000000000, us-east-1:\nWith the spoke's tags, but managed by nobody. Delete it in AWS if nothing uses it:\n  vpc-2\n",
    );
  });

  test("names what AWS failed to make with what is in its way, tells Crossplane nothing, and ends with 1", async () => {
    const gateway = made.tagged.find(({ kind }) => kind === "NATGateway") as (typeof made.tagged)[number];
    const failed = { ...made, tagged: [...made.tagged, { ...gateway, id: "nat-2", failed: "Why: it failed" }] };
    const objects = objectsWith({ "nat-0": { "crossplane.io/external-name": "nat-2" } });
    expect(await recover(objects, failed, "--yes")).toEqual({ code: 1, told: {} });
    expect(said).toContain(`makes it anew:\n  NATGateway blue-nat-0: nat-2, ${known("nat-0")} (Why: it failed)\n`);
  });

  test("says so where nothing was interrupted", async () => {
    expect(await recover(objectsWith({}), made)).toEqual({ code: 0, told: {} });
    expect(said).toBe("Nothing of blue was interrupted (account 000000000000, us-east-1)\n");
  });

  test("believes no account or region in which the VPC that the hub made is not", async () => {
    const elsewhere = { account: "999999999999", tagged: [], cluster: undefined };
    await expect(recover(objectsWith({ "nat-0": begun }), elsewhere, "--yes")).rejects.toThrow(
      /fleet recover blue \(account 999999999999, us-east-1\): it has no VPC \S+, which the hub made\. Take credentials/,
    );
  });

  test("looks for no VPC of a spoke whose network is somebody else's", async () => {
    const shared = objectsWith({ "launch-template": begun }).map((object) =>
      object.kind === "VPC" ? { ...object, spec: { managementPolicies: ["Observe"] } } : object,
    );
    const without = { ...made, tagged: made.tagged.filter(({ kind }) => kind === "LaunchTemplate") };
    const { code, told } = await recover(shared as KubeObject[], without, "--yes");
    expect({ code, told: Object.keys(told) }).toEqual({ code: 0, told: ["spokes/blue-launch-template"] });
  });

  test("does nothing where AWS contradicts what the hub made", async () => {
    const moved = made.tagged.map((each) => (each.kind === "Subnet" ? { ...each, vpc: "vpc-other" } : each));
    await expect(recover(objectsWith({ "nat-0": begun }), { ...made, tagged: moved }, "--yes")).rejects.toThrow(
      "what AWS has is not what the hub made:\n  - ",
    );
  });

  test("does not look for a spoke before the hub makes anything of it", () =>
    expect(recover([], made)).rejects.toThrow(
      "the hub makes nothing of spoke blue in AWS yet: fleet why blue says what it waits for",
    ));
});
