import { alone } from "@eks-gitops-fleet/local/cli";
import { listInstances } from "@eks-gitops-fleet/local/instance";
import { supervisorOf } from "@eks-gitops-fleet/local/supervisor";
import { describe, expect, test } from "vitest";
import { succeeds } from "../support/process.ts";
import { cli, instance, killedAt, pulumi } from "./support/fleet.ts";

/** Folders of the instances that previews made and did not remove yet. */
const previews = async () =>
  (await listInstances()).map(({ dir }) => dir).filter((dir) => dir.includes("fleet-preview-"));

/** Everything that a command could change in the running instance: the stack's state, and its processes with their restarts. */
const running = async () => ({
  state: await pulumi(["stack", "export"]),
  processes: await supervisorOf(instance).list(),
});

describe("npm run preview", () => {
  test("compares local with the running instance and changes nothing in it", async () => {
    const before = await running();
    const stdout = await succeeds(cli("preview.ts", ["local", "--expect-no-changes"]));
    expect(stdout).toContain(`Preview of local on the running instance in ${instance.dir}\n`);
    expect(stdout).toMatch(/Preview of local: done.*\nResources:\n\s+\d+ unchanged\n$/);
    expect(await running()).toEqual(before);
  });

  test("rejects local while npm start changes the instance", async () => {
    const { code, stderr } = await alone(instance.dir, "npm start", () => cli("preview.ts", ["local"]));
    expect(code).toBe(1);
    expect(stderr).toContain(`npm start is changing the instance in ${instance.dir}: wait until it ends`);
  });

  test.each(["prod", "local --from-scratch"])(
    "%s starts from an empty state, next to the running hub, and leaves nothing",
    async (line) => {
      const [stack = "", ...flags] = line.split(" ");
      const stdout = await succeeds(cli("preview.ts", [stack, ...flags]));
      expect(stdout).toMatch(new RegExp(`Preview of ${stack}: done.*\\nResources:\\n\\s+\\+ \\d+ to create\\n$`));
      expect(await previews()).toEqual([]);
    },
  );

  test("what a killed preview left is removed by the next one", async () => {
    await killedAt("preview.ts", ["dev"], /start the AWS API: done/);
    expect(await previews()).toHaveLength(1);
    const stdout = await succeeds(cli("preview.ts", ["dev"]));
    expect(stdout).toMatch(/^Removing .*fleet-preview-\w{6} of an earlier run$/m);
    expect(await previews()).toEqual([]);
  });

  test("a stack that the project doesn't have is refused before anything is started", async () => {
    const { code, stdout, stderr } = await cli("preview.ts", ["nowhere"]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/Pulumi\.nowhere\.yaml does not exist\. The stacks are dev, local, prod$/m);
  });
});
