import { describe, expect, test } from "vitest";
import { type Handler, handlers } from "../../../aws/index.ts";
import { fakeAws } from "./fake.ts";

const association = handlers.get("aws:grafana/roleAssociation:RoleAssociation") as Handler;
const inputs = { workspaceId: "g-1", role: "ADMIN", groupIds: ["a"] };
const change = (groupIds: string[]) => ({ old: inputs, new: { ...inputs, groupIds }, has: () => true });

describe("a role in a Grafana workspace", () => {
  test("is given by an update to whom it names, and taken from nobody, as by the provider", async () => {
    const { aws, calls } = fakeAws({ UpdatePermissions: { errors: [] } });
    await association.update?.(aws, "g-1/ADMIN", change(["b"]));
    const users = [{ id: "b", type: "SSO_GROUP" }];
    expect(calls).toEqual([
      ["UpdatePermissions", { workspaceId: "g-1", updateInstructionBatch: [{ action: "ADD", role: "ADMIN", users }] }],
    ]);
  });

  test("fails with what AWS could not do, though the call itself went well", async () => {
    const { aws } = fakeAws({ UpdatePermissions: { errors: [{ code: 404, message: "no such group" }] } });
    await expect(association.create(aws, inputs)).rejects.toThrow("404: no such group");
  });
});
