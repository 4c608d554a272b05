import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { hubSteps, urnOf } from "../../../cli/deploy-key/hub.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { root } from "../support/fleet.ts";

const base = temporaryFolder("fleet-hub-keys");
const checkout = join(base, "gitops-system");
cpSync(join(root, "repos", "gitops-system", "templates"), join(checkout, "templates"), { recursive: true });
const [ofSystem, ofWorkloads] = ["ssh-ed25519 c3lzdGVt fleet", "ssh-ed25519 d29ya2xvYWRz fleet"];
/** A spoke whose credential for gitops-system notes a key. */
function spoke(name: string, key?: string, made?: string): void {
  const folder = join(checkout, "spokes", "fleet", name);
  mkdirSync(join(folder, "secrets"), { recursive: true });
  writeFileSync(join(folder, "spoke.yaml"), "kind: Spoke\n");
  const note =
    key === undefined
      ? ""
      : `  annotations: { fleet.internal/deploy-key: ${key}${made === undefined ? "" : `, fleet.internal/deploy-key-made: "${made}"`} }\n`;
  writeFileSync(join(folder, "secrets", "gitops-system.yaml"), `kind: SealedSecret\nmetadata:\n  name: a\n${note}`);
}
spoke("blue", ofSystem);
spoke("green", "ssh-ed25519 Z3JlZW4 green@fleet", "2026-11-20");
spoke("red");

const bridgeData = {
  fleet: "fleet",
  gitops_system_repo_url: "ssh://git@host/system.git",
  gitops_workloads_repo_url: "ssh://git@host/workloads.git",
};
const steps = (deployPublicKeys: object) =>
  hubSteps({
    ...{ stack: "org/project/prod", project: "eks-gitops-fleet", checkout },
    ask: async () => ({ bridgeData, deployPublicKeys }),
  });

describe("fleet rotate-deploy-key hub", () => {
  test("says which command makes the fleet's keys anew, what to register and to remove, and where", async () => {
    const said = await steps({ "gitops-system": ofSystem, "gitops-workloads": ofWorkloads });
    const urns = (["gitops-system", "gitops-workloads"] as const).map((name) =>
      urnOf("prod", "eks-gitops-fleet", name),
    );
    expect(said).toContain(`pulumi up --stack org/project/prod --replace '${urns[0]}' --replace '${urns[1]}'`);
    for (const urn of urns) expect(said).toContain(`pulumi state unprotect --yes --stack org/project/prod '${urn}'`);
    expect(said).toContain(`at ssh://git@host/system.git:\n     ${ofSystem}\n`);
    expect(said).toContain(`at ssh://git@host/workloads.git:\n     ${ofWorkloads}`);
  });

  test("names the spokes that read with them, and none with keys of its own or a token", async () => {
    const said = await steps({ "gitops-system": ofSystem, "gitops-workloads": ofWorkloads });
    expect([...said.matchAll(/fleet reseal (\S+) --deploy-keys fleet/g)].map(([, name]) => name)).toEqual(["blue"]);
  });

  test("after the keys were made goes on with the rotation: spokes that read with the former ones, and what to remove", async () => {
    const said = await steps({ "gitops-system": "ssh-ed25519 bmV3 fleet", "gitops-workloads": ofWorkloads });
    expect(said).toMatch(
      /^Spokes of this checkout still read with former keys of fleet fleet: a rotation is under way\./,
    );
    expect([...said.matchAll(/fleet reseal (\S+) --deploy-keys fleet/g)].map(([, name]) => name)).toEqual(["blue"]);
    expect(said).toMatch(new RegExp(`remove at the Git host:\n   at ssh://git@host/system.git:\n     ${ofSystem}$`));
  });

  test("is refused where the fleet reads Git with a token or a GitHub App", () =>
    expect(steps({})).rejects.toThrow("docs/guides/git-access.md#renew-the-credential"));

  test("names the keys as the program does", () => {
    const golden = parse(readFileSync(join(root, "test", "infra", "golden", "dev.yaml"), "utf8"));
    for (const repository of ["gitops-system", "gitops-workloads"] as const) {
      const [, , types = "", name] = urnOf("dev", "eks-gitops-fleet", repository).split("::");
      const [component, type] = types.split("$");
      expect(golden[`${component}::git`].parent).toBe("::");
      expect(golden[`${type}::${name}`].parent).toBe(`${component}::git`);
    }
  });
});
