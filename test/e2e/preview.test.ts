import { describe, expect, test } from "vitest";
import { listInstances } from "../../local/instance/index.ts";
import { cli } from "./support/fleet.ts";

describe("npm run preview", () => {
  test.each(["dev", "prod"])(
    "%s passes on the stand-ins, beside the running hub, and leaves nothing",
    async (stack) => {
      const { code, stdout, stderr } = await cli("preview.ts", [stack]);
      expect(code, stdout + stderr).toBe(0);
      expect(stdout).toMatch(/Resources:\n\s+\+ \d+ to create/);
      expect((await listInstances()).map(({ dir }) => dir).filter((dir) => dir.includes("fleet-preview-"))).toEqual([]);
    },
  );

  test("a stack that the project doesn't have is refused by name", async () => {
    const { code, stdout, stderr } = await cli("preview.ts", ["nowhere"]);
    expect(code).toBe(1);
    expect(stdout + stderr).toContain("Pulumi.nowhere.yaml");
  });
});
