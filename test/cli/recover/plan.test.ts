import { describe, expect, test } from "vitest";
import type { InAws, Tagged } from "../../../cli/adopt/aws.ts";
import { recognize } from "../../../cli/adopt/recognize.ts";
import { planOf } from "../../../cli/recover/plan.ts";
import { spoke } from "../../functions/spoke/support/fixtures.ts";
import { running } from "../../functions/spoke/support/world.ts";
import { inAwsOf, subjectOf } from "../adopt/support/made.ts";
import { interruptedIn } from "./support/interrupted.ts";

const blue = running(spoke({ network: { cidr: "10.100.0.0/16", zones: 2, natGateways: "single" } }));
const made = inAwsOf(blue);
const { begun, failing, known, objectsWith } = interruptedIn(blue);

function plan(changes: Parameters<typeof objectsWith>[0], inAws: InAws = made) {
  const { again, failed, found, left, several, unknown } = planOf(
    objectsWith(changes),
    recognize(subjectOf(blue), inAws),
  );
  const name = ({ object }: { object: { metadata: { name: string } } }) => object.metadata.name;
  return {
    found: Object.fromEntries(found.map((each) => [name(each), each.id])),
    again: again.map(name),
    several: Object.fromEntries(several.map((each) => [name(each), each.ids])),
    failed: Object.fromEntries(failed.map((each) => [name(each), [each.id, ...each.others, each.why]])),
    unknown: unknown.map(name),
    left,
  };
}
const nothing = { found: {}, again: [], several: {}, failed: {}, unknown: [], left: [] };
const without = (kind: string): InAws => ({ ...made, tagged: made.tagged.filter((each) => each.kind !== kind) });
const twice = (kind: string, id: string): InAws => {
  const one = made.tagged.find((each) => each.kind === kind) as Tagged;
  return { ...made, tagged: [...made.tagged, { ...one, id }] };
};

describe("a creation of which Crossplane can't determine the result", () => {
  test("ended where AWS has what carries the tags: its ID is noted", () =>
    expect(plan({ vpc: begun })).toEqual({ ...nothing, found: { "blue-vpc": known("vpc") } }));

  test("is begun anew where AWS has nothing", () =>
    expect(plan({ "nat-0": begun }, without("NATGateway"))).toEqual({ ...nothing, again: ["blue-nat-0"] }));

  test.each(["cluster", "role-node", "logs"])("of %s is repeated: AWS finds it by its name", (key) =>
    expect(plan({ [key]: { ...begun, ...{ "crossplane.io/external-name": key } } })).toEqual({
      ...nothing,
      again: [`blue-${key}`],
    }),
  );

  test("is left to a person where AWS has several that it could be", () =>
    expect(plan({ "address-0": begun }, twice("EIP", "eipalloc-2"))).toEqual({
      ...nothing,
      several: { "blue-address-0": [known("address-0"), "eipalloc-2"] },
    }));

  test("of an OIDC provider is left to a person until the cluster that uses it is there", () => {
    const key = "oidc-provider";
    expect(plan({ [key]: begun }, { ...made, cluster: undefined })).toMatchObject({
      found: {},
      unknown: [`blue-${key}`],
    });
    expect(plan({ [key]: begun })).toMatchObject({ found: { [`blue-${key}`]: expect.anything() }, unknown: [] });
  });

  test("of a key ended where AWS has one with the tags, before there is a cluster too", () => {
    const early = { ...made, cluster: undefined };
    expect(plan({ key: begun }, early)).toEqual({ ...nothing, found: { "blue-key": known("key") } });
    expect(plan({ key: begun }, { ...without("Key"), cluster: undefined })).toEqual({
      ...nothing,
      again: ["blue-key"],
    });
    expect(plan({ key: begun }, { ...twice("Key", "key-2"), cluster: undefined })).toEqual({
      ...nothing,
      several: { "blue-key": [known("key"), "key-2"] },
    });
  });

  test("of a route table's association is begun anew where its subnet is there without one", () => {
    const key = [...blue.live.keys()].find((each) => each.startsWith("association-")) ?? "";
    const bare = made.tagged.map(({ associations: _, ...each }) => each);
    expect(plan({ [key]: begun }, { ...made, tagged: bare })).toMatchObject({ again: [`blue-${key}`], unknown: [] });
    const hidden = bare.filter(({ kind }) => kind !== "Subnet");
    expect(plan({ [key]: begun }, { ...made, tagged: hidden })).toMatchObject({ again: [], unknown: [`blue-${key}`] });
  });

  test("that ended or failed is none", () => {
    const later = "2026-11-26T01:00:00Z";
    expect(plan({ vpc: { ...begun, "crossplane.io/external-create-failed": later } })).toEqual(nothing);
    expect(plan({ vpc: { ...begun, "crossplane.io/external-create-succeeded": later } })).toEqual(nothing);
  });
});

