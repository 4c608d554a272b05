import { describe, expect, test } from "vitest";
import { pulumi, tryPulumi } from "./support/fleet.ts";

const key = (name: string) => `eks-gitops-fleet:${name}`;
const resources = async (stack: string) =>
  (JSON.parse(await pulumi(["stack", "export", "--stack", stack])).deployment.resources ?? []).map(
    ({ urn }: { urn: string }) => urn,
  );

describe("bad config", () => {
  const bad = {
    vpcCidr: "10.0.0.0/33",
    kubernetesVersion: "1.12",
    gitKnownHosts: "",
    fleet: "a-name-that-is-much-too-long-for-the-names-derived-from-it",
    natGateways: "some",
    nodeMin: "5",
  };

  test("all mistakes are said at once, the exit code is not 0 and nothing is created", async () => {
    // The stack dev has nothing deployed here, so anything created would show.
    const flags = Object.entries(bad).flatMap(([name, value]) => ["--config", `${key(name)}=${value}`]);
    const { code, stdout, stderr } = await tryPulumi(["up", "--stack", "dev", "--yes", "--skip-preview", ...flags]);
    const output = stdout + stderr;
    for (const name of Object.keys(bad)) expect(output, name).toContain(name);
    expect(code).toBe(1);
    expect(await resources("dev")).toEqual([]);
  });

  test("overlapping subnets and two active generations of a sealing key are refused by name", async () => {
    const { code, stdout, stderr } = await tryPulumi([
      ...["up", "--stack", "dev", "--yes", "--skip-preview", "--config-path"],
      ...[
        "--config",
        `${key("privateSubnetCidrs[0]")}=10.0.0.0/20`,
        "--config",
        `${key("privateSubnetCidrs[1]")}=10.0.0.0/24`,
      ],
      ...["--config", `${key("sealingKeys[1].scope")}=dev`, "--config", `${key("sealingKeys[1].generation")}=2`],
      ...["--config", `${key("sealingKeys[1].active")}=true`],
    ]);
    const output = stdout + stderr;
    expect(output).toMatch(/privateSubnetCidrs/);
    expect(output).toMatch(/overlap/);
    expect(output).toMatch(/sealingKeys/);
    expect(code).toBe(1);
    expect(await resources("dev")).toEqual([]);
  });
});
