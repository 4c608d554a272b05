import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { hub, spoke } from "./support/fixtures.ts";
import { running } from "./support/world.ts";

const ofHub = { ...hub, aws: { ...hub.aws, rolePath: "/company/teams/" } };

/** ARNs of roles in everything that is composed, which AWS has or made. */
const rolesIn = (world: ReturnType<typeof running>) =>
  [...world.live.values()].flatMap(
    ({ object }) => JSON.stringify(object).match(/:role\/[^"\\]*fleet-spoke-[^"\\]*/g) ?? [],
  );

describe("a path for roles", () => {
  it.each(["nodes", "auto"])("is that of every role of a spoke with compute %s, and in every ARN of one", (compute) => {
    const world = running(spoke(compute === "auto" ? { compute } : {}), { hub: ofHub });
    const roles = [...world.live.values()].filter(({ object }) => object.kind === "Role");
    expect(roles.length).toBeGreaterThan(3);
    for (const { object } of roles)
      expect(at(object.spec, "forProvider", "path"), object.metadata.name).toBe("/company/teams/");
    expect(rolesIn(world).length).toBeGreaterThan(3);
    expect(rolesIn(world).filter((role) => !role.startsWith(":role/company/teams/fleet-spoke-"))).toEqual([]);
    const bridge = fromBase64(world.object("cluster-secret").data ?? {});
    expect(bridge["aws_role_path"]).toBe("/company/teams/");
  });

  it("is none where the stack names none: the roles of spokes that exist keep what they have", () => {
    const world = running(spoke());
    for (const { object } of world.live.values())
      if (object.kind === "Role") expect(at(object.spec, "forProvider")).not.toHaveProperty("path");
  });
});
