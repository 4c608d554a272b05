import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { temporaryFolder } from "../support/temporary.ts";
import { pulumi, root, tryPulumi } from "./support/fleet.ts";

const base = temporaryFolder("fleet-config");
/** The resources of a stack besides the stack itself. */
const resources = async (stack: string) =>
  ((JSON.parse(await pulumi(["stack", "export", "--stack", stack])).deployment.resources ?? []) as { type: string }[])
    .map(({ type }) => type)
    .filter((type) => type !== "pulumi:pulumi:Stack");

/** `pulumi up` of the stack dev, of which nothing is deployed here, with some of its values changed. */
async function upWith(values: Record<string, unknown>) {
  const { config } = parse(readFileSync(join(root, "stacks", "Pulumi.dev.yaml"), "utf8"));
  const file = join(base, "Pulumi.dev.yaml");
  const changed = Object.entries(values).map(([name, value]) => [`eks-gitops-fleet:${name}`, value]);
  // What the sample asks to replace.
  const own = {
    "aws:allowedAccountIds": ["000000000000"],
    "eks-gitops-fleet:endpointPublicAccessCidrs": ["1.2.3.4/32"],
  };
  writeFileSync(file, stringify({ config: { ...config, ...own, ...Object.fromEntries(changed) } }));
  const { code, stdout, stderr } = await tryPulumi([
    "up",
    "--stack",
    "dev",
    "--config-file",
    file,
    "--yes",
    "--skip-preview",
  ]);
  return { code, output: stdout + stderr };
}

describe("bad config", () => {
  test.each<[string, Record<string, unknown>, RegExp[]]>([
    [
      "values that are wrong by themselves",
      { vpcCidr: "10.0.0.0/33", kubernetesVersion: "1.12", natGateways: "some", nodeMin: 5 },
      [/vpcCidr/, /kubernetesVersion/, /natGateways/, /nodeMin/],
    ],
    [
      "values that don't go together",
      {
        privateSubnetCidrs: ["10.0.0.0/20", "10.0.0.0/24"],
        sealingKeys: [
          { scope: "dev", generation: "1", active: true },
          { scope: "dev", generation: "2", active: true },
        ],
        gitKnownHosts: "",
        fleet: "a-name-that-is-far-too-long-for-the-names-derived-from-it",
      },
      [/privateSubnetCidrs/, /sealingKeys/, /gitKnownHosts/, /fleet/],
    ],
  ])("%s: all are said at once, the exit code is 1 and nothing is created", async (_, values, problems) => {
    const { code, output } = await upWith(values);
    for (const problem of problems) expect(output).toMatch(problem);
    expect(code).toBe(1);
    expect(await resources("dev")).toEqual([]);
  });
});