describe("a creation that fails because AWS has the resource already", () => {
  test("takes the one that is there", () =>
    expect(plan({ "nat-0": failing })).toEqual({ ...nothing, found: { "blue-nat-0": known("nat-0") } }));

  test.each([
    ["nat-0", without("NATGateway")],
    ["key", { ...without("Key"), cluster: undefined }],
  ])("of %s is left alone where AWS has none: something else is wrong", (key, inAws) =>
    expect(plan({ [key]: failing }, inAws)).toEqual(nothing),
  );
});

test("what was made twice is named, and the one that the hub knows is not", () =>
  expect(plan({}, twice("EIP", "eipalloc-2"))).toEqual({ ...nothing, left: ["eipalloc-2"] }));

test.each([
  ["a cluster", made.cluster],
  ["no cluster yet", undefined],
])("a key that was made twice is named as a key, with %s", (_, cluster) =>
  expect(plan({}, { ...twice("Key", "key-2"), cluster })).toEqual({ ...nothing, left: ["key key-2"] }),
);

describe("a NAT gateway that AWS failed to make", () => {
  const failed = (id: string): InAws => {
    const one = made.tagged.find(({ kind }) => kind === "NATGateway") as Tagged;
    return { ...made, tagged: [...made.tagged, { ...one, id, failed: "Resource.AlreadyAssociated: why" }] };
  };
  const object = { "crossplane.io/external-name": "nat-2" };

  test("is named with the one that has its address", () =>
    expect(plan({ "nat-0": object }, failed("nat-2"))).toEqual({
      ...nothing,
      failed: { "blue-nat-0": ["nat-2", known("nat-0"), "Resource.AlreadyAssociated: why"] },
    }));

  test("is named alone where there is no other", () => {
    const alone = { ...made, tagged: failed("nat-2").tagged.filter(({ id }) => id !== known("nat-0")) };
    expect(plan({ "nat-0": object }, alone).failed).toEqual({
      "blue-nat-0": ["nat-2", "Resource.AlreadyAssociated: why"],
    });
  });

  test("is left over where Crossplane knows another one", () =>
    expect(plan({}, failed("nat-2"))).toEqual({ ...nothing, left: ["nat-2"] }));
});

test("what the hub manages is not left over, though it is no part of the spoke as Git describes it", () => {
  const cluster = made.cluster as NonNullable<InAws["cluster"]>;
  const nodeGroups = [...cluster.nodeGroups, "stray"];
  const others = running(spoke({ nodes: { ...blue.spoke.spec.nodes, capacityType: "SPOT" } }));
  const recognized = recognize(subjectOf(others), { ...made, cluster: { ...cluster, nodeGroups } });
  expect(recognized.left).toEqual(expect.arrayContaining(nodeGroups.map((name) => `node group ${name}`)));
  expect(planOf(objectsWith({}), recognized).left).toEqual(["node group stray"]);
});

test("of a spoke that nothing interrupted there is nothing to do", () => expect(plan({})).toEqual(nothing));
