import { expect, test } from "vitest";
import { hub, settings } from "../functions/spoke/support/fixtures.ts";
import { offeredIn, rolePatches } from "../support/addon-catalogue.ts";
import { app, render, withAddons } from "./support/spoke.ts";

const addons = offeredIn("dev");
const ofHub = {
  ...hub,
  aws: { ...hub.aws, rolePath: "/company/teams/" },
  addonBoundaryArn: hub.permissionsBoundaryArn,
};
const ofAddons = Object.fromEntries(
  Object.entries(rolePatches).map(([addon, patches]) => [addon, patches[0]?.value]),
) as NonNullable<ReturnType<typeof settings>["addons"]>;

test("roles have the path of the stack wherever a spoke's manifests name one, and the roles of applications get it", () => {
  const rendered = render(withAddons("minimal", addons), { hub: ofHub, settings: settings({ addons: ofAddons }) });
  const objects = rendered.applied.flatMap((each) => each.objects);
  const roles = JSON.stringify(objects).match(/:role\/[^"\\\s]*fleet-spoke-[^"\\\s]*/g) ?? [];
  expect(roles).toContain(`:role/company/teams/fleet-spoke-blue_${app.app}`);
  expect(roles.length).toBeGreaterThan(8);
  expect(roles.filter((role) => !role.startsWith(":role/company/teams/fleet-spoke-"))).toEqual([]);
  const ordered = objects.filter(({ kind, apiVersion }) => kind === "Role" && apiVersion.startsWith("iam.aws"));
  expect(ordered.map(({ spec }) => spec.forProvider.path)).toEqual(["/company/teams/"]);
});
