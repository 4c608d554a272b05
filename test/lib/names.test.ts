import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { derivedNames, fleetNames, hubIdentities, lengthSafe, nameLimits, tooLong } from "../../lib/names.ts";

describe("fleetNames", () => {
  it("no role or cluster of the hub lies in Crossplane's territory", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9-]{1,22}[a-z0-9]$/), (fleet) => {
        const names = fleetNames(fleet);
        const hub = [names.hubCluster, names.clusterRole, names.nodeRole, ...hubIdentities.map(names.identityRole)];
        expect(hub.filter((name) => name.startsWith(names.spokePrefix))).toEqual([]);
      }),
    );
  });
});

describe("tooLong", () => {
  it("finds the derived names that break the limit of their service, and no other", () => {
    expect(tooLong(derivedNames("fleet", [{ scope: "dev", generation: "1" }]))).toEqual([]);
    const longest = `${"f".repeat(40)}-hub-kustomize-controller`;
    expect(longest).toHaveLength(nameLimits.iamRole + 1);
    expect(tooLong(derivedNames("f".repeat(40), []))).toEqual([{ kind: "iamRole", name: longest }]);
    expect(
      tooLong(derivedNames("fleet", [{ scope: "s".repeat(500), generation: "1" }])).map(({ kind }) => kind),
    ).toEqual(["secret"]);
  });
});

describe("lengthSafe", () => {
  it("keeps the limit, keeps short names as they are, and keeps different names different", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 200 }),
        fc.string({ maxLength: 200 }),
        fc.integer({ min: 12, max: 80 }),
        (a, b, limit) => {
          expect(lengthSafe(a, limit).length).toBeLessThanOrEqual(limit);
          if (a.length <= limit) expect(lengthSafe(a, limit)).toBe(a);
          if (a !== b) expect(lengthSafe(a, limit)).not.toBe(lengthSafe(b, limit));
        },
      ),
    );
    const long = "x".repeat(100);
    expect(lengthSafe(`${long}a`, 60)).not.toBe(lengthSafe(`${long}b`, 60));
  });
});
