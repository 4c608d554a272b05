import { listInstances } from "@eks-gitops-fleet/local/instance";
import { describe, expect, test } from "vitest";
import { cli, killedAt } from "./support/fleet.ts";

/** Folders of the instances that previews made and did not remove yet. */
const previews = async () =>
  (await listInstances()).map(({ dir }) => dir).filter((dir) => dir.includes("fleet-preview-"));

describe("npm run preview", () => {
  test.each(["dev", "prod"])(
    "%s passes on the stand-ins, beside the running hub, and leaves nothing",
    async (stack) => {
      const { code, stdout, stderr } = await cli("preview.ts", [stack]);
      expect(code, stdout + stderr).toBe(0);
      expect(stdout).toMatch(new RegExp(`Preview of ${stack}: done.*\\nResources:\\n\\s+\\+ \\d+ to create\\n$`));
      expect(await previews()).toEqual([]);
    },
  );

  test("what a killed preview left is removed by the next one", async () => {
    await killedAt("preview.ts", ["dev"], /start the AWS API: done/);
    expect(await previews()).toHaveLength(1);
    const { code, stdout, stderr } = await cli("preview.ts", ["dev"]);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain("which an interrupted run left");
    expect(await previews()).toEqual([]);
  });

  test("a stack that the project doesn't have is refused before anything is started", async () => {
    const { code, stdout, stderr } = await cli("preview.ts", ["nowhere"]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/Pulumi\.nowhere\.yaml does not exist\. The stacks are dev, local, prod$/m);
  });
});
